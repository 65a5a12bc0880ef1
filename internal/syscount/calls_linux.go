package syscount

import "golang.org/x/sys/unix"

// numbers are the kernel's. ORDER: Call.
var numbers = [NumCalls]uintptr{
	unix.SYS_MPROTECT, unix.SYS_PKEY_MPROTECT, unix.SYS_MMAP, unix.SYS_MUNMAP,
	unix.SYS_MADVISE, unix.SYS_MEMBARRIER, unix.SYS_FUTEX,
}
