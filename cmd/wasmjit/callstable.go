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
		sum.Codemem.add(p.Codemem)
		sum.MinorFaults += p.MinorFaults
		sum.MajorFaults += p.MajorFaults
		sum.GCCycles += p.GCCycles
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
	s.Counters.explain(w)
}

// column is a column of the table of calls.
type column struct {
	name  string
	value func(p *step) string
}

func (s *stats) callColumns(sum *step) []column {
	number := func(n int64) string { return thousands(n) }
	var all []column
	for _, k := range []struct {
		name   string
		always bool
		of     func(c *codeCalls) int64
	}{
		{"mprotect to RW", true, func(c *codeCalls) int64 { return c.ToRW.Calls }},
		{"to RX", true, func(c *codeCalls) int64 { return c.ToRX.Calls }},
		{"other", false, func(c *codeCalls) int64 { return c.Other.Calls }},
		{"mmap", true, func(c *codeCalls) int64 { return c.Mmap.Calls }},
		{"munmap", false, func(c *codeCalls) int64 { return c.Munmap.Calls }},
		{"madvise", false, func(c *codeCalls) int64 { return c.Madvise.Calls }},
	} {
		if k.always || k.of(&sum.Codemem) > 0 {
			all = append(all, column{k.name, func(p *step) string { return number(k.of(&p.Codemem)) }})
		}
	}
	all = append(all,
		column{"ms in them", func(p *step) string { return sprintf("%.2f", float64(p.Codemem.ns())/1e6) }},
		column{"page faults", func(p *step) string { return number(p.MinorFaults + p.MajorFaults) }},
		column{"GC cycles", func(p *step) string { return number(p.GCCycles) }})
	// What the kernel has counted of the whole process.
	for _, c := range syscount.Calls() {
		name := c.String()
		_, counted := sum.Kernel[name]
		if c == syscount.Mprotect && counted && sum.Kernel[name] == sum.Codemem.mprotects() || c != syscount.Futex && !counted {
			continue
		}
		all = append(all, column{"all " + name, func(p *step) string {
			if n, ok := p.Kernel[name]; ok {
				return number(n)
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
	if c.Agrees != nil && *c.Agrees {
		printf(w, "mprotect: %d issued on code memory, and just as many seen by the kernel in the whole process.\n", c.Issued)
		return
	}
	printf(w, "mprotect: %d issued on code memory, %d seen by the kernel in the whole process.\n", c.Issued, c.Mprotect)
}
