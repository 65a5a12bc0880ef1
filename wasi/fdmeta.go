//go:build linux

package wasi

import (
	"context"

	"golang.org/x/sys/unix"
)

// fdClose is fd_close(fd). A preopened directory can be closed like any file.
func (w *System) fdClose(_ context.Context, _ memory, a []uint64) error {
	return w.files.remove(uint32(a[0]))
}

// fdRenumber is fd_renumber(from, to): to, which must be open, becomes from.
func (w *System) fdRenumber(_ context.Context, _ memory, a []uint64) error {
	return w.files.renumber(uint32(a[0]), uint32(a[1]))
}

// fdFdstatGet is fd_fdstat_get(fd, *fdstat).
func (w *System) fdFdstatGet(_ context.Context, m memory, a []uint64) error {
	d, err := w.files.get(uint32(a[0]), 0)
	if err != nil {
		return err
	}
	defer d.release()
	out, err := m.slice(uint32(a[1]), 24)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(out)
	out[0] = d.filetype
	put16(out[2:], d.flags)
	put64(out[8:], uint64(d.base))
	put64(out[16:], uint64(d.inheriting))
	return nil
}

// fdFdstatSetFlags is fd_fdstat_set_flags(fd, flags).
func (w *System) fdFdstatSetFlags(_ context.Context, _ memory, a []uint64) error {
	flags := uint32(a[1])
	d, err := w.files.get(uint32(a[0]), rightFdFdstatSetFlags)
	if err != nil {
		return err
	}
	defer d.release()
	if flags > uint32(allFdflags) {
		return errnoInval
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if (d.flags^uint16(flags))&fdflagAppend != 0 {
		// The other flags are ours alone; this one is the host's.
		if !d.owned {
			return errnoNotSup
		}
		host, err := unix.FcntlInt(uintptr(d.fd), unix.F_GETFL, 0)
		if err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(d.fd), unix.F_SETFL, host^unix.O_APPEND); err != nil {
			return err
		}
	}
	d.flags = uint16(flags)
	return nil
}

// fdFdstatSetRights is fd_fdstat_set_rights(fd, base, inheriting): rights can
// only be dropped.
func (w *System) fdFdstatSetRights(_ context.Context, _ memory, a []uint64) error {
	d, err := w.files.get(uint32(a[0]), 0)
	if err != nil {
		return err
	}
	defer d.release()
	base, inheriting := rights(a[1]), rights(a[2])
	d.mu.Lock()
	defer d.mu.Unlock()
	if base&^d.base != 0 || inheriting&^d.inheriting != 0 {
		return errnoNotCapable
	}
	d.base, d.inheriting = base, inheriting
	return nil
}

// fdSync is fd_sync(fd).
func (w *System) fdSync(_ context.Context, _ memory, a []uint64) error {
	return w.sync(uint32(a[0]), rightFdSync, unix.Fsync)
}

// fdDatasync is fd_datasync(fd).
func (w *System) fdDatasync(_ context.Context, _ memory, a []uint64) error {
	return w.sync(uint32(a[0]), rightFdDatasync, unix.Fdatasync)
}

func (w *System) sync(fd uint32, r rights, f func(int) error) error {
	d, err := w.files.get(fd, r)
	if err != nil {
		return err
	}
	defer d.release()
	if d.fd < 0 {
		return errnoInval
	}
	_, err = retry(func() (int, error) { return 0, f(d.fd) })
	return err
}

// fdAdvise is fd_advise(fd, offset, len, advice).
func (w *System) fdAdvise(_ context.Context, _ memory, a []uint64) error {
	d, err := w.files.get(uint32(a[0]), 0)
	if err != nil {
		return err
	}
	defer d.release()
	// WASI's order: normal, sequential, random, willneed, dontneed, noreuse.
	advice := [...]int{unix.FADV_NORMAL, unix.FADV_SEQUENTIAL, unix.FADV_RANDOM,
		unix.FADV_WILLNEED, unix.FADV_DONTNEED, unix.FADV_NOREUSE}
	switch {
	case d.filetype == filetypeDirectory:
		return errnoBadF
	case !d.seekable:
		return errnoSPipe
	case !d.allows(rightFdAdvise):
		return errnoNotCapable
	case int64(a[1]) < 0 || int64(a[2]) < 0 || uint32(a[3]) >= uint32(len(advice)):
		return errnoInval
	}
	return unix.Fadvise(d.fd, int64(a[1]), int64(a[2]), advice[uint32(a[3])])
}

// fdAllocate is fd_allocate(fd, offset, len).
func (w *System) fdAllocate(_ context.Context, _ memory, a []uint64) error {
	d, err := w.files.get(uint32(a[0]), 0)
	if err != nil {
		return err
	}
	defer d.release()
	switch {
	case d.filetype == filetypeDirectory:
		return errnoBadF
	case !d.seekable:
		return errnoSPipe
	case !d.allows(rightFdAllocate | rightFdWrite):
		return errnoNotCapable
	case a[2] == 0 || int64(a[1]) < 0 || int64(a[2]) < 0:
		return errnoInval
	case int64(a[1]+a[2]) < 0:
		return errnoFBig
	}
	_, err = retry(func() (int, error) { return 0, unix.Fallocate(d.fd, 0, int64(a[1]), int64(a[2])) })
	return err
}

// fdPrestatGet is fd_prestat_get(fd, *prestat). Programs look for preopens from
// 3 up until EBADF.
func (w *System) fdPrestatGet(_ context.Context, m memory, a []uint64) error {
	d, err := w.preopen(uint32(a[0]))
	if err != nil {
		return err
	}
	defer d.release()
	out, err := m.slice(uint32(a[1]), 8)
	if err != nil {
		return err
	}
	put32(out, 0) // prestat's tag: a directory
	put32(out[4:], uint32(len(d.preopen)))
	return nil
}

// fdPrestatDirName is fd_prestat_dir_name(fd, path, path_len).
func (w *System) fdPrestatDirName(_ context.Context, m memory, a []uint64) error {
	d, err := w.preopen(uint32(a[0]))
	if err != nil {
		return err
	}
	defer d.release()
	out, err := m.slice(uint32(a[1]), uint32(a[2]))
	if err != nil {
		return err
	}
	if len(out) < len(d.preopen) {
		return errnoNameTooLong
	}
	copy(out, d.preopen)
	return nil
}

// preopen returns the descriptor fd if it is a preopened directory.
func (w *System) preopen(fd uint32) (*descriptor, error) {
	d, err := w.files.get(fd, 0)
	if err != nil {
		return nil, err
	}
	if !d.isPreopen {
		d.release()
		return nil, errnoBadF
	}
	return d, nil
}
