package main

import (
	"errors"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/internal/syscount"
)

// overlaps attributes what is done for one phase while another is on: batches
// are published while other workers compile.
//
// System calls on code memory are told apart by who has its lock. Processor
// time, page faults and the kernel's counts are told apart by thread: the
// goroutine stays on its thread for that long, and the thread's counters tell.
// That costs Go's scheduler some futex calls of its own, so it is done only
// when the user has asked for perf by name.
type overlaps struct {
	byThread bool

	mu sync.Mutex
	// By phase: during the phase that is on, and during one that has ended.
	during, moved map[string]*overlap
	threads       map[int]*syscount.Counter // nil: this thread can't be counted
}

// overlap is a sum over threads.
type overlap struct {
	wall     time.Duration
	usage    threadUsage
	codemem  codemem.Counters
	kernel   syscount.Counts
	kernelOK bool // every part of kernel was counted
}

// threadUsage is what the system counts of a thread.
type threadUsage struct {
	cpu      time.Duration
	min, maj int64
}

// forget starts anew, but for the counters of threads.
func (o *overlaps) forget() {
	o.during, o.moved = map[string]*overlap{}, map[string]*overlap{}
}

// step is nativemodule's Options.Step. The caller has the lock of the code
// memory, so that no other thread changes codemem's totals.
func (m *meter) step(name string) (end func()) {
	thread := func(*overlap) {}
	if m.byThread {
		thread = m.onThread()
	}
	start, calls := time.Now(), codemem.Totals()
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		o := m.sum(name)
		o.wall += time.Since(start)
		o.codemem = o.codemem.Add(codemem.Totals().Sub(calls))
		thread(o)
	}
}

// onThread locks the goroutine to its thread. The function it returns adds
// what the thread has done since, and unlocks it.
func (m *meter) onThread() (end func(*overlap)) {
	goruntime.LockOSThread()
	c := m.threadCounter()
	usage := thisThreadUsage()
	kernel, err := readThread(c)
	return func(o *overlap) {
		defer goruntime.UnlockOSThread()
		after, err2 := readThread(c)
		u := thisThreadUsage()
		o.usage.cpu += u.cpu - usage.cpu
		o.usage.min += u.min - usage.min
		o.usage.maj += u.maj - usage.maj
		o.kernel = o.kernel.Add(after.Sub(kernel))
		o.kernelOK = o.kernelOK && err == nil && err2 == nil
	}
}

var errNotCounted = errors.New("not counted by thread")

func readThread(c *syscount.Counter) (syscount.Counts, error) {
	if c == nil {
		return syscount.Counts{}, errNotCounted
	}
	return c.Read()
}

// sum gives the sum of a phase; mu is held.
func (o *overlaps) sum(name string) *overlap {
	sum := o.during[name]
	if sum == nil {
		sum = &overlap{kernelOK: true}
		o.during[name] = sum
	}
	return sum
}

// threadCounter gives the counter of the calling thread.
func (m *meter) threadCounter() *syscount.Counter {
	if m.counter == nil {
		return nil
	}
	tid := threadID()
	m.mu.Lock()
	defer m.mu.Unlock()
	c, known := m.threads[tid]
	if !known {
		c, _ = m.counter.Thread() // without it, the phases' sums stay as they are
		if m.threads == nil {
			m.threads = map[int]*syscount.Counter{}
		}
		m.threads[tid] = c
	}
	return c
}

// settle moves what was done for other phases out of the phase s, which has
// ended, and adds to it what was done for it before.
func (o *overlaps) settle(s *step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if part := o.moved[s.Name]; part != nil {
		part.addTo(s, 1)
		s.OverlapNs = int64(part.wall)
		delete(o.moved, s.Name)
	}
	for name, part := range o.during {
		if name != s.Name {
			part.addTo(s, -1)
			o.moved[name] = part
		}
	}
	clear(o.during)
}

// addTo adds what was done to s, or with sign -1 takes it away.
func (part *overlap) addTo(s *step, sign int64) {
	s.CPUNs += sign * int64(part.usage.cpu)
	s.MinorFaults += sign * part.usage.min
	s.MajorFaults += sign * part.usage.maj
	if sign > 0 {
		s.Codemem.Counters = s.Codemem.Add(part.codemem)
	} else {
		s.Codemem.Counters = s.Codemem.Sub(part.codemem)
	}
	for _, c := range syscount.Calls() {
		if _, ok := s.Kernel[c.String()]; ok && part.kernelOK {
			s.Kernel[c.String()] += sign * part.kernel[c]
		}
	}
}
