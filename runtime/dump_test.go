//go:build linux

package runtime

import (
	"errors"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/wasmjit/wasmjit/internal/testenv"
	"golang.org/x/sys/unix"
)

// Whom a signal was sent to.
const (
	oneThread = false // the one that runs guest code
	anyThread = true  // the process: the kernel chooses
)

// checkDump checks the end of a process that got a signal: Go printed its
// goroutines without a mishap, with the frames that are wanted. If another
// thread got the signal, Go may have no more to say of a running goroutine
// than that.
func checkDump(t *testing.T, name string, signo unix.Signal, any bool, err error, out string, frames ...string) {
	t.Helper()
	var problems []string
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		problems = append(problems, "the process didn't end with exit code 2")
	}
	want := []string{unix.SignalName(signo) + ": "}
	if !any || !strings.Contains(out, "goroutine running on other thread; stack unavailable") {
		want = append(want, frames...)
	}
	for _, s := range want {
		if !strings.Contains(out, s) {
			problems = append(problems, "the dump lacks \""+s+"\"")
		}
	}
	for _, s := range []string{"during panic", "unexpected", "runtime: g ", "unknown pc", "fatal error", "fatal signal"} {
		if strings.Contains(out, s) {
			problems = append(problems, "the dump has \""+s+"\"")
		}
	}
	if problems != nil {
		t.Errorf("%s: %v, %s\n%s", name, err, strings.Join(problems, ", "), out)
	}
}

// SIGQUIT during a guest loop dumps the goroutines as ever.
func TestGoroutineDump(t *testing.T) {
	if to := os.Getenv("WASMJIT_TEST_CHILD"); to != "" {
		goruntime.LockOSThread()
		pid, tid := os.Getpid(), unix.Gettid()
		s := newStore(t, Config{})
		i := startLooper(t, s, nothing)
		go func() {
			for loadWord(i.memories[0].base) < 1000 {
				time.Sleep(time.Millisecond)
			}
			if to == "thread" {
				unix.Tgkill(pid, tid, unix.SIGQUIT)
			} else {
				unix.Kill(pid, unix.SIGQUIT)
			}
		}()
		i.Call(bg, "count")
		return
	}
	for to, any := range map[string]bool{"thread": oneThread, "process": anyThread} {
		cmd := testenv.Self("-test.run=^TestGoroutineDump$")
		cmd.Env = append(os.Environ(), "WASMJIT_TEST_CHILD="+to, "GOTRACEBACK=all")
		out, err := cmd.CombinedOutput()
		checkDump(t, "signal to the "+to, unix.SIGQUIT, any, err, string(out), "TestGoroutineDump", "(*guestCall).run", "(*Func).invoke")
	}
}
