//go:build linux

package wasi

import (
	"context"

	"golang.org/x/sys/unix"
)

// fdRead is fd_read(fd, iovs, iovs_len, *nread).
func (w *System) fdRead(ctx context.Context, m memory, a []uint64) error {
	return w.transfer(m, uint32(a[0]), rightFdRead, uint32(a[1]), uint32(a[2]), uint32(a[3]),
		func(d *descriptor, v *vectors) (int, error) { return d.read(ctx, v) })
}

// fdWrite is fd_write(fd, iovs, iovs_len, *nwritten).
func (w *System) fdWrite(ctx context.Context, m memory, a []uint64) error {
	return w.transfer(m, uint32(a[0]), rightFdWrite, uint32(a[1]), uint32(a[2]), uint32(a[3]),
		func(d *descriptor, v *vectors) (int, error) { return d.write(ctx, v) })
}

// fdPread is fd_pread(fd, iovs, iovs_len, offset, *nread).
func (w *System) fdPread(_ context.Context, m memory, a []uint64) error {
	return w.transfer(m, uint32(a[0]), rightFdRead|rightFdSeek, uint32(a[1]), uint32(a[2]), uint32(a[4]),
		func(d *descriptor, v *vectors) (int, error) { return d.pread(v, a[3]) })
}

// fdPwrite is fd_pwrite(fd, iovs, iovs_len, offset, *nwritten).
func (w *System) fdPwrite(_ context.Context, m memory, a []uint64) error {
	return w.transfer(m, uint32(a[0]), rightFdWrite|rightFdSeek, uint32(a[1]), uint32(a[2]), uint32(a[4]),
		func(d *descriptor, v *vectors) (int, error) { return d.pwrite(v, a[3]) })
}

// transfer does what all reads and writes share: everything is checked before
// a byte moves.
func (w *System) transfer(m memory, fd uint32, r rights, iovs, count, result uint32,
	do func(*descriptor, *vectors) (int, error)) error {
	d, err := w.files.get(fd, 0)
	if err != nil {
		return err
	}
	defer d.release()
	switch {
	case d.filetype == filetypeDirectory:
		return errnoIsDir
	case r&rightFdSeek != 0 && !d.seekable:
		return errnoSPipe
	case !d.allows(r):
		return errnoNotCapable
	}
	out, err := m.slice(result, 4)
	if err != nil {
		return err
	}
	var v vectors
	if err := v.read(m, iovs, count); err != nil {
		return err
	}
	n := 0
	if v.total > 0 {
		if n, err = do(d, &v); err != nil {
			return err
		}
	}
	put32(out, uint32(n))
	return nil
}

func (d *descriptor) read(ctx context.Context, v *vectors) (int, error) {
	switch {
	case d.in != nil:
		return d.in.readv(ctx, v, !d.has(fdflagNonblock))
	case d.pollable:
		return d.transferPolled(ctx, v, unix.POLLIN)
	}
	return readv(d.fd, v)
}

func (d *descriptor) write(ctx context.Context, v *vectors) (n int, err error) {
	switch {
	case d.out != nil:
		return writeAll(d.out, v)
	case d.pollable:
		return d.transferPolled(ctx, v, unix.POLLOUT)
	}
	if n, err = writev(d.fd, v); err != nil {
		return 0, err
	}
	return n, d.afterWrite()
}

func (d *descriptor) pread(v *vectors, offset uint64) (int, error) {
	if int64(offset) < 0 {
		return 0, errnoInval
	}
	return retry(func() (int, error) { return unix.Preadv(d.fd, v.list, int64(offset)) })
}

func (d *descriptor) pwrite(v *vectors, offset uint64) (int, error) {
	if int64(offset) < 0 {
		return 0, errnoInval
	}
	n, err := retry(func() (int, error) { return unix.Pwritev(d.fd, v.list, int64(offset)) })
	if err != nil {
		return 0, err
	}
	return n, d.afterWrite()
}

// afterWrite does what FDFLAG_SYNC and FDFLAG_DSYNC ask for. Linux can't
// change the host's flags of an open file, so they are kept on our side.
func (d *descriptor) afterWrite() error {
	switch {
	case d.has(fdflagSync):
		return unix.Fsync(d.fd)
	case d.has(fdflagDsync):
		return unix.Fdatasync(d.fd)
	}
	return nil
}

// transferPolled reads or writes (by events, POLLIN or POLLOUT) what may have
// to wait. A read returns what there is; a write that may wait returns when
// all is written.
func (d *descriptor) transferPolled(ctx context.Context, v *vectors, events int16) (int, error) {
	done := 0
	for {
		n, err := d.try(v, events)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN && d.has(fdflagNonblock):
			if done > 0 {
				return done, nil
			}
			return 0, errnoAgain
		case err == unix.EAGAIN:
			if _, err := waitFor(ctx, []unix.PollFd{{Fd: int32(d.fd), Events: events}}, forever, nil); err != nil {
				return 0, err
			}
			continue
		case err != nil && done == 0:
			return 0, err
		case err != nil || events == unix.POLLIN || n == 0:
			return done + n, nil
		}
		done += n
		if v.advance(n); v.total == 0 {
			return done, nil
		}
	}
}

// pipeBuf bytes can be written to a pipe that poll(2) calls writable without
// waiting.
const pipeBuf = 4096

// try reads or writes once without waiting; EAGAIN says that it would have to.
// A description that the host shares with others is in blocking mode, so each
// operation asks for itself not to wait, and where that isn't supported
// (terminals) poll(2) is asked first and the write is kept small.
func (d *descriptor) try(v *vectors, events int16) (int, error) {
	if d.owned {
		if events == unix.POLLIN {
			return readvOnce(d.fd, v)
		}
		return writevOnce(d.fd, v)
	}
	if !d.noTry.Load() {
		var n int
		var err error
		if events == unix.POLLIN {
			n, err = unix.Preadv2(d.fd, v.list, -1, unix.RWF_NOWAIT)
		} else {
			n, err = unix.Pwritev2(d.fd, v.list, -1, unix.RWF_NOWAIT)
		}
		if err != unix.EOPNOTSUPP && err != unix.ENOSYS && err != unix.EINVAL {
			return max(n, 0), err
		}
		d.noTry.Store(true)
	}
	fds := []unix.PollFd{{Fd: int32(d.fd), Events: events}}
	if n, err := poll(fds, 0); err != nil {
		return 0, err
	} else if n == 0 {
		return 0, unix.EAGAIN
	}
	if events == unix.POLLIN {
		return readvOnce(d.fd, v)
	}
	n, err := unix.Write(d.fd, v.list[0][:min(len(v.list[0]), pipeBuf)])
	return max(n, 0), err
}

func readv(fd int, v *vectors) (int, error) {
	return retry(func() (int, error) { return readvOnce(fd, v) })
}

func writev(fd int, v *vectors) (int, error) {
	return retry(func() (int, error) { return writevOnce(fd, v) })
}

func readvOnce(fd int, v *vectors) (n int, err error) {
	if len(v.list) == 1 {
		n, err = unix.Read(fd, v.list[0])
	} else {
		n, err = unix.Readv(fd, v.list)
	}
	return max(n, 0), err
}

func writevOnce(fd int, v *vectors) (n int, err error) {
	if len(v.list) == 1 {
		n, err = unix.Write(fd, v.list[0])
	} else {
		n, err = unix.Writev(fd, v.list)
	}
	return max(n, 0), err
}

// writeAll writes to an io.Writer, which may keep nothing of what it gets.
func writeAll(out interface{ Write([]byte) (int, error) }, v *vectors) (int, error) {
	done := 0
	for _, b := range v.list {
		n, err := out.Write(b)
		done += max(0, min(n, len(b)))
		if err != nil || n < len(b) {
			if done > 0 {
				return done, nil
			}
			if err == nil {
				return 0, errnoIO
			}
			return 0, toErrno(err)
		}
	}
	return done, nil
}
