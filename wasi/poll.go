//go:build linux

package wasi

import (
	"context"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Event types (witx type eventtype).
const (
	eventClock uint8 = iota
	eventFdRead
	eventFdWrite
)

// pollLayout is where a subscription's fields stand, which differs between
// preview 1 and wasi_unstable.
type pollLayout struct {
	size                        uint32
	tag, fd, id, timeout, flags int
}

var (
	pollPreview1 = pollLayout{size: 48, tag: 8, fd: 16, id: 16, timeout: 24, flags: 40}
	pollUnstable = pollLayout{size: 56, tag: 8, fd: 16, id: 24, timeout: 32, flags: 48}
)

const (
	eventSize = 32

	subClockAbstime uint16 = 1
	eventHangup     uint16 = 1
)

// maxSubscriptions bounds one poll_oneoff.
const maxSubscriptions = 1 << 16

// subscription is one thing that poll_oneoff waits for, and its event.
type subscription struct {
	userdata uint64
	kind     uint8
	timeout  time.Duration // of a clock, from the call
	file     *descriptor
	poll     int // index into the pollfds, or -1

	ready  bool
	err    error // set where the subscription can't be served, which is an event
	nbytes uint64
	flags  uint16
}

// pollSet is the state of one poll_oneoff.
type pollSet struct {
	w       *System
	subs    []subscription
	fds     []unix.PollFd
	streams []<-chan struct{} // closed when input of a stream is there
	slept   time.Duration     // on a Clock of Config
}

// pollOneoff is poll_oneoff(in, out, nsubscriptions, *nevents).
func (w *System) pollOneoff(ctx context.Context, m memory, a []uint64) error {
	return w.pollEvents(ctx, m, a, &pollPreview1)
}

// pollOneoffUnstable is poll_oneoff of wasi_unstable.
func (w *System) pollOneoffUnstable(ctx context.Context, m memory, a []uint64) error {
	return w.pollEvents(ctx, m, a, &pollUnstable)
}

func (w *System) pollEvents(ctx context.Context, m memory, a []uint64, l *pollLayout) error {
	count := uint32(a[2])
	if count == 0 || count > maxSubscriptions {
		return errnoInval
	}
	in, err := m.array(uint32(a[0]), count, l.size)
	if err != nil {
		return err
	}
	out, err := m.array(uint32(a[1]), count, eventSize)
	if err != nil {
		return err
	}
	nevents, err := m.slice(uint32(a[3]), 4)
	if err != nil {
		return err
	}
	p := pollSet{w: w, subs: make([]subscription, count)}
	defer p.release()
	for i := range p.subs {
		p.subs[i].parse(w, in[i*int(l.size):][:l.size], l)
	}
	if err := p.wait(ctx); err != nil {
		return err
	}
	n := 0
	for i := range p.subs {
		if s := &p.subs[i]; s.ready {
			s.put(out[n*eventSize:][:eventSize])
			n++
		}
	}
	put32(nevents, uint32(n))
	return nil
}

func (p *pollSet) release() {
	for i := range p.subs {
		if f := p.subs[i].file; f != nil {
			f.release()
		}
	}
}

// parse reads a subscription. What is wrong with it becomes its event.
func (s *subscription) parse(w *System, b []byte, l *pollLayout) {
	s.userdata, s.kind, s.poll = get64(b), b[l.tag], -1
	switch s.kind {
	case eventClock:
		s.timeout, s.err = w.timeoutOf(get32(b[l.id:]), get64(b[l.timeout:]), get16(b[l.flags:]))
	case eventFdRead, eventFdWrite:
		r := rightFdRead
		if s.kind == eventFdWrite {
			r = rightFdWrite
		}
		s.file, s.err = w.files.get(get32(b[l.fd:]), r|rightPollFdReadwrite)
	default:
		s.err = errnoInval
	}
}

// timeoutOf converts a clock subscription to a wait from now.
func (w *System) timeoutOf(id uint32, t uint64, flags uint16) (time.Duration, error) {
	switch {
	case id > clockThreadCPU || flags&^subClockAbstime != 0:
		return 0, errnoInval
	case id > clockMonotonic:
		return 0, errnoNotSup
	}
	if flags&subClockAbstime != 0 {
		now, err := w.now(id)
		if err != nil {
			return 0, err
		}
		t -= min(t, now)
	}
	// Half of what a Duration holds is 146 years, and sums stay in range.
	return time.Duration(min(t, math.MaxInt64/2)), nil
}

// wait waits until something is ready.
func (p *pollSet) wait(ctx context.Context) error {
	begin := time.Now()
	for {
		elapsed := p.slept
		if p.w.virtual == nil {
			elapsed = time.Since(begin)
		}
		found := p.look(elapsed)
		left := time.Duration(0)
		if !found {
			left = p.left(elapsed)
		}
		// Even where something is ready the others are asked, so that none
		// that always is starves them.
		n, err := p.await(ctx, left)
		if err != nil {
			return err
		}
		if n > 0 {
			p.polled()
		}
		if found || n > 0 {
			return nil
		}
	}
}

// look marks what is ready without asking the kernel, and collects what has
// to be asked or waited for.
func (p *pollSet) look(elapsed time.Duration) (found bool) {
	p.fds, p.streams = p.fds[:0], p.streams[:0]
	for i := range p.subs {
		s := &p.subs[i]
		switch {
		case s.err != nil:
			s.ready = true
		case s.kind == eventClock:
			s.ready = s.timeout <= elapsed
		case s.file.in != nil && s.kind == eventFdRead:
			n, busy := s.file.in.start(pipeBuf)
			s.nbytes, s.ready = uint64(n), busy == nil
			if !s.ready {
				p.streams = append(p.streams, busy)
			}
		case s.file.fd < 0:
			s.nbytes, s.ready = pipeBuf, true
		default:
			events := int16(unix.POLLIN)
			if s.kind == eventFdWrite {
				events = unix.POLLOUT
			}
			s.poll = len(p.fds)
			p.fds = append(p.fds, unix.PollFd{Fd: int32(s.file.fd), Events: events})
		}
		found = found || s.ready
	}
	return found
}

// left is the time to the first clock that isn't due, or forever.
func (p *pollSet) left(elapsed time.Duration) time.Duration {
	left := forever
	for i := range p.subs {
		if s := &p.subs[i]; s.kind == eventClock && !s.ready && (left < 0 || s.timeout-elapsed < left) {
			left = s.timeout - elapsed
		}
	}
	return left
}

// await waits for at most the time given and returns how many files are ready.
func (p *pollSet) await(ctx context.Context, limit time.Duration) (int, error) {
	switch {
	case len(p.fds)+len(p.streams) > 0 && (p.w.virtual == nil || limit <= 0):
		return waitFor(ctx, p.fds, limit, p.streams)
	case len(p.fds) > 0:
		if n, err := waitFor(ctx, p.fds, 0, nil); n > 0 || err != nil {
			return n, err
		}
	}
	if limit == 0 {
		return 0, nil
	}
	p.slept += limit
	return 0, p.w.sleep(ctx, limit)
}

// polled marks the files that poll(2) found ready.
func (p *pollSet) polled() {
	for i := range p.subs {
		s := &p.subs[i]
		if s.poll < 0 || s.poll >= len(p.fds) || p.fds[s.poll].Revents == 0 {
			continue
		}
		s.ready = true
		got := p.fds[s.poll].Revents
		switch {
		case got&unix.POLLNVAL != 0:
			s.err = errnoBadF
		case s.kind == eventFdRead:
			s.nbytes = readable(s.file)
		case got&unix.POLLOUT != 0:
			s.nbytes = pipeBuf
		}
		if s.nbytes == 0 && got&(unix.POLLHUP|unix.POLLERR) != 0 {
			s.flags |= eventHangup
		}
	}
}

// readable is how many bytes can be read without waiting, as far as that can
// be told.
func readable(d *descriptor) uint64 {
	if d.filetype == filetypeRegular {
		var st unix.Stat_t
		pos, err := unix.Seek(d.fd, 0, unix.SEEK_CUR)
		if err != nil || unix.Fstat(d.fd, &st) != nil {
			return 0
		}
		return uint64(max(0, st.Size-pos))
	}
	n, err := unix.IoctlGetInt(d.fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return uint64(max(0, n))
}

// put writes the event.
func (s *subscription) put(b []byte) {
	clear(b)
	put64(b, s.userdata)
	if s.err != nil {
		put16(b[8:], uint16(toErrno(s.err)))
	}
	b[10] = s.kind
	if s.kind != eventClock {
		put64(b[16:], s.nbytes)
		put16(b[24:], s.flags)
	}
}
