//go:build linux

package wasi

import (
	"context"

	"golang.org/x/sys/unix"
)

// fdSeek is fd_seek(fd, offset, whence, *newoffset).
func (w *System) fdSeek(_ context.Context, m memory, a []uint64) error {
	return w.seek(m, uint32(a[0]), int64(a[1]), uint32(a[2]), uint32(a[3]),
		[3]int{unix.SEEK_SET, unix.SEEK_CUR, unix.SEEK_END})
}

// fdSeekUnstable is fd_seek of wasi_unstable, which numbers whence otherwise.
func (w *System) fdSeekUnstable(_ context.Context, m memory, a []uint64) error {
	return w.seek(m, uint32(a[0]), int64(a[1]), uint32(a[2]), uint32(a[3]),
		[3]int{unix.SEEK_CUR, unix.SEEK_END, unix.SEEK_SET})
}

// fdTell is fd_tell(fd, *offset).
func (w *System) fdTell(_ context.Context, m memory, a []uint64) error {
	return w.seek(m, uint32(a[0]), 0, 0, uint32(a[1]), [3]int{unix.SEEK_CUR})
}

func (w *System) seek(m memory, fd uint32, offset int64, whence, result uint32, numbers [3]int) error {
	d, err := w.files.get(fd, 0)
	if err != nil {
		return err
	}
	defer d.release()
	switch {
	case d.filetype == filetypeDirectory:
		return errnoBadF
	case !d.seekable:
		return errnoSPipe
	case whence > 2:
		return errnoInval
	}
	how := numbers[whence]
	// Asking for the position needs no more than the right to tell.
	if tell := how == unix.SEEK_CUR && offset == 0; !d.allows(rightFdSeek) && !(tell && d.allows(rightFdTell)) {
		return errnoNotCapable
	}
	out, err := m.slice(result, 8)
	if err != nil {
		return err
	}
	pos, err := unix.Seek(d.fd, offset, how)
	if err != nil {
		return err
	}
	put64(out, uint64(pos))
	return nil
}
