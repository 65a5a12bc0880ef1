package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// module is a module and the samples of every pipeline by number of workers.
type module struct {
	Name  string  `json:"name"`
	Cells []*cell `json:"cells"`
}

type cell struct {
	Pipeline string   `json:"pipeline"`
	Workers  int      `json:"workers"`
	Samples  []sample `json:"samples"`
	// Rounds are those in which the samples were taken.
	Rounds []int `json:"rounds"`

	pipe *pipeline
}

// compiles measures every module with every pipeline and number of workers by
// turns. The first round is always whole; more follow until the samples are
// enough or the time is up.
func (r *report) compiles(o *options, t *tools, names []string, end time.Time) error {
	base, err := t.empty(o, r.Workers)
	if err != nil {
		return err
	}
	for _, name := range names {
		m := &module{Name: name}
		for _, w := range r.Workers {
			for i := range t.pipelines {
				p := &t.pipelines[i]
				m.Cells = append(m.Cells, &cell{Pipeline: p.Name, Workers: w, pipe: p})
			}
		}
		r.Modules = append(r.Modules, m)
	}
	for round := range max(o.samples, o.v8Samples) {
		for _, m := range r.Modules {
			order := slices.Clone(m.Cells)
			if round%2 == 1 {
				slices.Reverse(order)
			}
			for _, c := range order {
				if round > 0 && (time.Now().After(end) || c.enough(o)) {
					continue
				}
				s, err := t.compile(c.pipe, file(o, m.Name), c.Workers, o.timeout)
				if err != nil {
					return err
				}
				if c.pipe.v8() && s.Code >= 0 {
					s.Code -= base[baseKey{c.Pipeline, c.Workers}]
				}
				c.Samples = append(c.Samples, s)
				c.Rounds = append(c.Rounds, round)
				if o.verbose {
					fmt.Fprintf(os.Stderr, "%s %s %d: %.1f ms, %d mprotects, %d futexes\n", m.Name, c.Pipeline, c.Workers, float64(s.WallNS)/1e6, s.Code, s.Futex)
				}
			}
		}
	}
	return nil
}

func file(o *options, name string) string { return o.corpus + "/" + name + ".wasm" }

// enough reports whether a cell needs no further sample.
func (c *cell) enough(o *options) bool {
	if len(c.Samples) > 0 && time.Duration(c.Samples[0].WallNS) > o.once {
		return true
	}
	if c.pipe.v8() {
		return len(c.Samples) >= o.v8Samples
	}
	return len(c.Samples) >= o.samples
}

type baseKey struct {
	pipeline string
	workers  int
}

// empty counts the executable mprotects of V8 with an empty module: those of
// its JavaScript heap.
func (t *tools) empty(o *options, workers []int) (map[baseKey]int64, error) {
	base := map[baseKey]int64{}
	if !t.perf {
		return base, nil
	}
	for i := range t.pipelines {
		p := &t.pipelines[i]
		if !p.v8() {
			continue
		}
		for _, w := range workers {
			s, err := t.compile(p, "-", w, o.timeout)
			if err != nil {
				return nil, err
			}
			base[baseKey{p.Name, w}] = s.Code
		}
	}
	return base, nil
}

// find gives a cell of a module, nil if it wasn't measured.
func (m *module) find(pipeline string, workers int) *cell {
	for _, c := range m.Cells {
		if c.Pipeline == pipeline && c.Workers == workers {
			return c
		}
	}
	return nil
}

// of lists a figure of the samples.
func (c *cell) of(f func(sample) float64) []float64 {
	if c == nil {
		return nil
	}
	v := make([]float64, len(c.Samples))
	for i, s := range c.Samples {
		v[i] = f(s)
	}
	return v
}

// pairs calls f with the samples that two cells took in the same round.
func pairs(a, b *cell, f func(x, y sample)) {
	if a == nil || b == nil {
		return
	}
	for i, round := range a.Rounds {
		if j := slices.Index(b.Rounds, round); j >= 0 {
			f(a.Samples[i], b.Samples[j])
		}
	}
}

func wall(s sample) float64  { return float64(s.WallNS) }
func cpu(s sample) float64   { return float64(s.CPUNS) }
func code(s sample) float64  { return float64(s.Code) }
func futex(s sample) float64 { return float64(s.Futex) }
func wx(s sample) float64    { return s.WX }
func wu(s sample) float64    { return s.WU }

// open is the share of the compile in which some code was writable and
// executable.
func open(s sample) float64 { return float64(s.WXNS) / float64(s.WallNS) }
