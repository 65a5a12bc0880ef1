package codemem

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// prSetMDWE is PR_SET_MDWE of prctl(2), Linux 6.3.
const prSetMDWE = 65

// MakeImmutable makes the whole arena final (mseal(2), Linux 6.10): nobody in
// the process can change the rights of its code, replace, discard or unmap it
// any more, and no further code finds room. Spaces keep their memory until the
// process ends; Free then does nothing to it.
//
// The error is a *SystemError; on a kernel without the call errors.Is finds
// unix.ENOSYS in it, and nothing has changed.
func (a *Arena) MakeImmutable() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	start := time.Now()
	_, _, e := unix.Syscall(unix.SYS_MSEAL, a.lo, a.hi-a.lo, 0)
	a.calls.count(callMseal, a.hi-a.lo, start)
	if e != 0 {
		return &SystemError{"mseal", int64(a.hi - a.lo), e}
	}
	a.immutable.Store(true)
	return nil
}

// ForbidNewExec forbids the process, for good, to make memory executable that
// is or was not, or to map memory writable and executable (PR_SET_MDWE, Linux
// 6.3; its children inherit that). Code that is to run must be published. The
// error wraps the system's.
func ForbidNewExec() error {
	if err := unix.Prctl(prSetMDWE, mdweRefuseExec, 0, 0, 0); err != nil {
		return fmt.Errorf("new executable memory can't be forbidden (PR_SET_MDWE, Linux 6.3): %w", err)
	}
	return nil
}
