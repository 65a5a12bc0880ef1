package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/wasmjit/wasmjit/internal/measure"
	"github.com/wasmjit/wasmjit/internal/samples"
)

// The tables stand between these lines in PERF.md.
const (
	beginMark = "<!-- storm: begin -->"
	endMark   = "<!-- storm: end -->"
)

// insert replaces what stands between the marks of a file.
func insert(file, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), beginMark+"\n")
	_, after, closed := strings.Cut(rest, endMark)
	if !ok || !closed {
		return fmt.Errorf("%s: no lines %s and %s", file, beginMark, endMark)
	}
	return os.WriteFile(file, []byte(before+beginMark+"\n\n"+text+"\n"+endMark+after), 0o644)
}

// markdown gives the tables of PERF.md.
func (r *report) markdown() string {
	var b strings.Builder
	pipelines := r.pipelines()
	fmt.Fprintf(&b, "%s; one run of %.0f s, all cells by turns.\n", r.Machine, r.Seconds)
	for _, name := range slices.Sorted(maps.Keys(r.Engines)) {
		if name == "wasmjit" {
			fmt.Fprintf(&b, "%s. ", r.Engines[name])
		} else {
			fmt.Fprintf(&b, "%s is %s. ", name, r.Engines[name])
		}
	}
	b.WriteString("\n")
	for _, m := range r.Modules {
		r.moduleTables(&b, m, pipelines)
	}
	r.ledgerTable(&b, pipelines)
	r.costTable(&b)
	r.futexTable(&b)
	r.slopeTable(&b)
	r.agreeTable(&b)
	b.WriteString("\n#### What holds\n\n")
	for _, c := range r.claims(pipelines) {
		verdict := "holds"
		switch {
		case c.Open:
			verdict = "not shown"
		case !c.Holds:
			verdict = "**does not hold**"
		}
		fmt.Fprintf(&b, "- %s: %s (%s)\n", verdict, c.Text, strings.TrimSuffix(c.Detail, "; "))
	}
	if len(r.Missing) > 0 {
		b.WriteString("\nNot measured:\n\n")
		for _, m := range r.Missing {
			fmt.Fprintf(&b, "- %s\n", m)
		}
	}
	return b.String()
}

// pipelines lists what was measured, in the order of the tables.
func (r *report) pipelines() []pipeline {
	var v []pipeline
	if len(r.Modules) > 0 {
		for _, c := range r.Modules[0].Cells {
			if c.Workers == r.Workers[0] {
				v = append(v, *c.pipe)
			}
		}
	}
	return v
}

func (r *report) moduleTables(b *strings.Builder, m *module, pipelines []pipeline) {
	fmt.Fprintf(b, "\n#### %s\n", m.Name)
	r.table(b, m, pipelines, "compile: wall ms (CPU ms), medians", func(c *cell) string {
		if s := c.Samples[0]; s.NotDone {
			return fmt.Sprintf("not done in %.0f s", wall(s)/1e9)
		}
		return fmt.Sprintf("%.0f (%.0f)", samples.Median(c.of(wall))/1e6, samples.Median(c.of(cpu))/1e6)
	})
	r.table(b, m, pipelines, "mprotects on code", func(c *cell) string { return count(c, code) })
	r.table(b, m, pipelines, "futexes", func(c *cell) string { return count(c, futex) })
	r.table(b, m, ourPipelines(pipelines), "MB·s writable and executable (share of the time); MB·s writable before published", func(c *cell) string {
		if c.Samples[0].NotDone {
			return "-"
		}
		return measure.Number("%.2f", samples.Median(c.of(wx))/1e6) + measure.Number(" (%.0f %%)", samples.Median(c.of(open))*100) + "; " + measure.Number("%.2f", samples.Median(c.of(wu))/1e6)
	})
}

func ourPipelines(all []pipeline) []pipeline {
	return slices.DeleteFunc(slices.Clone(all), func(p pipeline) bool { return p.v8() })
}

// table writes a row per pipeline and a column per number of workers.
func (r *report) table(b *strings.Builder, m *module, pipelines []pipeline, what string, f func(*cell) string) {
	fmt.Fprintf(b, "\n| %s; workers: |", what)
	for _, w := range r.Workers {
		fmt.Fprintf(b, " %d |", w)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.Workers)) + "\n")
	for _, p := range pipelines {
		fmt.Fprintf(b, "| %s |", p.Name)
		for _, w := range r.Workers {
			fmt.Fprintf(b, " %s |", f(m.find(p.Name, w)))
		}
		b.WriteString("\n")
	}
}

// count formats a median of counts; of a compile that was not done the count
// so far.
func count(c *cell, f func(sample) float64) string {
	n := samples.Median(c.of(f))
	switch {
	case n < 0:
		return "n/a"
	case c.Samples[0].NotDone:
		return measure.Number("%.0f by then", n)
	}
	return measure.Number("%.0f", n)
}

func (r *report) ledgerTable(b *strings.Builder, pipelines []pipeline) {
	b.WriteString("\n#### The ledger, one worker\n\n| module | pipeline | N | B | P | c | formula | predicted | counted |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, m := range r.Modules {
		for _, row := range r.ledger(m, pipelines) {
			counted := fmt.Sprint(row.Counted)
			switch {
			case row.NotDone:
				counted += ", not done"
			case !row.Exact:
				counted += fmt.Sprintf(", **differs** in %d of %d", row.Differing, row.Measured)
			}
			fmt.Fprintf(b, "| %s | %s | %d | %d | %d | %d | %s | %d | %s |\n", m.Name, row.Pipeline, row.N, row.B, row.P, row.C, row.Formula, row.Predicted, counted)
		}
		for _, name := range []string{seal, dual, dualSlots, pku} {
			if n := m.most(name); n >= 0 {
				fmt.Fprintf(b, "| %s | %s, any workers | | | | | | | at most %d |\n", m.Name, name, n)
			}
		}
	}
}

func (r *report) costTable(b *strings.Builder) {
	fmt.Fprintf(b, "\n#### What protection costs by itself\n\nA first touch of a page takes %.2f µs here, of a page of a memfd %.2f µs. The default is seal for code that is linked and stays, dual for code in slots.\n\n",
		r.Faults.AnonymousNS/1e3, r.Faults.FileNS/1e3)
	b.WriteString("| module | mode | workers | µs in its calls | page faults beyond off | % of compile CPU | wall ratio to off, paired | interval |\n|---|---|---|---|---|---|---|---|\n")
	for _, m := range r.Modules {
		for i := range ours {
			p := &ours[i]
			if p.Off != offLinked && p.Name != dualSlots {
				continue
			}
			for _, w := range r.Workers {
				if row, ok := r.cost(m, p, w); ok {
					fmt.Fprintf(b, "| %s | %s | %d | %.0f | %+.0f | %.2f | %.3f | %.3f to %.3f (%.0f %%, %d pairs) |\n", m.Name, p.Name, w,
						row.CallsUS, row.Faults, row.Percent, row.Ratio, row.Lo, row.Hi, row.Confidence*100, row.Samples)
				}
			}
		}
	}
}

func (r *report) futexTable(b *strings.Builder) {
	b.WriteString("\n#### Futexes beside their limit\n\nThe limit is off's plus max(10 %, 30); the comparison modes have that of off+slots. Medians of whole processes.\n")
	for _, m := range r.Modules {
		fmt.Fprintf(b, "\n| %s; workers: |", m.Name)
		for _, w := range r.Workers {
			fmt.Fprintf(b, " %d |", w)
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(r.Workers)) + "\n")
		for _, p := range ours {
			if p.Off == "" || m.find(p.Name, r.Workers[0]) == nil {
				continue
			}
			fmt.Fprintf(b, "| %s (limit) |", p.Name)
			for _, w := range r.Workers {
				mode, off := samples.Median(m.find(p.Name, w).of(futex)), samples.Median(m.find(p.Off, w).of(futex))
				switch {
				case mode < 0 || off < 0:
					b.WriteString(" n/a |")
				case mode > futexLimit(off):
					fmt.Fprintf(b, " **%.0f** (%.0f) |", mode, futexLimit(off))
				default:
					fmt.Fprintf(b, " %.0f (%.0f) |", mode, futexLimit(off))
				}
			}
			b.WriteString("\n")
		}
	}
}

func (r *report) slopeTable(b *strings.Builder) {
	rows := r.slopes()
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n#### Futexes by the number of functions\n\nGenerated modules, `GOGC=off`; medians of 3. Collections beside them, and the slope of a line through the counts. There are as many processors as workers, up to those of the machine; but where one is idle Go's scheduler wakes it when a time slice of 10 ms ends, so that those rows follow the time.\n\n| mode | workers | idle |")
	for _, n := range rows[0].Functions {
		fmt.Fprintf(b, " %d |", n)
	}
	b.WriteString(" collections | futexes per 1,000 functions |\n|---|---|---|---|---|" + strings.Repeat("---|", len(rows[0].Functions)) + "\n")
	for _, row := range rows {
		idle := "no"
		if row.Idle {
			idle = "yes"
		}
		fmt.Fprintf(b, "| %s | %d | %s |", row.Pipeline, row.Workers, idle)
		for i, f := range row.Futex {
			fmt.Fprintf(b, " %.0f (%.0f ms) |", f, row.WallNS[i]/1e6)
		}
		fmt.Fprintf(b, " %.0f | %+.2f |\n", slices.Max(row.GC), row.PerThousand)
	}
}

func (r *report) agreeTable(b *strings.Builder) {
	if len(r.Agree) == 0 {
		return
	}
	b.WriteString("\n#### Counted, and seen from outside\n\n| mode | workers | by | issued | seen |\n|---|---|---|---|---|\n")
	for _, a := range r.Agree {
		differs := ""
		if a.Issued != a.Seen {
			differs = " **differs**"
		}
		fmt.Fprintf(b, "| %s | %d | %s | %d | %d%s |\n", a.Pipeline, a.Workers, a.By, a.Issued, a.Seen, differs)
	}
}
