//go:build linux

package wasi_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
	"github.com/wasmjit/wasmjit/runtime"
	"github.com/wasmjit/wasmjit/wasi"
)

// program is testdata/guest built for wasip1, compiled once for all tests.
var program = sync.OnceValues(func() (*nativemodule.Module, error) {
	dir, err := os.MkdirTemp("", "wasi")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "guest.wasm")
	build := exec.Command("go", "build", "-o", out, "main.go")
	build.Dir = "testdata/guest"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	if b, err := build.CombinedOutput(); err != nil {
		return nil, errors.New(string(b))
	}
	buf, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	m, err := decoder.Decode(buf)
	if err != nil {
		return nil, err
	}
	store, err := runtime.NewStore(runtime.Config{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return nativemodule.Compile(context.Background(), m, nativemodule.Options{Liftoff: liftoff.Options{Bounds: store.Bounds()}})
})

// compiled returns the program, or skips the test that wants it.
func compiled(t *testing.T) *nativemodule.Module {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to build a guest with")
	}
	code, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// run runs the program to its end.
func run(t *testing.T, ctx context.Context, c wasi.Config) error {
	t.Helper()
	code := compiled(t)
	store, err := runtime.NewStore(runtime.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	sys, err := wasi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	inst, err := store.Instantiate(ctx, code, sys.Imports(store))
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	_, err = inst.Call(ctx, "_start")
	return err
}

// exited demands that a run ended with proc_exit(code).
func exited(t *testing.T, err error, code uint32, stderr *bytes.Buffer) {
	t.Helper()
	var exit *wasi.ExitError
	if !errors.As(err, &exit) || exit.Code != code {
		t.Fatalf("the program ended with %v, want code %d; it wrote %q", err, code, stderr)
	}
}

func TestProgramTour(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	for _, name := range []string{"a", "sub/b"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(data, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// Input through a pipe, late and in pieces.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		defer w.Close()
		for _, s := range []string{"fi", "rst\nsec", "ond\n"} {
			time.Sleep(time.Millisecond)
			io.WriteString(w, s)
		}
	}()
	var out, stderr bytes.Buffer
	err = run(t, context.Background(), wasi.Config{
		Args: []string{"guest", "tour", "x", "y z"}, Env: []string{"KEY=value"},
		Stdin: r, Stdout: &out, Stderr: &stderr,
		Preopens: []wasi.Preopen{{Host: data, Guest: "/data"}},
	})
	exited(t, err, 0, &stderr)
	want := strings.Join([]string{
		`args ["x" "y z"], KEY=value, input ["first" "second"]`,
		`[/data /data/a /data/sub /data/sub/b] <nil>`,
		`first+second <nil>`, `true`, `true`, `true`, ``}, "\n")
	if out.String() != want {
		t.Errorf("the program wrote\n%s, want\n%s", &out, want)
	}
	b, err := os.ReadFile(filepath.Join(data, "new/file"))
	if err != nil || string(b) != "first+second" {
		t.Errorf("it left %q, %v", b, err)
	}
}

func TestProgramExit(t *testing.T) {
	exited(t, run(t, context.Background(), wasi.Config{Args: []string{"guest", "exit"}}), 42, &bytes.Buffer{})
}

func TestProgramCancel(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, mode := range []string{"wait", "sleep"} {
		t.Run(mode, func(t *testing.T) {
			compiled(t) // its building doesn't count
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancel()
			err := run(t, ctx, wasi.Config{Args: []string{"guest", mode}, Stdin: r})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the program ended with %v", err)
			}
		})
	}
}

// TestProgramProcfs runs a program that was given the whole file system and
// tries to write to its own machine code.
func TestProgramProcfs(t *testing.T) {
	if _, err := os.Stat("/proc/self/mem"); err != nil {
		t.Skip("no procfs at /proc")
	}
	var out, stderr bytes.Buffer
	err := run(t, context.Background(), wasi.Config{
		Args: []string{"guest", "procfs", t.TempDir()}, Stdout: &out, Stderr: &stderr,
		Preopens: []wasi.Preopen{{Host: "/", Guest: "/"}},
	})
	exited(t, err, 0, &stderr)
	if out.String() != "nothing\n" {
		t.Errorf("the program wrote %q", &out)
	}
}
