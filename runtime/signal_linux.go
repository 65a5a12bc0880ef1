//go:build linux && (amd64 || arm64)

package runtime

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sigState is what the signal handlers read. It is complete before the first
// handler is installed, but for ctxLo and ctxHi, which only widen.
type sigState struct {
	codeLo, codeHi      uintptr // the code arena
	quietLo, quietLen   uintptr // stubs that switch stacks
	ctxLo, ctxHi        uintptr // where context blocks lie
	trapPad, preemptPad uintptr
	old                 [65]uintptr // Go's handlers, by signal
}

var sigs = sigState{ctxLo: ^uintptr(0)}

// handlerAddrs gives the addresses of the assembly handlers.
func handlerAddrs() (trap, preempt, traceback uintptr)

// sigaction is the kernel's struct.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

const (
	saSiginfo = 0x4
	saOnStack = 0x08000000
	saRestart = 0x10000000
)

func rtSigaction(signo unix.Signal, set, get *sigaction) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signo),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 8, 0, 0)
	if errno != 0 {
		return fmt.Errorf("cannot set the handler of %s: %w", unix.SignalName(signo), errno)
	}
	return nil
}

// sigMu serializes installation.
var sigMu sync.Mutex

// installSignals puts our handlers in front of Go's. Signals that already
// have them are left alone, so it may be repeated to find out whether someone
// replaced a handler. It reports whether preemption by SIGURG works: not if
// SIGURG is ignored or had its default action.
func installSignals() (preemptible bool, err error) {
	sigMu.Lock()
	defer sigMu.Unlock()
	trap, preempt, traceback := handlerAddrs()
	for _, h := range [...]struct {
		signo   unix.Signal
		handler uintptr
	}{
		{unix.SIGILL, trap}, {unix.SIGTRAP, trap}, {unix.SIGBUS, trap}, {unix.SIGFPE, trap}, {unix.SIGSEGV, trap},
		{unix.SIGQUIT, traceback}, {unix.SIGABRT, traceback}, {unix.SIGPROF, traceback},
		{unix.SIGURG, preempt},
	} {
		ours, err := installHandler(h.signo, h.handler)
		if err != nil {
			return false, err
		}
		if !ours && h.handler == trap {
			return false, fmt.Errorf("cannot run compiled code: %s has no handler to forward to", unix.SignalName(h.signo))
		}
		preemptible = ours // SIGURG is the last
	}
	return preemptible, nil
}

// installHandler installs one handler unless it is there already. ours is
// false if there was none before: nothing could be forwarded to it.
func installHandler(signo unix.Signal, handler uintptr) (ours bool, err error) {
	var act sigaction
	if err := rtSigaction(signo, nil, &act); err != nil {
		return false, err
	}
	if act.handler == handler {
		return true, nil
	}
	if act.handler <= 1 { // SIG_DFL, SIG_IGN
		return false, nil
	}
	sigs.old[signo] = act.handler
	act.handler = handler
	act.flags |= saOnStack | saSiginfo | saRestart
	return true, rtSigaction(signo, &act, nil)
}
