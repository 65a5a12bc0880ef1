//go:build linux && amd64

package runtime

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	. "github.com/wasmjit/wasmjit/asm/amd64"
	"golang.org/x/sys/unix"
)

// Some tests need a process of their own: one that dies, or one with other
// settings. childEnv names the role that a child plays, and its numbers.
const childEnv = "WASMJIT_NATIVE_CHILD"

// child starts this test binary in a role.
func child(t *testing.T, role, godebug string) (cmd *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "-test.run=^TestNativeChild$", "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"="+role, "GODEBUG="+godebug, "GOTRACEBACK=single")
	out = new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// TestNativeChild is the child's side.
func TestNativeChild(t *testing.T) {
	role, args, _ := strings.Cut(os.Getenv(childEnv), " ")
	var n [2]int
	fmt.Sscan(args, &n[0], &n[1])
	switch role {
	case "":
		t.Skip("for child processes")
	case "spin":
		childSpin(t)
	case "self":
		childSelf(t, unix.Signal(n[0]), int32(n[1]))
	case "stop":
		childStop(t, unix.Signal(n[0]), n[1])
	case "all":
		wantSyscallMode(t)
		for _, tt := range []struct {
			name string
			f    func(*testing.T)
		}{
			{"LoopAndGC", TestNativeLoopAndGC}, {"Interrupt", TestNativeInterrupt}, {"Reentry", TestNativeReentry},
			{"HostUnwinds", TestNativeHostUnwinds}, {"Traps", TestNativeTraps}, {"Storm", TestNativeStorm}, {"Soak", TestNativeSoak},
			{"Profile", TestNativeProfile},
		} {
			t.Run(tt.name, tt.f)
		}
	case "ignored":
		// Whoever ignores SIGURG takes Go's own preemption away too.
		testStack(t, 0)
		if syscallMode.Load() {
			t.Fatal("system call mode at the start")
		}
		signal.Ignore(syscall.SIGURG)
		testStack(t, 1<<20) // a new stack looks again
		wantSyscallMode(t)
		debug.SetGCPercent(-1)
		TestNativeInterruptIgnored(t)
	case "wild":
		// A context register that is none: nothing of ours may hide that.
		b := block(t)
		entry := native(t, function(func(a *Asm) {
			a.MovRI32(R15, 0x1000)
			a.Ud2()
		}))
		fault, err := testStack(t, 0).run(&nativeCall{Entry: entry, Inst: addrOf(b)}, &handler{})
		t.Errorf("run came back: fault %v, error %v", fault, err)
	default:
		t.Fatalf("unknown role %q", role)
	}
}

func wantSyscallMode(t *testing.T) {
	t.Helper()
	if !syscallMode.Load() && nativeInit() == nil && !syscallMode.Load() {
		t.Fatal("not in system call mode")
	}
}

// TestNativeInterruptIgnored: code that ends by itself runs, and collections
// don't wait for it.
func TestNativeInterruptIgnored(t *testing.T) {
	b := block(t)
	seedMixer(b)
	s := testStack(t, 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		mustRun(t, s, &nativeCall{Entry: mixer(t), Inst: addrOf(b), GP: [4]uint64{1_000_000}}, &handler{})
	}()
	for range 5 {
		goruntime.GC()
	}
	<-done
}

// TestNativeSyscallMode runs the suite as if Go had no asynchronous
// preemption.
func TestNativeSyscallMode(t *testing.T) {
	for role, godebug := range map[string]string{"all": "asyncpreemptoff=1", "ignored": ""} {
		cmd, out := child(t, role, godebug)
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "--- PASS: TestNativeChild") {
			t.Errorf("%s: %v\n%s", role, err, out)
		}
	}
}

// TestNativeWildContext: a fault with a broken context register is no trap.
func TestNativeWildContext(t *testing.T) {
	cmd, out := child(t, "wild", "")
	if err := cmd.Run(); err == nil || !strings.Contains(out.String(), "SIGILL") {
		t.Errorf("%v, want a crash by SIGILL\n%s", err, out)
	}
}
