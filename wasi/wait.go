//go:build linux

package wasi

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// waker ends a poll(2) from another goroutine: an event descriptor that is
// polled with the rest.
type waker struct {
	mu sync.Mutex
	fd int
}

func newWaker() (*waker, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &waker{fd: fd}, nil
}

// wake makes the descriptor readable. It may be called after close.
func (w *waker) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd >= 0 {
		one := [8]byte{1}
		unix.Write(w.fd, one[:])
	}
}

func (w *waker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	unix.Close(w.fd)
	w.fd = -1
}

// forever is the timeout of a wait without one.
const forever = time.Duration(-1)

// waitFor polls fds until one is ready, the timeout passes, a channel of
// extra closes or ctx ends, whose error it then returns. It returns how many
// of fds are ready, which their Revents tell.
func waitFor(ctx context.Context, fds []unix.PollFd, timeout time.Duration, extra []<-chan struct{}) (int, error) {
	if n, err := poll(fds, 0); n > 0 || timeout == 0 || err != nil && err != unix.EINTR {
		return n, err
	}
	deadline := time.Now().Add(timeout)
	all := fds
	if ctx.Done() != nil || len(extra) > 0 {
		w, err := newWaker()
		if err != nil {
			return 0, err
		}
		defer w.close()
		stop := context.AfterFunc(ctx, w.wake)
		defer stop()
		over := make(chan struct{})
		defer close(over)
		for _, c := range extra {
			go func() {
				select {
				case <-c:
					w.wake()
				case <-over:
				}
			}()
		}
		all = append(slices.Clone(fds), unix.PollFd{Fd: int32(w.fd), Events: unix.POLLIN})
	}
	for {
		left := forever
		if timeout >= 0 {
			left = max(0, time.Until(deadline))
		}
		n, err := poll(all, left)
		if cerr := ctx.Err(); cerr != nil {
			return 0, cerr
		}
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, err
		}
		copy(fds, all)
		if len(all) > len(fds) && all[len(fds)].Revents != 0 {
			n--
		}
		return n, nil
	}
}

// poll is ppoll(2) with a relative timeout; a negative one is none.
func poll(fds []unix.PollFd, timeout time.Duration) (int, error) {
	if timeout < 0 {
		return unix.Ppoll(fds, nil, nil)
	}
	ts := unix.NsecToTimespec(int64(timeout))
	return unix.Ppoll(fds, &ts, nil)
}
