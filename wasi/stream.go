//go:build linux

package wasi

import (
	"context"
	"errors"
	"io"
	"sync"
)

// maxStreamRead bounds one read from a stream, and so its buffer.
const maxStreamRead = 64 << 10

// stream reads from an io.Reader in a goroutine, so that a guest that waits
// for input can be cancelled: the read then stays behind, and what it brings
// is kept for the next one.
type stream struct {
	mu   sync.Mutex
	r    io.Reader
	buf  []byte        // storage of a read
	data []byte        // read and not yet taken
	err  error         // how the last read ended, not yet reported
	busy chan struct{} // closed when the read that is under way ends
}

func newStream(r io.Reader) *stream {
	if r == nil {
		r = eof{}
	}
	return &stream{r: r}
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// start returns how many bytes are waiting. If there are none and no error,
// it starts a read of up to n bytes, unless one is under way, and returns the
// channel that tells its end.
func (s *stream) start(n int) (ready int, wait <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.data) > 0 || s.err != nil {
		return len(s.data), nil
	}
	if s.busy == nil {
		n = max(min(n, maxStreamRead), 1)
		if cap(s.buf) < n {
			s.buf = make([]byte, n)
		}
		s.busy = make(chan struct{})
		go s.read(s.buf[:n])
	}
	return 0, s.busy
}

func (s *stream) read(b []byte) {
	n, err := s.r.Read(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.err = b[:n], err
	close(s.busy)
	s.busy = nil
}

// take moves waiting bytes into the vectors; ok is false if there was nothing
// to report. The end of the input and an error are each reported once, after
// the data before them.
func (s *stream) take(v *vectors) (n int, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range v.list {
		c := copy(b, s.data)
		s.data = s.data[c:]
		n += c
	}
	if n > 0 || s.err == nil {
		return n, n > 0, nil
	}
	err = s.err
	s.err = nil
	if errors.Is(err, io.EOF) {
		return 0, true, nil
	}
	return 0, true, toErrno(err)
}

// readv reads at least one byte unless the input ends. Where waiting isn't
// wanted the answer is EAGAIN, and the read that was started goes on.
func (s *stream) readv(ctx context.Context, v *vectors, wait bool) (int, error) {
	for {
		_, busy := s.start(v.total)
		if busy == nil {
			if n, ok, err := s.take(v); ok {
				return n, err
			}
			continue // another goroutine was faster, or a read brought nothing
		}
		if !wait {
			return 0, errnoAgain
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
