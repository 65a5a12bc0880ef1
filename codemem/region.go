package codemem

import (
	"fmt"
	"unsafe"
)

// prot is the protection of a range of pages.
type prot uint8

const (
	protNone prot = 0
	protR    prot = 1
	protW    prot = 2
	protX    prot = 4
	protRW        = protR | protW
	protRX        = protR | protX
	protRWX       = protR | protW | protX
)

func (p prot) String() string {
	b := []byte("---")
	for i, c := range "rwx" {
		if p&(1<<i) != 0 {
			b[i] = byte(c)
		}
	}
	return string(b)
}

// protectCall is the counter that a switch to p belongs to.
func protectCall(p prot) call {
	switch {
	case p&protW != 0 && p&protX == 0:
		return callProtectRW
	case p&protX != 0 && p&protW == 0:
		return callProtectRX
	}
	return callProtectOther
}

// SystemError reports that the system refused an operation on code memory.
type SystemError struct {
	Op   string // e.g. "mprotect to r-x"
	Size int64  // bytes
	Err  error  // the system's error number
}

func (e *SystemError) Error() string {
	return fmt.Sprintf("code memory: %s of %d KiB: %v", e.Op, e.Size>>10, e.Err)
}

// Unwrap gives the system's error.
func (e *SystemError) Unwrap() error { return e.Err }

// pointer converts the address of memory outside the Go heap.
func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// bytesAt is the memory [addr, addr+n).
func bytesAt(addr, n uintptr) []byte { return unsafe.Slice((*byte)(pointer(addr)), n) }

func alignUp(n, align uintptr) uintptr { return (n + align - 1) &^ (align - 1) }
