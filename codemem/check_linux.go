package codemem

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Check reports why code in mode m can't be had in this process now, as a
// *ModeError, or nil. It tries what it can't ask for, on a page of its own,
// and issues no mprotect. A machine without SELinux is asked one question for
// Seal, the default.
func Check(m Mode) error {
	switch m {
	case Auto:
		return nil
	case Seal:
		return checkSeal()
	case Off, Fine, Hoisted:
		return checkRWX(m)
	case Dual:
		return checkDual()
	case PKU:
		if err := checkRWX(m); err != nil {
			return err
		}
		_, err := newKey()
		return err
	}
	return &ModeError{Name: m.String()}
}

func unavailable(m Mode, err error, format string, args ...any) error {
	return &ModeError{Name: m.String(), Reason: fmt.Sprintf(format, args...), Err: err}
}

// Values of prctl(2): PR_GET_MDWE tells whether pages may gain the right to
// be executed.
const (
	prGetMDWE        = 66
	mdweRefuseExec   = 1
	selinuxEnforcing = "/sys/fs/selinux/enforce"
)

// refusesExec reports whether the process forbids itself what MDWE forbids.
func refusesExec() bool {
	flags, err := unix.PrctlRetInt(prGetMDWE, 0, 0, 0, 0)
	return err == nil && flags&mdweRefuseExec != 0
}

func checkSeal() error {
	if refusesExec() {
		return unavailable(Seal, nil, "memory that was written may not become executable in this process (PR_SET_MDWE)")
	}
	if b, err := os.ReadFile(selinuxEnforcing); err != nil || strings.TrimSpace(string(b)) != "1" {
		return nil
	}
	// What SELinux denies for making written memory executable is what it
	// denies for mapping it writable and executable: execmem.
	if err := checkRWX(Seal); err != nil {
		var e *ModeError
		if errors.As(err, &e) {
			e.Reason = "SELinux denies executable memory that was written (execmem)"
		}
		return err
	}
	return nil
}

// checkRWX tries a page that is writable and executable.
func checkRWX(m Mode) error {
	if refusesExec() {
		return unavailable(m, nil, "memory may not be writable and executable in this process (PR_SET_MDWE)")
	}
	p, err := mmap(&process, 0, pageSize, sysProt(protRWX), reserveFlags, -1)
	if err != nil {
		return unavailable(m, err, "the system refuses memory that is writable and executable")
	}
	return unmap(&process, p, pageSize)
}

// checkDual tries a page of a memfd.
func checkDual() error {
	fd, err := memfd(&process)
	if err != nil {
		if errors.Is(err, unix.EACCES) {
			return unavailable(Dual, err, "executable memfds are forbidden (vm.memfd_noexec)")
		}
		return unavailable(Dual, err, "memfd_create fails")
	}
	v := view{file: fd, open: true}
	defer func() { _ = v.close(&process) }()
	if err := unix.Ftruncate(fd, int64(pageSize)); err != nil {
		return unavailable(Dual, err, "a memfd can't grow")
	}
	p, err := mmap(&process, 0, pageSize, sysProt(protRX), unix.MAP_SHARED, fd)
	if err != nil {
		return unavailable(Dual, err, "a memfd may not be mapped executable")
	}
	return unmap(&process, p, pageSize)
}

// Barrier makes every processor that runs a thread of this process see
// patched slots before it executes on: x86 fetches instructions coherently,
// but may have fetched some before. It is issued before replaced code is
// freed. A kernel without the call is left to what freeing does anyway.
func (s *Space) Barrier() {
	const (
		private    = 1 << 5 // MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE
		registered = 1 << 6 // MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE
	)
	for range 2 {
		start := time.Now()
		_, _, e := unix.Syscall(unix.SYS_MEMBARRIER, private, 0, 0)
		s.calls.count(callMembarrier, 0, start)
		if e != unix.EPERM {
			return
		}
		start = time.Now()
		_, _, e = unix.Syscall(unix.SYS_MEMBARRIER, registered, 0, 0)
		s.calls.count(callMembarrier, 0, start)
		if e != 0 {
			return
		}
	}
}
