package main

import (
	"fmt"
	"runtime/metrics"
	"time"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/internal/syscount"
)

// step is a phase and what was counted in it.
type step struct {
	phase
	costs
}

// costs are the counters of a phase.
type costs struct {
	// Codemem are the system calls on code memory, counted where they are
	// issued.
	Codemem codeCalls `json:"codemem"`
	// Kernel are the system calls of the whole process, counted by the
	// kernel: empty unless they could be counted.
	Kernel      map[string]int64 `json:"kernel_calls,omitempty"`
	MinorFaults int64            `json:"minor_faults"`
	MajorFaults int64            `json:"major_faults"`
	GCCycles    int64            `json:"gc_cycles"`
	// Locks are the trips to the locks of the module's code memory.
	Locks lockTrips `json:"locks"`
	// OverlapNs is the sum of the times that threads spent on this phase while
	// another was on. Their calls on code memory then count here, and not
	// there; with --syscall-counters=perf their faults, processor time and
	// kernel calls do, too. The wall time is cut by the clock.
	OverlapNs int64 `json:"overlap_ns"`
}

// lockTrips are the trips to one or several locks.
type lockTrips struct {
	Acquired  int64 `json:"acquired"`
	Contended int64 `json:"contended"`
	WaitNs    int64 `json:"wait_ns"`
}

// syscallFlag is --syscall-counters.
type syscallFlag struct{ value string }

func (f *syscallFlag) register(c *cobra.Command) {
	c.Flags().StringVar(&f.value, "syscall-counters", "auto",
		"how the kernel's system calls are counted: auto, perf, seccomp or off; see wasmjit bench write-protect --help")
}

// meter cuts the run of a command into phases.
type meter struct {
	counter *syscount.Counter // nil if the kernel isn't asked
	why     string            // why it is nil

	last  reading
	steps []step
	overlaps
}

// reading is every counter at one moment.
type reading struct {
	wall     time.Time
	cpu      time.Duration
	codemem  codemem.Counters
	kernel   syscount.Counts
	min, maj int64
	gc       uint64
}

// newMeter starts the counters in the given way, and the first phase. A way
// that the user has named and that isn't to be had is an error. calls are
// what auto counts with tracepoints, each of which slows every system call.
func newMeter(how string, calls ...syscount.Call) (*meter, error) {
	method, err := syscount.ParseMethod(how)
	if err != nil {
		return nil, usagef("--syscall-counters: %v", err)
	}
	m := &meter{}
	switch method {
	case syscount.Off:
		m.why = "--syscall-counters=off"
	case syscount.Perf:
		m.byThread = true
		m.counter, err = syscount.OpenPerf()
	case syscount.Seccomp:
		m.counter, err = syscount.OpenSeccomp()
	case syscount.Auto:
		m.openAuto(calls)
	}
	if err != nil {
		return nil, fmt.Errorf("--syscall-counters=%v: %w", method, err)
	}
	m.restart()
	return m, nil
}

// openAuto takes the first way that works. The seccomp filter is for good,
// which this process can bear: it ends with its command.
func (m *meter) openAuto(calls []syscount.Call) {
	var perr, serr error
	if m.counter, perr = syscount.OpenPerf(calls...); perr == nil {
		return
	}
	if m.counter, serr = syscount.OpenSeccomp(); serr != nil {
		m.why = fmt.Sprintf("perf: %v; seccomp: %v", perr, serr)
	}
}

// begin forgets the phases of an earlier compile and begins the first.
func (m *meter) begin() {
	m.steps = nil
	m.forget()
	m.restart()
}

// restart begins a phase here: what came before belongs to none.
func (m *meter) restart() { m.last = m.read() }

// read reads the clocks last, so that the reading isn't charged to a phase
// that begins.
func (m *meter) read() reading {
	r := m.readCounters()
	r.cpu, r.wall = cpuTime(), time.Now()
	return r
}

func (m *meter) readCounters() reading {
	r := reading{codemem: codemem.Totals(), gc: gcCycles()}
	r.min, r.maj = pageFaults()
	if m.counter != nil {
		var err error
		if r.kernel, err = m.counter.Read(); err != nil {
			m.counter, m.why = nil, oneLine(err.Error())
		}
	}
	return r
}

// done ends a phase and begins the next.
func (m *meter) done(name string) step {
	wall, cpu := time.Now(), cpuTime()
	r := m.readCounters()
	s := step{phase: phase{name, int64(wall.Sub(m.last.wall)), int64(cpu - m.last.cpu)}}
	s.Codemem = codeCalls{r.codemem.Sub(m.last.codemem)}
	s.MinorFaults, s.MajorFaults = r.min-m.last.min, r.maj-m.last.maj
	s.GCCycles = int64(r.gc - m.last.gc)
	if m.counter != nil {
		s.Kernel = map[string]int64{}
		n := r.kernel.Sub(m.last.kernel)
		for _, c := range syscount.Calls() {
			if m.counter.Counts(c) {
				s.Kernel[c.String()] = n[c]
			}
		}
	}
	m.settle(&s)
	m.steps = append(m.steps, s)
	r.cpu, r.wall = cpuTime(), time.Now()
	m.last = r
	return s
}

// counterStats says how the kernel's calls were counted.
type counterStats struct {
	Method string `json:"method"`           // perf, seccomp or none
	Reason string `json:"reason,omitempty"` // why they weren't
	// Futex and Mprotect are the sums over all phases, -1 if not counted;
	// Issued is how many mprotects wasmjit issued on code memory, Agrees
	// whether the kernel has seen just as many in the phases but run, in which
	// memories and stacks of the guest take some.
	Futex    int64 `json:"futex"`
	Mprotect int64 `json:"mprotect"`
	Issued   int64 `json:"mprotect_issued"`
	Agrees   *bool `json:"mprotect_agrees,omitempty"`
}

// counters sums the phases up.
func (m *meter) counters() counterStats {
	c := counterStats{Method: "none", Reason: m.why, Futex: -1, Mprotect: -1}
	for i := range m.steps {
		c.Issued += m.steps[i].Codemem.Mprotects()
	}
	if m.counter == nil {
		return c
	}
	c.Method, c.Futex, c.Mprotect = m.counter.Method().String(), 0, 0
	unexplained := int64(0)
	for i := range m.steps {
		s := &m.steps[i]
		n := s.Kernel[syscount.Mprotect.String()]
		c.Futex += s.Kernel[syscount.Futex.String()]
		c.Mprotect += n
		if s.Name != "run" {
			unexplained += n - s.Codemem.Mprotects()
		}
	}
	agrees := unexplained == 0
	c.Agrees = &agrees
	return c
}

// gcCycles is the number of finished cycles of Go's collector.
func gcCycles() uint64 {
	s := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}
