//go:build linux

package runset

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/testenv"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
	"github.com/wasmjit/wasmjit/runtime"
	"github.com/wasmjit/wasmjit/wasi"
)

// run compiles a module in a mode and gives what its _start printed.
func run(bin []byte, mode testenv.Mode, args ...string) (string, error) {
	c := runtime.Config{Bounds: liftoff.BoundsGuard}
	if mode.ExplicitBounds {
		c.Bounds = liftoff.BoundsExplicit
	}
	store, err := runtime.NewStore(c)
	if err != nil {
		return "", err
	}
	defer func() { _ = store.Close() }()
	o := nativemodule.Options{
		Workers: mode.Workers,
		Liftoff: liftoff.Options{
			CPU:          liftoff.HostCPU(),
			Bounds:       store.Bounds(),
			Reference:    mode.Reference,
			FewRegisters: mode.FewRegisters,
		},
	}
	if mode.BaselineCPU {
		o.Liftoff.CPU = liftoff.CPU{}
	}
	d, err := decoder.Decode(bin)
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	m, err := nativemodule.Compile(ctx, d, o)
	if err != nil {
		return "", err
	}
	defer func() { _ = m.Close() }()
	var out bytes.Buffer
	system, err := wasi.New(wasi.Config{Args: append([]string{"program"}, args...), Stdout: &out, Stderr: os.Stderr})
	if err != nil {
		return "", err
	}
	defer func() { _ = system.Close() }()
	inst, err := store.Instantiate(ctx, m, system.Imports(store))
	if err != nil {
		return "", err
	}
	defer func() { _ = inst.Close() }()
	_, err = inst.Call(ctx, "_start")
	var exit *wasi.ExitError
	if errors.As(err, &exit) && exit.Code == 0 {
		err = nil
	}
	return strings.TrimSpace(out.String()), err
}

// modes are those that a test runs in: the environment's, or every one.
func modes(t *testing.T) []testenv.Mode {
	mode := testenv.Get(t)
	if !mode.Default() {
		return []testenv.Mode{mode}
	}
	return append([]testenv.Mode{mode}, testenv.Others()...)
}

func list(t *testing.T) []Program {
	t.Helper()
	programs, err := List(testenv.Root())
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

func check(t *testing.T, bin []byte, p Program) {
	t.Helper()
	for _, mode := range modes(t) {
		got, err := run(bin, mode, p.Arg)
		if err != nil || got != p.Quick {
			t.Errorf("%s %s, %v: printed %q, error %v, want %q", p.Name, p.Arg, mode, got, err, p.Quick)
		}
	}
}

func TestC(t *testing.T) {
	n := 0
	for _, p := range list(t) {
		if p.Go() {
			continue
		}
		n++
		t.Run(p.Name, func(t *testing.T) {
			bin, err := os.ReadFile(filepath.Join(testenv.Root(), p.Module()))
			if err != nil {
				t.Fatal(err)
			}
			check(t, bin, p)
		})
	}
	sources, err := filepath.Glob(filepath.Join(testenv.Root(), Folder, "*.c"))
	if err != nil {
		t.Fatal(err)
	}
	if n != len(sources) {
		t.Errorf("the table has %d C programs, the folder %d", n, len(sources))
	}
}

func TestGo(t *testing.T) {
	if testing.Short() {
		t.Skip("building Go programs takes long")
	}
	for _, p := range list(t) {
		if !p.Go() {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			module := filepath.Join(t.TempDir(), "program.wasm")
			cmd := exec.Command("go", "build", "-o", module, "./"+p.Source())
			cmd.Dir = testenv.Root()
			cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			bin, err := os.ReadFile(module)
			if err != nil {
				t.Fatal(err)
			}
			check(t, bin, p)
		})
	}
}
