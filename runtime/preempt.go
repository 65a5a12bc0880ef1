//go:build linux && (amd64 || arm64)

package runtime

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // linkname

	"golang.org/x/sys/unix"
)

// Go must be able to stop a goroutine that runs native code. By default its
// own preemption signal, SIGURG, makes native code exit. Where that can't
// work, native code runs as if in a system call: the collector ignores the
// thread, at a cost of 17 ns per crossing.

// asyncOff is Go's own setting, read when Go read it: at start.
var asyncOff = asyncPreemptOff(os.Getenv("GODEBUG"))

// syscallMode is set while native code must run between entersyscall and
// exitsyscall.
var syscallMode atomic.Bool

//go:linkname entersyscall runtime.entersyscall
func entersyscall()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// callNative and switchNative are in enter_*.s.
func callNative(s *nativeStack, ctx uintptr)

//go:noescape
func switchNative(ctx uintptr)

// switchInSyscall is one stretch of native code that Go doesn't wait for. It
// must not grow the stack between the two calls.
//
//go:nosplit
func switchInSyscall(ctx uintptr) {
	entersyscall()
	switchNative(ctx)
	exitsyscall()
}

// nativeInit makes the stubs and installs the signal handlers; later calls
// cost nothing. It fails where code memory can't be had or signals can't be
// handled.
var nativeInit = sync.OnceValue(func() error {
	if err := makeStubs(); err != nil {
		return err
	}
	return checkSignals()
})

// checkSignals looks whether the signal handlers are still ours, installs
// them if not and chooses the way of preemption. It is called whenever a new
// stack is mapped: signal.Ignore(SIGURG) and foreign code can replace them.
func checkSignals() error {
	preemptible, err := installSignals()
	if err != nil {
		return err
	}
	syscallMode.Store(!preemptible || asyncOff)
	return nil
}

// asyncPreemptOff says whether GODEBUG turns Go's use of SIGURG off. Go reads
// the variable once at start, the last of equal keys winning.
func asyncPreemptOff(godebug string) bool {
	off := false
	for field := range strings.SplitSeq(godebug, ",") {
		if v, ok := strings.CutPrefix(field, "asyncpreemptoff="); ok {
			n, err := strconv.Atoi(v)
			off = err == nil && n != 0
		}
	}
	return off
}

// interrupt makes the code that runs on s, or will run next, exit so that
// preempted is called. It may be called from any goroutine. It returns at
// once; until the loop has seen the interruption, the signal is repeated, for
// one that arrives just before native code is entered is lost.
func (s *nativeStack) interrupt() {
	atomic.StoreUint32(&s.ctx.interrupt, 1)
	s.poke(time.Millisecond)
}

// poke sends SIGURG to all threads of the process, since it is not known
// which one runs s. On the others it does no harm.
func (s *nativeStack) poke(again time.Duration) {
	if atomic.LoadUint32(&s.ctx.interrupt) == 0 {
		return
	}
	signalThreads()
	time.AfterFunc(again, func() { s.poke(min(2*again, 64*time.Millisecond)) })
}

// clearInterrupt takes an interruption back that no loop has seen yet.
func (s *nativeStack) clearInterrupt() { atomic.StoreUint32(&s.ctx.interrupt, 0) }

// interrupted takes note of an interruption.
func (s *nativeStack) interrupted() bool {
	return atomic.LoadUint32(&s.ctx.interrupt) != 0 && atomic.SwapUint32(&s.ctx.interrupt, 0) != 0
}

// signalThreads sends SIGURG to the process's threads. Without procfs the
// process gets one, and otherwise Go's own preemption after 10 ms must do.
func signalThreads() {
	pid := os.Getpid()
	d, err := os.Open("/proc/self/task")
	if err != nil {
		_ = unix.Kill(pid, unix.SIGURG)
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, n := range names {
		if tid, err := strconv.Atoi(n); err == nil {
			_ = unix.Tgkill(pid, tid, unix.SIGURG) // it may have ended
		}
	}
}
