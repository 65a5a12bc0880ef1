//go:build amd64 || arm64

package attack

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Exit codes of the forked child.
const (
	childMapped   = 10
	childUnmapped = 11
)

var forkResidency [1]byte

// forkAndAsk forks. The child asks whether a page is mapped and ends at once;
// the parent gets its number, or an error number negated.
//
//go:nosplit
//go:norace
func forkAndAsk(page uintptr) int {
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e != 0 {
		return -int(e)
	}
	if pid != 0 {
		return int(pid)
	}
	code := uintptr(childMapped)
	if _, _, e := unix.RawSyscall(unix.SYS_MINCORE, page, 1, uintptr(unsafe.Pointer(&forkResidency[0]))); e != 0 {
		code = childUnmapped
	}
	for {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, code, 0, 0)
	}
}

func codeAddress(p *byte) uintptr { return uintptr(unsafe.Pointer(p)) }
