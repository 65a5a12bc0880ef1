package codemem

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// processKey is the one protection key that the process uses for code. The
// thread that allocates it gets no rights either: threads are equal, whatever
// Go runs on them.
var processKey = sync.OnceValues(func() (key, error) {
	const denyAccess, denyWrite = 1, 2 // PKEY_DISABLE_ACCESS, PKEY_DISABLE_WRITE
	n, _, e := unix.Syscall(unix.SYS_PKEY_ALLOC, 0, denyAccess|denyWrite, 0)
	if e != 0 {
		return key{}, unavailable(PKU, e, "pkey_alloc fails")
	}
	return key{number: int(n), mask: 3 << (2 * n)}, nil
})

func newKey() (key, error) {
	if !hasPKU() {
		return key{}, unavailable(PKU, nil, "this processor has no memory protection keys, or its system hasn't turned them on")
	}
	return processKey()
}

// tagPages makes pages writable and executable for whoever has the rights of
// k, which is no thread but for moments.
func tagPages(l *ledger, addr, size uintptr, k key) error {
	start := time.Now()
	_, _, e := unix.Syscall6(unix.SYS_PKEY_MPROTECT, addr, size, uintptr(sysProt(protRWX)), uintptr(k.number), 0, 0)
	l.count(callPkeyProtect, size, start)
	if e != 0 {
		return &SystemError{"pkey_mprotect to " + protRWX.String(), int64(size), e}
	}
	return nil
}
