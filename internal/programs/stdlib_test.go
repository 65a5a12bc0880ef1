package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/testenv"
)

// stdlib are the packages of Go's standard library whose tests run under
// wasmjit.
var stdlib = []string{
	"strconv", "math", "math/big", "sort", "encoding/json", "compress/flate", "regexp",
	"crypto/sha256", "hash/crc32", "text/template", "bytes", "time",
}

// stdlibVariable chooses packages: a list, or "all". Building and running all
// takes minutes, so that without it only a few small ones run.
const stdlibVariable = "WASMJIT_TEST_STDLIB"

// TestStandardLibrary runs a package's tests the way the go command calls a
// WASI runtime: in the package's directory, with the whole file system.
func TestStandardLibrary(t *testing.T) {
	packages := []string{"sort", "hash/crc32", "crypto/sha256"}
	switch v := os.Getenv(stdlibVariable); {
	case v == "all":
		packages = stdlib
	case v != "":
		packages = strings.Fields(v)
	case testing.Short():
		t.Skip("building tests of the standard library takes long")
	}
	for _, p := range packages {
		t.Run(p, func(t *testing.T) {
			work := t.TempDir()
			module := filepath.Join(work, "test.wasm")
			buildGo(t, module, "test", "-c", p)
			dir := packageDir(t, p)
			cmd := testenv.Command(wasmjit, "run", "--dir=/", "--env", "PWD="+dir, "--env", "TMPDIR="+work,
				"--env", "GOROOT="+goroot(t), module, "-test.short", "-test.v")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			text := string(out)
			passed := strings.Count(text, "--- PASS")
			if err != nil || !strings.HasSuffix(strings.TrimSpace(text), "PASS") || passed == 0 {
				t.Fatalf("tests of %s: %v\n%s", p, err, tail(text))
			}
			t.Logf("%d tests and examples passed", passed)
		})
	}
}

func packageDir(t *testing.T, p string) string {
	return goOutput(t, "list", "-f", "{{.Dir}}", p)
}

func goroot(t *testing.T) string { return goOutput(t, "env", "GOROOT") }

func goOutput(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}
