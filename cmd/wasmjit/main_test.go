package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/synth"
	"github.com/wasmjit/wasmjit/internal/syscount"
	"github.com/wasmjit/wasmjit/internal/testenv"
)

// asProgram makes the test binary behave as wasmjit, so that tests look at
// whole processes: their streams, exit codes and memory.
const asProgram = "WASMJIT_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	// Programs that count system calls then end at once; without the right to
	// count there are none.
	_ = syscount.Hold()
	os.Exit(m.Run())
}

// result is what a process left.
type result struct {
	code     int
	out, err string
	rss      int64 // bytes
}

// program prepares a process; stdin may be nil.
func program(t *testing.T, stdin []byte, args ...string) *exec.Cmd {
	t.Helper()
	c := testenv.Self(args...)
	c.Env = append(os.Environ(), asProgram+"=1")
	if stdin != nil {
		c.Stdin = bytes.NewReader(stdin)
	}
	return c
}

func wasmjit(t *testing.T, args ...string) result { t.Helper(); return wasmjitIn(t, nil, args...) }

func wasmjitIn(t *testing.T, stdin []byte, args ...string) result {
	t.Helper()
	return finish(t, program(t, stdin, args...))
}

func finish(t *testing.T, c *exec.Cmd) result {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	r := result{code: c.ProcessState.ExitCode(), out: out.String(), err: errs.String()}
	r.rss = maxRSS(c.ProcessState)
	return r
}

// want checks an exit code and that out and err hold the given texts. An
// empty text demands silence.
func (r result) want(t *testing.T, code int, out, err string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; stderr %q", r.code, code, r.err)
	}
	for _, c := range []struct{ name, got, want string }{{"stdout", r.out, out}, {"stderr", r.err, err}} {
		switch {
		case c.want == "" && c.got != "":
			t.Errorf("%s: %q, want nothing", c.name, c.got)
		case !strings.Contains(c.got, c.want):
			t.Errorf("%s: %q, want it to contain %q", c.name, c.got, c.want)
		}
	}
}

// line checks that stderr is one line of an error.
func (r result) line(t *testing.T) {
	t.Helper()
	if !strings.HasPrefix(r.err, "wasmjit: ") || strings.Count(r.err, "\n") != 1 || !strings.HasSuffix(r.err, "\n") {
		t.Errorf("stderr is not one line of wasmjit's: %q", r.err)
	}
}

func writeFile(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// small is a synthetic module; V8 gave smallChecksum for its function run.
var small = synth.Options{Functions: 1000, Import: true, Names: true, Seed: 1000}

const smallChecksum = "-807979696" // 3486987600 as a signed number
