package doctor

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

var pageSize = unix.Getpagesize()

const anonymous = unix.MAP_PRIVATE | unix.MAP_ANON

// mapped maps a page, hands it to f and unmaps it.
func mapped(prot, flags, fd int, f func(b []byte) error) error {
	b, err := unix.Mmap(fd, 0, pageSize, prot, flags)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	defer func() { _ = unix.Munmap(b) }()
	if f == nil {
		return nil
	}
	return f(b)
}

func executable() []Finding {
	rx := yesIf(groupCode, "executable mapping", mapped(unix.PROT_READ|unix.PROT_EXEC, anonymous, -1, nil))
	sealed := yesIf(groupCode, "written memory made executable (RW to RX)", mapped(unix.PROT_READ|unix.PROT_WRITE, anonymous, -1, func(b []byte) error {
		b[0] = 0xc3
		if err := unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC); err != nil {
			return fmt.Errorf("mprotect: %w", err)
		}
		return nil
	}))
	both := yesIf(groupCode, "writable and executable at once (RWX)", mapped(unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, anonymous, -1, nil))
	return []Finding{rx, sealed, both}
}

// mfdExec and mfdNoexecSeal are of Linux 6.3.
const mfdExec = 0x10

func memfd() []Finding {
	noexec := Finding{Group: groupCode, Name: "executable memfds allowed (vm.memfd_noexec)", State: Yes, Value: setting("/proc/sys/vm/memfd_noexec")}
	switch noexec.Value {
	case "":
		noexec.Value = "no such setting"
	case "2":
		noexec.State, noexec.Why = No, "memfds that may be executed are refused"
	}
	create := Finding{Group: groupCode, Name: "memfd_create", State: Yes}
	fd, err := unix.MemfdCreate("wasmjit-doctor", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|mfdExec)
	if errors.Is(err, unix.EINVAL) {
		create.Value = "without MFD_EXEC"
		fd, err = unix.MemfdCreate("wasmjit-doctor", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		create.State, create.Why = No, err.Error()
		return []Finding{create, noexec}
	}
	defer func() { _ = unix.Close(fd) }()
	const shared = unix.MAP_SHARED
	err = unix.Ftruncate(fd, int64(pageSize))
	if err == nil {
		err = mapped(unix.PROT_READ|unix.PROT_EXEC, shared, fd, nil)
	}
	rx := yesIf(groupCode, "memfd mapped executable", err)
	seal := yesIf(groupCode, "memfd sealed against new writers", func() error {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE); err != nil {
			return err
		}
		if mapped(unix.PROT_READ|unix.PROT_WRITE, shared, fd, nil) == nil {
			return errors.New("the seal was accepted, and a new writable mapping as well")
		}
		return nil
	}())
	return []Finding{create, noexec, rx, seal}
}

// keys allocates a protection key.
func keys() []Finding {
	f := Finding{Group: groupCode, Name: "memory protection keys (pkey_alloc)", State: Yes}
	if _, _, e := unix.Syscall(unix.SYS_PKEY_ALLOC, 0, 0, 0); e != 0 {
		f.State, f.Why = No, e.Error()
	}
	return []Finding{f}
}

// mseal seals a page and tries to change it.
func mseal() []Finding {
	return []Finding{yesIf(groupCode, "mappings made final (mseal)", func() error {
		b, err := unix.Mmap(-1, 0, pageSize, unix.PROT_READ, anonymous)
		if err != nil {
			return err
		}
		if _, _, e := unix.Syscall(unix.SYS_MSEAL, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0); e != 0 {
			if e == unix.ENOSYS {
				return errors.New("the kernel hasn't the call (Linux 6.10)")
			}
			return e
		}
		if err := unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE); !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("a sealed page was given other rights: %v", err)
		}
		return nil
	}())}
}

// PR_SET_MDWE and PR_GET_MDWE of prctl(2).
const (
	prSetMDWE  = 65
	prGetMDWE  = 66
	refuseExec = 1
)

// mdwe forbids this process new executable memory and tries to make some.
func mdwe() []Finding {
	on := Finding{Group: groupCode, Name: "PR_SET_MDWE on already", State: No}
	if flags, err := unix.PrctlRetInt(prGetMDWE, 0, 0, 0, 0); err == nil && flags&refuseExec != 0 {
		on.State, on.Why = Yes, "only mode dual can make code executable"
	}
	can := yesIf(groupCode, "new executable memory forbidden (PR_SET_MDWE)", func() error {
		if err := unix.Prctl(prSetMDWE, refuseExec, 0, 0, 0); err != nil {
			return fmt.Errorf("%w (Linux 6.3 has it)", err)
		}
		return mapped(unix.PROT_READ|unix.PROT_WRITE, anonymous, -1, func(b []byte) error {
			if err := unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC); err == nil {
				return errors.New("it was accepted, and changes nothing")
			}
			return nil
		})
	}())
	return []Finding{can, on}
}

func membarrier() []Finding {
	const query, syncCore = 0, 1 << 5
	f := Finding{Group: groupCode, Name: "membarrier for patched code (SYNC_CORE)", State: Yes}
	r, _, e := unix.Syscall(unix.SYS_MEMBARRIER, query, 0, 0)
	if e != 0 {
		f.State, f.Why = No, e.Error()
	} else if r&syncCore == 0 {
		f.State, f.Why = No, "not offered by this kernel"
	}
	return []Finding{f}
}
