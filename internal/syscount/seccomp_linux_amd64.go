package syscount

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// trapped counts the calls by the kernel's number; the handler in
// sigsys_amd64.s adds to it.
var trapped [512]uint64

// sigsysAddrs gives the addresses of the handler and of the instruction
// behind the one that issues trapped calls again: a call from there passes.
func sigsysAddrs() (handler, reissued uintptr)

// secondOpen is set once the filter may be there.
var secondOpen atomic.Bool

func openSeccomp() (*Counter, error) {
	if secondOpen.Swap(true) {
		return nil, ErrSecond
	}
	// The filter is put on all threads, but no_new_privs has to be set on the
	// one that asks for it. Locking may start a thread, so it comes before
	// settle.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handler, reissued := sigsysAddrs()
	if err := installSIGSYS(handler); err != nil {
		return nil, err
	}
	if err := settle(); err != nil {
		return nil, err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no_new_privs, which a seccomp filter needs, is refused: %w", err)
	}
	prog := filter(reissued)
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	r, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	switch {
	case errno != 0:
		return nil, fmt.Errorf("the seccomp filter is refused: %w", errno)
	case r != 0:
		return nil, fmt.Errorf("the seccomp filter can't be put on thread %d", r)
	}
	c := &Counter{method: Seccomp, read: readTrapped, close: func() error { return nil }}
	for i := range c.counts {
		c.counts[i] = true
	}
	return c, nil
}

func readTrapped() (Counts, error) {
	var n Counts
	for c, nr := range numbers {
		n[c] = int64(atomic.LoadUint64(&trapped[nr]))
	}
	return n, nil
}

// sigaction is the kernel's struct.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// installSIGSYS puts the handler in Go's place. It runs on the signal stack,
// with no signal blocked: a futex call that it issues again may wait for long,
// and handlers that run meanwhile may issue counted calls themselves.
func installSIGSYS(handler uintptr) error {
	const siginfo, onStack, restart, noDefer = 0x4, 0x08000000, 0x10000000, 0x40000000
	var act sigaction
	// Go's handlers block all signals, and some of them wake threads.
	for signo := uintptr(1); signo <= 64; signo++ {
		err := rtSigaction(signo, nil, &act)
		if err != nil || act.handler <= 1 || act.mask&sigsysBit == 0 {
			continue
		}
		act.mask &^= sigsysBit
		if err := rtSigaction(signo, &act, nil); err != nil {
			return err
		}
	}
	if err := rtSigaction(uintptr(unix.SIGSYS), nil, &act); err != nil {
		return err
	}
	if act.restorer == 0 {
		return errors.New("SIGSYS has no handler of Go's whose restorer could be used")
	}
	act.handler, act.mask = handler, 0
	act.flags |= siginfo | onStack | restart | noDefer
	return rtSigaction(uintptr(unix.SIGSYS), &act, nil)
}

// sigsysBit is SIGSYS in a signal mask.
const sigsysBit = 1 << (unix.SIGSYS - 1)

func rtSigaction(signo uintptr, set, get *sigaction) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, signo,
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 8, 0, 0)
	if errno != 0 {
		return fmt.Errorf("handler of signal %d: %w", signo, errno)
	}
	return nil
}

// settle waits until no thread is just being born: such a thread and its
// maker block SIGSYS for a moment, and the filter would kill them. A process
// that does nothing else meanwhile makes no new threads after that.
func settle() error {
	runtime.GC() // what it starts has been started then
	for range 1000 {
		time.Sleep(time.Millisecond)
		if settled, err := settledNow(); err != nil || settled {
			return err
		}
	}
	return errors.New("threads come and go too fast for a seccomp filter")
}

// settledNow reports whether no thread blocks SIGSYS.
func settledNow() (bool, error) {
	tids, err := threads()
	if err != nil {
		return false, err
	}
	for _, tid := range tids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", tid))
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("signal masks can't be read: %w", err)
		}
		_, mask, found := strings.Cut(string(b), "SigBlk:")
		if !found {
			return false, errors.New("signal masks can't be read: no SigBlk in /proc/self/task/*/status")
		}
		mask, _, _ = strings.Cut(strings.TrimSpace(mask), "\n")
		bits, err := strconv.ParseUint(mask, 16, 64)
		if err != nil {
			return false, fmt.Errorf("signal masks can't be read: %w", err)
		}
		if bits&sigsysBit != 0 {
			return false, nil
		}
	}
	return true, nil
}

// Offsets in the kernel's seccomp_data, and the architecture's number.
const (
	dataNr, dataArch, dataIP = 0, 4, 8
	auditArchX8664           = 0xc000003e
)

// filter traps the counted calls unless they come from the handler.
func filter(reissued uintptr) []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
	)
	prog := []unix.SockFilter{
		{Code: load, K: dataArch},
		{Code: equal, K: auditArchX8664, Jt: 1},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: load, K: dataNr},
	}
	// The handler also keeps SIGSYS from being blocked.
	trap := append(numbers[:], unix.SYS_RT_SIGPROCMASK)
	for i, nr := range trap {
		// To the test of the address, behind the rest of these and a return.
		prog = append(prog, unix.SockFilter{Code: equal, K: uint32(nr), Jt: uint8(len(trap) - i)})
	}
	return append(prog,
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: load, K: dataIP},
		unix.SockFilter{Code: equal, K: uint32(reissued), Jf: 2},
		unix.SockFilter{Code: load, K: dataIP + 4},
		unix.SockFilter{Code: equal, K: uint32(reissued >> 32), Jt: 1},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_TRAP},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW},
	)
}
