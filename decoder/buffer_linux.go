package decoder

import (
	"syscall"
	"unsafe"
)

// hugePage is the size and alignment of what the kernel can back by one large
// page on amd64 and on arm64 with 4 KiB pages.
const hugePage = 2 << 20

// adviseHuge asks for huge pages wherever one lies within size bytes at p, which
// nobody has touched yet. First touch of 4 KiB pages takes longer than copying
// the file into them, and the walkers' jumps from body to body miss the TLB less.
func adviseHuge(p unsafe.Pointer, size int) {
	skip := int(-uintptr(p) % hugePage)
	if n := (size - skip) / hugePage * hugePage; n > 0 {
		// A kernel without them says so, which costs speed and nothing else.
		_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), n), syscall.MADV_HUGEPAGE)
	}
}
