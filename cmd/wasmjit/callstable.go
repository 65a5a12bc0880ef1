package main

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/wasmjit/wasmjit/internal/syscount"
)

// writeCalls prints what the phases asked of the system. Kinds of calls that
// nobody made are left out.
func (s *stats) writeCalls(w io.Writer) {
	var sum step
	kernel := map[string]int64{}
	for _, p := range s.order {
		sum.Codemem.Counters = sum.Codemem.Add(p.Codemem.Counters)
		sum.MinorFaults += p.MinorFaults
		sum.MajorFaults += p.MajorFaults
		sum.GCCycles += p.GCCycles
		sum.Locks.Acquired += p.Locks.Acquired
		sum.Locks.Contended += p.Locks.Contended
		sum.Locks.WaitNs += p.Locks.WaitNs
		sum.OverlapNs += p.OverlapNs
		for name, n := range p.Kernel {
			kernel[name] += n
		}
	}
	sum.Name, sum.Kernel = "sum", kernel

	columns := s.callColumns(&sum)
	header := []any{"calls on code memory"}
	for _, c := range columns {
		header = append(header, c.name)
	}
	t := newTable(w, header...)
	row := func(p *step) table.Row {
		r := table.Row{p.Name}
		for _, c := range columns {
			r = append(r, c.value(p))
		}
		return r
	}
	for i := range s.order {
		t.AppendRow(row(&s.order[i]))
	}
	t.AppendSeparator()
	t.AppendRow(row(&sum))
	t.Render()
	if sum.OverlapNs > 0 {
		printf(w, "publishing took %.2f ms of threads' time while others compiled. Its calls on code memory stand under publish%s\n",
			float64(sum.OverlapNs)/1e6, s.elsewhere)
	}
	s.Counters.explain(w)
}

// column is a column of the table of calls.
type column struct {
	name  string
	value func(p *step) string
}

func (s *stats) callColumns(sum *step) []column {
	var all []column
	for _, k := range callKinds {
		if k.always || k.of(&sum.Codemem.Counters).Calls > 0 {
			all = append(all, column{k.title, func(p *step) string { return thousands(k.of(&p.Codemem.Counters).Calls) }})
		}
	}
	if sum.Locks.Acquired > 0 {
		all = append(all,
			column{"locks", func(p *step) string { return thousands(p.Locks.Acquired) }},
			column{"contended", func(p *step) string { return thousands(p.Locks.Contended) }},
			column{"ms waited", func(p *step) string { return sprintf("%.2f", float64(p.Locks.WaitNs)/1e6) }})
	}
	all = append(all,
		column{"ms in them", func(p *step) string { return sprintf("%.2f", float64(p.Codemem.All().Ns)/1e6) }},
		column{"page faults", func(p *step) string { return thousands(p.MinorFaults + p.MajorFaults) }},
		column{"GC cycles", func(p *step) string { return thousands(p.GCCycles) }})
	// What the kernel has counted of the whole process.
	for _, c := range syscount.Calls() {
		name := c.String()
		_, counted := sum.Kernel[name]
		if c == syscount.Mprotect && counted && sum.Kernel[name] == sum.Codemem.Mprotects() || c != syscount.Futex && !counted {
			continue
		}
		all = append(all, column{"all " + name, func(p *step) string {
			if n, ok := p.Kernel[name]; ok {
				return thousands(n)
			}
			return "n/a"
		}})
	}
	return all
}

// explain says where the kernel's figures come from.
func (c *counterStats) explain(w io.Writer) {
	if c.Method == "none" {
		printf(w, "futex: n/a (%s)\n", c.Reason)
		return
	}
	way := map[string]string{"perf": "tracepoints", "seccomp": "a seccomp trap"}[c.Method]
	printf(w, "futex calls are those of the whole process, nearly all by Go's scheduler, counted by %s.\n", way)
	seen := sprintf("%s seen by the kernel in the whole process", thousands(c.Mprotect))
	if c.Agrees != nil && *c.Agrees {
		seen = "just as many seen by the kernel in the whole process"
		if more := c.Mprotect - c.Issued; more != 0 {
			seen += sprintf(", and %s more for memories and stacks of the guest", thousands(more))
		}
	}
	printf(w, "mprotect: %s issued on code memory, %s.\n", thousands(c.Issued), seen)
}
