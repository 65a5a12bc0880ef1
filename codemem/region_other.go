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

func protectView(l *ledger, addr, size uintptr, p prot) error { return protect(l, addr, size, p) }

func adviseHuge(*ledger, uintptr, uintptr, bool) error { return nil }

func unmap(_ *ledger, addr, _ uintptr) error {
	blocks.Delete(addr)
	return nil
}

// Check reports why code in mode m can't be had: elsewhere code only seals to
// be looked at.
func Check(m Mode) error {
	if m == Seal || m == Auto {
		return nil
	}
	return &ModeError{Name: m.String(), Reason: "this system runs no code", Err: errors.ErrUnsupported}
}

// view is never made here.
type view struct {
	addr, size uintptr
	open       bool
}

func newView(*ledger, uintptr, bool) (view, error) {
	return view{}, &ModeError{Name: Dual.String(), Reason: "this system runs no code", Err: errors.ErrUnsupported}
}

func (v *view) publish(*ledger, uintptr, uintptr, uintptr) error { return errors.ErrUnsupported }

func (v *view) drop(*ledger) error { return nil }

func newKey() (key, error) {
	return key{}, &ModeError{Name: PKU.String(), Reason: "this system runs no code", Err: errors.ErrUnsupported}
}

func tagPages(*ledger, uintptr, uintptr, key) error { return errors.ErrUnsupported }

// Barrier does nothing here.
func (s *Space) Barrier() {}
