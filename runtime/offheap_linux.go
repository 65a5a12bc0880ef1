package runtime

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// pageSize is the granularity of mprotect; every target has 4 KiB pages or
// pages that 64 KiB is a multiple of.
var pageSize = uintptr(unix.Getpagesize())

// reserve maps n bytes of address space without access and without commit
// charge (MAP_NORESERVE: otherwise the first mprotect charges the whole
// range).
func reserve(n uintptr) (uintptr, error) {
	p, err := unix.MmapPtr(-1, 0, nil, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return 0, fmt.Errorf("cannot reserve %d bytes of address space: %w", n, err)
	}
	return uintptr(p), nil
}

// commit makes [addr, addr+n) readable and writable; both page-aligned.
func commit(addr, n uintptr) error {
	if n == 0 {
		return nil
	}
	if _, _, errno := unix.Syscall(unix.SYS_MPROTECT, addr, n, unix.PROT_READ|unix.PROT_WRITE); errno != 0 {
		return fmt.Errorf("cannot commit %d bytes of memory: %w", n, errno)
	}
	return nil
}

func unmap(addr, n uintptr) {
	if addr != 0 {
		// Fails only for arguments that are no mapping of ours.
		if err := unix.MunmapPtr(ptr(addr), n); err != nil {
			panic("runtime: munmap: " + err.Error())
		}
	}
}

// mapRW maps n zeroed bytes.
func mapRW(n uintptr) (uintptr, error) {
	p, err := unix.MmapPtr(-1, 0, nil, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return 0, fmt.Errorf("cannot map %d bytes: %w", n, err)
	}
	return uintptr(p), nil
}

// makeFinal makes [addr, addr+n) read-only, and where the kernel has mseal
// (6.10) for good: the pages can then be neither unmapped nor changed.
func makeFinal(addr, n uintptr) (sealed bool, err error) {
	if _, _, errno := unix.Syscall(unix.SYS_MPROTECT, addr, n, unix.PROT_READ); errno != 0 {
		return false, fmt.Errorf("cannot make %d bytes read-only: %w", n, errno)
	}
	switch _, _, errno := unix.Syscall(unix.SYS_MSEAL, addr, n, 0); {
	case errno == 0:
		return true, nil
	case errors.Is(errno, unix.ENOSYS):
		return false, nil
	default:
		return false, fmt.Errorf("cannot seal %d bytes: %w", n, errno)
	}
}
