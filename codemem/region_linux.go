package codemem

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// maxReserve is the most address space an arena asks for: a little less than
// what a signed 32-bit displacement spans, so that every call reaches.
const maxReserve = 2<<30 - 4<<20

// Random places lie between these addresses: within the 47 bits of amd64,
// above Go's heap and the shadow memory of the race detector, and below where
// the kernel puts libraries and stacks.
const (
	placeLo = 0x4000_0000_0000
	placeHi = 0x7e00_0000_0000
)

var pageSize = uintptr(os.Getpagesize())

const reserveFlags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE

// reserve takes address space without access, at a random place that is a
// multiple of hugePage.
func reserve(l *ledger, size uintptr) (uintptr, error) {
	p, err := mapAnywhere(l, size, unix.PROT_NONE, reserveFlags, -1)
	if err != nil || p != 0 {
		return p, err
	}
	// The kernel's own choice, random as well; the ends are cut to align it.
	p, err = mmap(l, 0, size+hugePage, unix.PROT_NONE, reserveFlags, -1)
	if err != nil {
		return 0, &SystemError{"reservation", int64(size), err}
	}
	lo := alignUp(p, hugePage)
	if lo > p {
		if err := unmap(l, p, lo-p); err != nil {
			return 0, err
		}
	}
	if rest := p + hugePage - lo; rest > 0 {
		if err := unmap(l, lo+size, rest); err != nil {
			return 0, err
		}
	}
	return lo, nil
}

// mapAnywhere maps size bytes at a random multiple of hugePage, or gives 0 if
// a few tries find no place.
func mapAnywhere(l *ledger, size uintptr, prot, flags, fd int) (uintptr, error) {
	for range 8 {
		var r [8]byte
		rand.Read(r[:])
		slots := (placeHi - placeLo - uint64(size)) / hugePage
		at := placeLo + uintptr(binary.LittleEndian.Uint64(r[:])%slots)*hugePage
		p, err := mmap(l, at, size, prot, flags|unix.MAP_FIXED_NOREPLACE, fd)
		if err != nil {
			continue // taken, or beyond this machine's address space
		}
		if p == at {
			return p, nil
		}
		// A kernel older than the flag took the address for a hint.
		if err := unmap(l, p, size); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// remap replaces the pages of a range by fresh ones; what they held is gone,
// and with protNone so is their memory.
func remap(l *ledger, addr, size uintptr, p prot) error {
	if _, err := mmap(l, addr, size, sysProt(p), reserveFlags|unix.MAP_FIXED, -1); err != nil {
		return &SystemError{"mmap " + p.String(), int64(size), err}
	}
	return nil
}

// protect changes the protection of a range of code.
func protect(l *ledger, addr, size uintptr, p prot) error {
	return mprotect(l, protectCall(p), addr, size, p)
}

// protectView changes the protection of a writable view, where no code runs.
func protectView(l *ledger, addr, size uintptr, p prot) error {
	return mprotect(l, callProtectView, addr, size, p)
}

func mprotect(l *ledger, c call, addr, size uintptr, p prot) error {
	start := time.Now()
	err := unix.Mprotect(bytesAt(addr, size), sysProt(p))
	l.count(c, size, start)
	if err != nil {
		return &SystemError{"mprotect to " + p.String(), int64(size), err}
	}
	return nil
}

// adviseHuge asks for huge pages, or for none.
func adviseHuge(l *ledger, addr, size uintptr, on bool) error {
	if !on {
		return advise(l, addr, size, unix.MADV_NOHUGEPAGE, "madvise for small pages")
	}
	return advise(l, addr, size, unix.MADV_HUGEPAGE, "madvise for huge pages")
}

// advise gives the kernel advice. One that doesn't know it says EINVAL, which
// costs speed and nothing else.
func advise(l *ledger, addr, size uintptr, advice int, what string) error {
	start := time.Now()
	err := unix.Madvise(bytesAt(addr, size), advice)
	l.count(callMadvise, size, start)
	if err != nil && !errors.Is(err, unix.EINVAL) {
		return &SystemError{what, int64(size), err}
	}
	return nil
}

// unmap gives address space back to the system.
func unmap(l *ledger, addr, size uintptr) error {
	start := time.Now()
	err := unix.MunmapPtr(pointer(addr), size)
	l.count(callMunmap, size, start)
	if err != nil {
		return &SystemError{"munmap", int64(size), err}
	}
	return nil
}

func mmap(l *ledger, addr, size uintptr, prot, flags, fd int) (uintptr, error) {
	start := time.Now()
	p, err := unix.MmapPtr(fd, 0, pointer(addr), size, prot, flags)
	l.count(callMmap, size, start)
	return uintptr(p), err
}

func sysProt(p prot) int {
	s := unix.PROT_NONE
	if p&protR != 0 {
		s |= unix.PROT_READ
	}
	if p&protW != 0 {
		s |= unix.PROT_WRITE
	}
	if p&protX != 0 {
		s |= unix.PROT_EXEC
	}
	return s
}
