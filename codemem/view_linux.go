package codemem

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// view is the writable view of code in mode Dual: a memfd mapped readable and
// writable at an address that has nothing to do with the code's. The file is
// sealed against writes and new writable mappings from the moment that the
// view exists, and closed when the executable view does. Neither view
// survives in a forked child.
type view struct {
	addr, size uintptr // size 0: there is none
	file       int     // of the memfd, while it is open
	open       bool
}

// mfdExec is MFD_EXEC: the file may be mapped executable, which a system can
// be set up to demand saying (vm.memfd_noexec).
const mfdExec = 0x10

// Seals of include/uapi/linux/fcntl.h that this package uses.
const viewSeals = unix.F_SEAL_FUTURE_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// newView makes a file of size bytes and its writable view.
func newView(l *ledger, size uintptr, huge bool) (view, error) {
	fail := func(what string, err error) (view, error) {
		return view{}, &SystemError{what, int64(size), err}
	}
	fd, err := memfd(l)
	if err != nil {
		return fail("memfd_create", err)
	}
	v := view{file: fd, open: true}
	start := time.Now()
	err = unix.Ftruncate(fd, int64(size))
	l.count(callMemfd, size, start)
	if err != nil {
		_ = v.close(l)
		return fail("ftruncate of a memfd", err)
	}
	p, err := mapAnywhere(l, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE, fd)
	if err == nil && p == 0 {
		p, err = mmap(l, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE, fd)
	}
	if err != nil {
		_ = v.close(l)
		return fail("mmap of a writable view", err)
	}
	v.addr, v.size = p, size
	start = time.Now()
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, viewSeals)
	l.count(callMemfd, 0, start)
	if err != nil {
		_ = v.drop(l)
		return fail("sealing of a memfd", err)
	}
	err = advise(l, v.addr, size, unix.MADV_DONTFORK, "madvise against forks")
	if err == nil && huge {
		err = adviseHuge(l, v.addr, size, true)
	}
	if err != nil {
		_ = v.drop(l)
		return view{}, err
	}
	return v, nil
}

// memfd makes a file that may be executed, also where the kernel is older
// than the flag that says so.
func memfd(l *ledger) (int, error) {
	start := time.Now()
	fd, err := unix.MemfdCreate("wasmjit-code", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|mfdExec)
	l.count(callMemfd, 0, start)
	if errors.Is(err, unix.EINVAL) {
		start = time.Now()
		fd, err = unix.MemfdCreate("wasmjit-code", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		l.count(callMemfd, 0, start)
	}
	return fd, err
}

// publish ends the writable view, but for its first keep bytes, which become
// inaccessible, and maps the first n bytes of the file executable at lo. In
// this order: no page is writable and executable at once.
func (v *view) publish(l *ledger, lo, n, keep uintptr) error {
	if keep > 0 {
		if err := protectView(l, v.addr, keep, protNone); err != nil {
			return err
		}
	}
	if v.size > keep {
		if err := unmap(l, v.addr+keep, v.size-keep); err != nil {
			return err
		}
	}
	v.size = keep
	if _, err := mmap(l, lo, n, sysProt(protRX), unix.MAP_SHARED|unix.MAP_FIXED, v.file); err != nil {
		return &SystemError{"mmap " + protRX.String() + " of a memfd", int64(n), err}
	}
	if err := advise(l, lo, n, unix.MADV_DONTFORK, "madvise against forks"); err != nil {
		return err
	}
	return v.close(l)
}

// close closes the file; the mappings stay.
func (v *view) close(l *ledger) error {
	if !v.open {
		return nil
	}
	v.open = false
	start := time.Now()
	err := unix.Close(v.file)
	l.count(callMemfd, 0, start)
	if err != nil {
		return &SystemError{"close of a memfd", int64(v.size), err}
	}
	return nil
}

// drop gives up what is left of the view and its file.
func (v *view) drop(l *ledger) error {
	err := v.close(l)
	if v.size > 0 {
		err = errors.Join(err, unmap(l, v.addr, v.size))
		v.size = 0
	}
	return err
}
