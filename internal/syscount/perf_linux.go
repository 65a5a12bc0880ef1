package syscount

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// perf is a set of counting events, one per call and thread that existed when
// it was opened. Threads born later count through the thread that made them;
// an event of their own would count them twice.
type perf struct {
	fds [NumCalls][]int
}

// attempts is how often the list of threads may change under us.
const attempts = 10

func openPerf(calls []Call) (*Counter, error) {
	all, err := tracepoints()
	if err != nil {
		return nil, err
	}
	var points points
	for _, c := range calls {
		points[c] = all[c]
	}
	for range attempts {
		p, stable, err := attach(points)
		if err != nil {
			return nil, err
		}
		if stable {
			c := p.counter(points)
			c.thread = func() (*Counter, error) { return thisThread(points) }
			return c, nil
		}
		_ = p.close()
	}
	return nil, errors.New("threads come and go too fast to be counted")
}

func (p *perf) counter(points points) *Counter {
	c := &Counter{method: Perf, read: p.read, close: p.close}
	for i := range points {
		c.counts[i] = points[i].id != 0
	}
	return c
}

// thisThread counts the calling thread, without those that it makes.
func thisThread(points points) (*Counter, error) {
	p := &perf{}
	for c, at := range points {
		if at.id == 0 {
			continue
		}
		fd, err := openTracepoint(at, 0, 0)
		if err != nil {
			_ = p.close()
			return nil, explain(err)
		}
		p.fds[c] = []int{fd}
	}
	return p.counter(points), nil
}

// attach opens the events. The result isn't stable if a thread appeared
// meanwhile: whether it is counted depends on which thread made it.
func attach(points points) (p *perf, stable bool, err error) {
	before, err := threads()
	if err != nil {
		return nil, false, err
	}
	p = &perf{}
	for _, tid := range before {
		for c, at := range points {
			if at.id == 0 {
				continue
			}
			fd, err := openTracepoint(at, tid, unix.PerfBitInherit)
			if errors.Is(err, unix.ESRCH) {
				break // it has ended
			}
			if err != nil {
				_ = p.close()
				return nil, false, explain(err)
			}
			p.fds[c] = append(p.fds[c], fd)
		}
	}
	after, err := threads()
	if err != nil {
		_ = p.close()
		return nil, false, err
	}
	for _, tid := range after {
		if !slices.Contains(before, tid) {
			return p, false, nil
		}
	}
	return p, true, nil
}

// openTracepoint opens an event of thread tid, or of the calling one for 0.
func openTracepoint(at point, tid int, bits uint64) (int, error) {
	if at.filter == "" {
		return openEvent(at.id, tid, bits)
	}
	// It counts nothing until the filter is set.
	fd, err := openEvent(at.id, tid, bits|unix.PerfBitDisabled)
	if err != nil {
		return fd, err
	}
	if err = setFilter(fd, at.filter); err == nil && bits&unix.PerfBitDisabled == 0 {
		err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func setFilter(fd int, filter string) error {
	b, err := unix.BytePtrFromString(filter)
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_SET_FILTER, uintptr(unsafe.Pointer(b))); errno != 0 {
		return errno
	}
	return nil
}

func openEvent(id uint64, tid int, bits uint64) (int, error) {
	attr := unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_TRACEPOINT,
		Size:   uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Config: id,
		Bits:   bits | unix.PerfBitExcludeHv,
	}
	if os.Geteuid() != 0 {
		attr.Bits |= unix.PerfBitExcludeKernel
	}
	for {
		fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func hold(calls []Call) error {
	points, err := tracepoints()
	if err != nil {
		return err
	}
	for _, c := range calls {
		if points[c].id == 0 {
			continue
		}
		// Not inherited: the counting would be done twice in the children.
		if _, err := openTracepoint(points[c], 0, unix.PerfBitDisabled); err != nil {
			return explain(err)
		}
	}
	return nil
}

// explain says what stands behind an error of perf_event_open.
func explain(err error) error {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		if b, e := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); e == nil {
			return fmt.Errorf("perf_event_open: %w (kernel.perf_event_paranoid is %s)", err, strings.TrimSpace(string(b)))
		}
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("perf_event_open: %w (a kernel without perf events, or a sandbox)", err)
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("perf_event_open: %w (one file per call and thread is needed; see ulimit -n)", err)
	}
	return fmt.Errorf("perf_event_open: %w", err)
}

// threads lists the threads of the process.
func threads() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, fmt.Errorf("threads can't be listed: %w", err)
	}
	var tids []int
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, nil
}

// read sums the events. Their counts include the threads that ended.
func (p *perf) read() (Counts, error) {
	var n Counts
	var b [8]byte
	for c, fds := range p.fds {
		for _, fd := range fds {
			if got, err := unix.Read(fd, b[:]); err != nil || got != len(b) {
				return n, fmt.Errorf("counter of %s can't be read: %w", Call(c), errors.Join(err, short(got)))
			}
			n[c] += int64(binary.NativeEndian.Uint64(b[:]))
		}
	}
	return n, nil
}

// short is the error of a reading that ended early.
func short(n int) error {
	if n == 8 {
		return nil
	}
	return fmt.Errorf("%d bytes instead of 8", n)
}

func (p *perf) close() error {
	var errs []error
	for c := range p.fds {
		for _, fd := range p.fds[c] {
			errs = append(errs, unix.Close(fd))
		}
		p.fds[c] = nil
	}
	return errors.Join(errs...)
}
