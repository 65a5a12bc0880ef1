package main

import (
	"fmt"
	"math"

	"github.com/wasmjit/wasmjit/internal/samples"
)

// ledgerRow is the prediction for one pipeline with one worker beside what was
// counted.
type ledgerRow struct {
	Pipeline, Formula   string
	N, B, P, C          int64
	Predicted, Counted  int64
	Exact, NotDone      bool
	Differing, Measured int // samples
}

// batchesV8 solves the ledger of V8, which doesn't tell B and c, with one
// worker. The flag adds 2N + 2B calls in 9.2 and 4B in 9.3 to the commits, B + c,
// that are made without it. Each version's B comes from the other, so that the
// prediction is one; where the other wasn't done, from its own, and then only
// that B is whole is tested.
func (m *module) batchesV8(name string, functions int64) (b int64, ok bool) {
	added := func(p string) (int64, bool) {
		on, off := m.find(p+" protected", 1), m.find(p, 1)
		if on == nil || off == nil || on.Samples[0].NotDone || off.Samples[0].NotDone || off.Samples[0].Code < 0 {
			return 0, false
		}
		return on.Samples[0].Code - off.Samples[0].Code, true
	}
	fine, hasFine := added("V8 9.2")
	hoisted, hasHoisted := added("V8 9.3")
	if hasFine && (name == "V8 9.3" || !hasHoisted) {
		return (fine - 2*functions) / 2, true
	}
	return hoisted / 4, hasHoisted
}

// ledger gives the rows of a module.
func (r *report) ledger(m *module, pipelines []pipeline) []ledgerRow {
	functions := int64(0)
	if c := m.find(hoisted, 1); c != nil && !c.Samples[0].NotDone {
		functions = c.Samples[0].N
	}
	var rows []ledgerRow
	for _, p := range pipelines {
		c := m.find(p.Name, 1)
		if p.Ledger == "" || c == nil || c.Samples[0].Code < 0 {
			continue
		}
		s := c.Samples[0]
		row := ledgerRow{Pipeline: p.Name, Counted: s.Code, NotDone: s.NotDone, Measured: len(c.Samples)}
		row.N, row.B, row.P, row.C = s.N, s.B, s.P, s.C
		row.Formula, row.Predicted, row.Exact = s.Formula, s.Predicted, s.Exact
		if p.v8() {
			off := m.find(p.Off, 1)
			b, ok := m.batchesV8(p.Off, functions)
			if off == nil || off.Samples[0].NotDone || functions == 0 || !ok {
				continue
			}
			row.N, row.B, row.P, row.C = functions, b, b, off.Samples[0].Code-b
			row.Formula, row.Predicted = "2N + 3B + c", 2*row.N+3*row.B+row.C
			if p.Ledger == "hoisted" {
				row.Formula, row.Predicted = "5B + c", 5*row.B+row.C
			}
			row.Exact = true
		}
		for _, s := range c.Samples {
			if !s.NotDone && ((p.v8() && s.Code != row.Predicted) || (!p.v8() && (!s.Exact || s.Code != s.Predicted))) {
				row.Differing++
			}
		}
		row.Exact = row.Exact && row.Differing == 0
		rows = append(rows, row)
	}
	return rows
}

// most is the largest number of mprotects on code in any sample of a
// pipeline, with any number of workers; -1 without samples.
func (m *module) most(pipeline string) int64 {
	most := int64(-1)
	for _, c := range m.Cells {
		if c.Pipeline == pipeline {
			for _, s := range c.Samples {
				most = max(most, s.Code)
			}
		}
	}
	return most
}

// costRow is what a mode's protection costs beyond `off`.
type costRow struct {
	Module, Pipeline string
	Workers          int
	CallsUS          float64 // in its system calls
	Faults           float64 // page faults beyond off's
	Percent          float64 // both, of the processor time of the compile
	Ratio, Lo, Hi    float64 // wall time to off's of the same round
	Confidence       float64
	Samples          int
}

// cost compares a mode with off, round by round. What is less than off's, by
// the noise of faults and times, counts as nothing.
func (r *report) cost(m *module, p *pipeline, workers int) (costRow, bool) {
	row := costRow{Module: m.Name, Pipeline: p.Name, Workers: workers}
	fault := r.Faults.AnonymousNS
	if p.Name == dual || p.Name == dualSlots {
		fault = r.Faults.FileNS
	}
	var protect, others, faults, used, ratio []float64
	pairs(m.find(p.Name, workers), m.find(p.Off, workers), func(x, y sample) {
		protect = append(protect, float64(x.ProtectNS-y.ProtectNS))
		others = append(others, float64(x.OtherNS-y.OtherNS))
		faults = append(faults, float64(x.Faults-y.Faults))
		used = append(used, float64(x.CPUNS))
		ratio = append(ratio, float64(x.WallNS)/float64(y.WallNS))
	})
	if len(ratio) == 0 {
		return row, false
	}
	calls := samples.Median(protect) + max(0, samples.Median(others))
	row.CallsUS, row.Faults = calls/1e3, samples.Median(faults)
	row.Percent = (calls + max(0, row.Faults)*fault) / samples.Median(used) * 100
	row.Ratio = samples.Median(ratio)
	row.Lo, row.Hi, row.Confidence = samples.Interval(ratio)
	row.Samples = len(ratio)
	return row, true
}

// futexLimit is the most that a mode may need: off's plus a tenth, or 30.
func futexLimit(off float64) float64 { return off + max(off/10, 30) }

// claim is a sentence that the numbers bear out or not, or that a run was too
// short to show.
type claim struct {
	Text, Detail string
	Holds, Open  bool
}

// claims checks what is said of the modes against the numbers.
func (r *report) claims(pipelines []pipeline) []claim {
	var out []claim
	add := func(holds bool, text, format string, args ...any) {
		out = append(out, claim{Text: text, Detail: fmt.Sprintf(format, args...), Holds: holds})
	}
	for _, m := range r.Modules {
		for _, row := range r.ledger(m, pipelines) {
			text := fmt.Sprintf("%s: %s with one worker takes %s", m.Name, row.Pipeline, row.Formula)
			if row.NotDone {
				out = append(out, claim{Text: text, Detail: fmt.Sprintf("not done in time; %d by then, %d predicted", row.Counted, row.Predicted), Open: true})
				continue
			}
			add(row.Exact, text, "predicted %d, counted %d in %d samples, %d of which differ", row.Predicted, row.Counted, row.Measured, row.Differing)
		}
		if n := m.most(seal); n >= 0 {
			add(n <= 3, m.Name+": seal takes at most 3 with any number of workers", "at most %d", n)
		}
		for _, name := range []string{dual, dualSlots} {
			if n := m.most(name); n >= 0 {
				add(n == 0, m.Name+": "+name+" takes none", "at most %d", n)
			}
		}
		for i := range ours {
			p := &ours[i]
			if p.Name != seal {
				continue
			}
			worst, rows := math.Inf(-1), 0
			for _, w := range r.Workers {
				if row, ok := r.cost(m, p, w); ok {
					worst, rows = max(worst, row.Percent), rows+1
				}
			}
			if rows > 0 {
				add(worst <= 1, m.Name+": the default's (seal's) own cost is at most 1 % of compile CPU", "at most %.2f %%", worst)
			}
		}
		for i := range ours {
			p := &ours[i]
			if p.Name != seal && p.Name != dual && p.Name != dualSlots && p.Name != pku {
				continue
			}
			over, rows := "", 0
			for _, w := range r.Workers {
				off, mode := samples.Median(m.find(p.Off, w).of(futex)), samples.Median(m.find(p.Name, w).of(futex))
				if math.IsNaN(off) || math.IsNaN(mode) || off < 0 {
					continue
				}
				rows++
				if mode > futexLimit(off) {
					over += fmt.Sprintf("%d workers: %.0f, off %.0f; ", w, mode, off)
				}
			}
			if rows > 0 {
				if over == "" {
					over = fmt.Sprintf("medians, %d numbers of workers", rows)
				}
				add(over[0] == 'm', m.Name+": futexes of "+p.Name+" are at most off's + max(10 %, 30)", "%s", over)
			}
		}
	}
	r.slopeClaims(add)
	if len(r.Agree) > 0 {
		bad := 0
		for _, a := range r.Agree {
			if a.Issued != a.Seen {
				bad++
			}
		}
		add(bad == 0, "mprotects issued are those that strace -f and perf stat see, to the call", "%d processes compared, %d differ", len(r.Agree), bad)
	}
	seen, bad := 0, 0
	for _, m := range r.Modules {
		for _, c := range m.Cells {
			for _, s := range c.Samples {
				if s.Formula == "" || s.Seen < 0 {
					continue
				}
				seen++
				if s.Seen != s.Code {
					bad++
				}
			}
		}
	}
	if seen > 0 {
		add(bad == 0, "mprotects issued are those that the kernel counts in the same process", "%d compiles, %d differ", seen, bad)
	}
	return out
}

// slopeRow is the growth of futexes with the number of functions.
type slopeRow struct {
	Pipeline          string
	Workers           int
	Idle              bool // more processors than workers
	Functions         []int
	Futex, GC, WallNS []float64
	PerThousand       float64 // functions
}

func (r *report) slopes() []slopeRow {
	var rows []slopeRow
	for _, idle := range []bool{false, true} {
		for _, name := range []string{offLinked, seal} {
			for _, w := range r.Workers {
				row := slopeRow{Pipeline: name, Workers: w, Idle: idle}
				var x []float64
				for _, c := range r.Slope {
					if c.Pipeline != name || c.Workers != w || c.Idle != idle {
						continue
					}
					row.Functions = append(row.Functions, c.Functions)
					x = append(x, float64(c.Functions)/1000)
					of := func(f func(sample) float64) float64 {
						var v []float64
						for _, s := range c.Samples {
							v = append(v, f(s))
						}
						return samples.Median(v)
					}
					row.Futex = append(row.Futex, of(futex))
					row.WallNS = append(row.WallNS, of(wall))
					row.GC = append(row.GC, of(func(s sample) float64 { return float64(s.GC) }))
				}
				if len(x) > 1 {
					row.PerThousand = leastSquares(x, row.Futex)
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

// slopeClaims: the largest module needs no more futexes than the smallest,
// but for what is allowed between modes. That is so when every processor has
// a worker. Go's scheduler wakes an idle one whenever it ends a time slice of
// 10 ms, which is a slope by time; there, protection must add nothing.
func (r *report) slopeClaims(add func(bool, string, string, ...any)) {
	rows := r.slopes()
	grows, more := "", ""
	busy, idle := 0, 0
	for i, row := range rows {
		if row.Pipeline != seal {
			continue
		}
		if !row.Idle {
			busy++
			if first, last := row.Futex[0], row.Futex[len(row.Futex)-1]; last > futexLimit(first) {
				grows += fmt.Sprintf("%d workers: %.0f to %.0f; ", row.Workers, first, last)
			}
			continue
		}
		idle++
		for _, off := range rows[:i] {
			if off.Pipeline != offLinked || !off.Idle || off.Workers != row.Workers {
				continue
			}
			for k := range min(len(row.Futex), len(off.Futex)) {
				if row.Futex[k] > futexLimit(off.Futex[k]) {
					more += fmt.Sprintf("%d workers, %d functions: %.0f, off %.0f; ", row.Workers, row.Functions[k], row.Futex[k], off.Futex[k])
				}
			}
		}
	}
	if busy > 0 {
		detail := grows
		if grows == "" {
			detail = fmt.Sprintf("seal, %d numbers of workers", busy)
		}
		add(grows == "", "futexes don't grow with the number of functions (10 % or 30 allowed), without collections and with no idle processor", "%s", detail)
	}
	if idle > 0 {
		detail := more
		if more == "" {
			detail = fmt.Sprintf("seal, %d numbers of workers", idle)
		}
		add(more == "", "with an idle processor, which Go's scheduler wakes every 10 ms, they grow as off's do", "%s", detail)
	}
}
