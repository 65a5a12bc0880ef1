// Package wazero runs the specification's suites of WebAssembly 1.0 and 2.0
// in the binary form that the Go module github.com/tetratelabs/wazero carries
// as test data. It is a module of its own, so that the dependency stays out
// of wasmjit's; nothing of wazero is compiled, only its files are read.
package wazero

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/measure"
	"github.com/wasmjit/wasmjit/internal/wast"
)

const module = "github.com/tetratelabs/wazero"

// Dir finds the test data and downloads it if it is not in the module cache.
func Dir() (string, error) {
	list := func() (string, error) {
		out, err := measure.Output(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module))
		return strings.TrimSpace(string(out)), err
	}
	dir, err := list()
	if err == nil && dir == "" {
		if _, err = measure.Output(exec.Command("go", "mod", "download", module)); err == nil {
			dir, err = list()
		}
	}
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", module, err)
	}
	return filepath.Join(dir, "internal", "integration_test", "spectest"), nil
}

// Scripts lists the scripts of a version, v1 or v2.
func Scripts(dir, version string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, version, "testdata", "*.json"))
	slices.Sort(paths)
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("no scripts in %s/%s/testdata", dir, version)
	}
	return paths, err
}

// Run runs one script over a fresh engine.
func Run(path string, e engine.Engine) ([]wast.Outcome, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	cmds, err := wast.ParseJSON(src, func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(filepath.Dir(path), filepath.Base(name)))
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// These suites know no proposal that is still unsupported but SIMD.
	r := &wast.Runner{Engine: e, Known: func(feature string) bool { return feature == "simd" }}
	return r.Run(cmds)
}
