//go:build !linux

package codemem

import (
	"errors"
	"sync"
	"unsafe"
)

// Elsewhere code can be compiled and looked at, not run: an arena is ordinary
// Go memory, and asking for an executable page is an error. No system call is
// issued, so none is counted.

// maxReserve is small because Go's collector accounts for all of it.
const maxReserve = 64 << 20

var pageSize uintptr = 4096

// blocks keeps the memory of the live arenas, by aligned address.
var blocks sync.Map

func reserve(_ *ledger, size uintptr) (uintptr, error) {
	b := make([]byte, size+hugePage)
	lo := alignUp(uintptr(unsafe.Pointer(&b[0])), hugePage)
	blocks.Store(lo, b)
	return lo, nil
}

func remap(_ *ledger, addr, size uintptr, p prot) error {
	clear(bytesAt(addr, size))
	return protect(nil, addr, size, p)
}

func protect(_ *ledger, _, size uintptr, p prot) error {
	if p&protX != 0 {
		return &SystemError{"executable mapping", int64(size), errors.ErrUnsupported}
	}
	return nil
}

func adviseHuge(*ledger, uintptr, uintptr) error { return nil }

func unmap(_ *ledger, addr, _ uintptr) error {
	blocks.Delete(addr)
	return nil
}
