//go:build linux

package wasi

import (
	"context"

	"golang.org/x/sys/unix"
)

// Flags of the socket functions (witx types riflags, roflags, sdflags).
const (
	riRecvPeek    uint32 = 1
	riRecvWaitall uint32 = 2

	roRecvDataTruncated uint16 = 1

	sdRead  uint32 = 1
	sdWrite uint32 = 2
)

// socket returns the descriptor fd if it is a socket with the rights r.
func (w *System) socket(fd uint32, r rights) (*descriptor, error) {
	d, err := w.files.get(fd, 0)
	if err != nil {
		return nil, err
	}
	switch {
	case d.filetype != filetypeSocketStream && d.filetype != filetypeSocketDgram:
		err = errnoNotSock
	case !d.allows(r):
		err = errnoNotCapable
	}
	if err != nil {
		d.release()
		return nil, err
	}
	return d, nil
}

// ready runs a socket operation that doesn't wait, and waits for events
// before it is tried again where the descriptor isn't the guest's to be
// non-blocking.
func (d *descriptor) ready(ctx context.Context, events int16, f func() error) error {
	for {
		err := f()
		switch {
		case err == unix.EINTR:
			continue
		case err != unix.EAGAIN || d.has(fdflagNonblock):
			return err
		}
		if _, err := waitFor(ctx, []unix.PollFd{{Fd: int32(d.fd), Events: events}}, forever, nil); err != nil {
			return err
		}
	}
}

// sockAccept is sock_accept(fd, flags, *fd).
func (w *System) sockAccept(ctx context.Context, m memory, a []uint64) error {
	d, err := w.socket(uint32(a[0]), rightSockAccept)
	if err != nil {
		return err
	}
	defer d.release()
	flags := uint32(a[1])
	if flags&^uint32(fdflagNonblock) != 0 {
		return errnoInval
	}
	out, err := m.slice(uint32(a[2]), 4)
	if err != nil {
		return err
	}
	fd := -1
	err = d.ready(ctx, unix.POLLIN, func() (err error) {
		// A blocking listener would wait in the kernel, deaf to the context.
		if n, err := poll([]unix.PollFd{{Fd: int32(d.fd), Events: unix.POLLIN}}, 0); n == 0 || err != nil {
			return orAgain(err)
		}
		fd, _, err = unix.Accept4(d.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		return err
	})
	if err != nil {
		return err
	}
	conn, err := newDescriptor(fd, socketRights&^rightSockAccept, 0)
	if err != nil {
		return err
	}
	conn.owned, conn.flags = true, uint16(flags)
	n, err := w.files.add(conn)
	if err != nil {
		return err
	}
	put32(out, n)
	return nil
}

func orAgain(err error) error {
	if err == nil {
		return unix.EAGAIN
	}
	return err
}

// sockRecv is sock_recv(fd, ri_data, ri_data_len, ri_flags, *ro_datalen,
// *ro_flags).
func (w *System) sockRecv(ctx context.Context, m memory, a []uint64) error {
	d, err := w.socket(uint32(a[0]), rightFdRead)
	if err != nil {
		return err
	}
	defer d.release()
	flags := uint32(a[3])
	if flags&^(riRecvPeek|riRecvWaitall) != 0 {
		return errnoInval
	}
	size, err := m.slice(uint32(a[4]), 4)
	if err != nil {
		return err
	}
	out, err := m.slice(uint32(a[5]), 2)
	if err != nil {
		return err
	}
	var v vectors
	if err := v.read(m, uint32(a[1]), uint32(a[2])); err != nil {
		return err
	}
	how := unix.MSG_DONTWAIT
	if flags&riRecvPeek != 0 {
		how |= unix.MSG_PEEK
	}
	done, truncated := 0, false
	for v.total > 0 {
		n, got := 0, 0
		err := d.ready(ctx, unix.POLLIN, func() (err error) {
			n, _, got, _, err = unix.RecvmsgBuffers(d.fd, v.list, nil, how)
			return err
		})
		if err != nil && done == 0 {
			return err
		}
		if err != nil || n <= 0 {
			break
		}
		done += n
		truncated = truncated || got&unix.MSG_TRUNC != 0
		// Waiting for all can't be left to the kernel, which would not hear
		// of the context.
		if v.advance(n); flags&riRecvWaitall == 0 || flags&riRecvPeek != 0 || d.filetype != filetypeSocketStream {
			break
		}
	}
	put32(size, uint32(done))
	put16(out, 0)
	if truncated {
		put16(out, roRecvDataTruncated)
	}
	return nil
}

// sockSend is sock_send(fd, si_data, si_data_len, si_flags, *so_datalen).
func (w *System) sockSend(ctx context.Context, m memory, a []uint64) error {
	d, err := w.socket(uint32(a[0]), rightFdWrite)
	if err != nil {
		return err
	}
	defer d.release()
	if uint32(a[3]) != 0 {
		return errnoInval
	}
	size, err := m.slice(uint32(a[4]), 4)
	if err != nil {
		return err
	}
	var v vectors
	if err := v.read(m, uint32(a[1]), uint32(a[2])); err != nil {
		return err
	}
	n := 0
	err = d.ready(ctx, unix.POLLOUT, func() (err error) {
		n, err = unix.SendmsgBuffers(d.fd, v.list, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		return err
	})
	if err != nil {
		return err
	}
	put32(size, uint32(n))
	return nil
}

// sockShutdown is sock_shutdown(fd, how).
func (w *System) sockShutdown(_ context.Context, _ memory, a []uint64) error {
	d, err := w.socket(uint32(a[0]), rightSockShutdown)
	if err != nil {
		return err
	}
	defer d.release()
	switch uint32(a[1]) {
	case sdRead:
		return unix.Shutdown(d.fd, unix.SHUT_RD)
	case sdWrite:
		return unix.Shutdown(d.fd, unix.SHUT_WR)
	case sdRead | sdWrite:
		return unix.Shutdown(d.fd, unix.SHUT_RDWR)
	}
	return errnoInval
}
