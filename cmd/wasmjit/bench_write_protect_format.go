package main

import (
	"encoding/json"
	"io"
	"math"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/wasmjit/wasmjit/internal/samples"
)

// protectResult is what bench write-protect measured.
type protectResult struct {
	Schema      int           `json:"schema"`
	Version     string        `json:"wasmjit"`
	Time        time.Time     `json:"time"`
	Machine     machine       `json:"machine"`
	Module      string        `json:"module"`
	SHA256      string        `json:"sha256"`
	Functions   int           `json:"functions"`
	CodeBytes   int64         `json:"code_bytes"`
	Cells       []*cell       `json:"cells"`
	Unavailable []missingMode `json:"unavailable,omitempty"`
	// Note says where futex figures come from, if not from the samples.
	Note string `json:"note,omitempty"`
}

// missingMode is a mode that this machine can't give.
type missingMode struct {
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
}

// cell holds the samples of one mode and number of workers.
type cell struct {
	Mode    string `json:"mode"`
	Workers int    `json:"workers"`
	Rounds  []int  `json:"rounds"` // which round each sample is of

	Wall   []float64 `json:"engine_wall_ns"`
	CPU    []float64 `json:"engine_cpu_ns"`
	Ratios []float64 `json:"ratios_to_off,omitempty"` // of the rounds that both have

	Mprotects []float64 `json:"mprotects_on_code"`
	Pkey      []float64 `json:"pkey_mprotects"`
	SyscallNs []float64 `json:"codemem_syscall_ns"`
	Trips     []float64 `json:"lock_trips"`
	Contended []float64 `json:"lock_contended"`
	WaitNs    []float64 `json:"lock_wait_ns"`
	Futexes   []float64 `json:"futexes,omitempty"`
	GCCycles  []float64 `json:"gc_cycles"`

	// Byte seconds.
	WritableExecutable  []float64 `json:"writable_executable_byte_s"`
	WritableUnpublished []float64 `json:"writable_unpublished_byte_s"`
	// Share of the compile during which any code was writable and executable.
	OpenShare []float64 `json:"writable_executable_share"`

	Batches      []float64 `json:"batches"`
	Publications []float64 `json:"publications"`
	Pages        string    `json:"page_size"`
}

// add takes one sample over.
func (c *cell) add(round int, s *stats) {
	p := &s.Protection
	trips, contended, wait := p.trips()
	var pkey, cycles int64
	for _, phase := range s.Phases {
		pkey += phase.Codemem.PkeyMprotect.Calls
		cycles += phase.GCCycles
	}
	c.Rounds = append(c.Rounds, round)
	for _, v := range []struct {
		to *[]float64
		v  float64
	}{
		{&c.Wall, float64(s.EngineWallNs)}, {&c.CPU, float64(s.EngineCPUNs)},
		{&c.Mprotects, float64(s.Codemem.Mprotect)}, {&c.Pkey, float64(pkey)},
		{&c.SyscallNs, float64(s.Codemem.SyscallNs)},
		{&c.Trips, float64(trips)}, {&c.Contended, float64(contended)}, {&c.WaitNs, float64(wait)},
		{&c.GCCycles, float64(cycles)},
		{&c.WritableExecutable, p.WritableExecutable}, {&c.WritableUnpublished, p.WritableUnpublished},
		{&c.OpenShare, float64(p.ExecutableNs) / float64(max(s.EngineWallNs, 1))},
		{&c.Batches, float64(p.Batches)}, {&c.Publications, float64(p.Publications)},
	} {
		*v.to = append(*v.to, v.v)
	}
	if s.Counters.Futex >= 0 {
		c.Futexes = append(c.Futexes, float64(s.Counters.Futex))
	}
	c.Pages = p.pageSize()
}

func (r *protectResult) write(w io.Writer, format string) error {
	switch format {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(r)
	case "benchstat":
		r.writeBenchstat(w)
		return nil
	}
	r.writeTable(w, format == "markdown")
	return nil
}

func (r *protectResult) writeTable(w io.Writer, markdown bool) {
	printf(w, "%s: %s functions, code section of %s bytes; %d processors\n", oneLine(displayName(r.Module)),
		thousands(int64(r.Functions)), thousands(r.CodeBytes), r.Machine.CPUs)
	gap := ""
	if markdown {
		gap = "\n"
	}
	printf(w, "%s", gap)
	t := newTable(w, "mode", "workers", "compile ms", "interval", "n", "to off", "interval", "mprotects", "locks", "contended",
		"futex", "W+X MB·s", "W MB·s", "pages")
	for i, c := range r.Cells {
		if i > 0 && c.Workers != r.Cells[i-1].Workers {
			t.AppendSeparator()
		}
		lo, hi, _ := samples.Interval(c.Wall)
		ratio, between := "", ""
		if len(c.Ratios) > 0 {
			a, b, _ := samples.Interval(c.Ratios)
			ratio, between = sprintf("%.2f", samples.Median(c.Ratios)), sprintf("%.2f - %.2f", a, b)
		}
		t.AppendRow(table.Row{c.Mode, c.Workers, millis(samples.Median(c.Wall)), millis(lo) + " - " + millis(hi), len(c.Wall),
			ratio, between, counted(c.Mprotects), counted(c.Trips), counted(c.Contended), counted(c.Futexes),
			sprintf("%.3f", samples.Median(c.WritableExecutable)/1e6), sprintf("%.3f", samples.Median(c.WritableUnpublished)/1e6), c.Pages})
	}
	render(t, w, markdown)
	for _, m := range r.Unavailable {
		printf(w, "%s: not on this machine: %s\n%s", m.Mode, oneLine(m.Reason), gap)
	}
	if r.Note != "" {
		printf(w, "%s\n%s", r.Note, gap)
	}
	for _, line := range r.explain() {
		printf(w, "%s\n%s", line, gap)
	}
}

// explain says in words what the figures of this run show.
func (r *protectResult) explain() []string {
	var lines []string
	if few, many := r.ends("fine"); few != nil && few != many {
		f, m := samples.Median(few.Mprotects), samples.Median(many.Mprotects)
		open := sprintf("some code was writable and executable for %.0f %% of the time with %s and for %.0f %% with %s",
			100*samples.Median(few.OpenShare), workers(few.Workers), 100*samples.Median(many.OpenShare), workers(many.Workers))
		if m < f {
			lines = append(lines, sprintf("The paradox of fine: with %s it switches %s times, with %s only %s times, and that is no progress. "+
				"Scopes of several workers overlap, a writer count leaves the switches to the first and the last of them, and between these "+
				"all code stays writable to every thread: %s. More workers, fewer switches, less protection: this is why V8 gave mprotect up.",
				workers(few.Workers), thousands(int64(math.Round(f))), workers(many.Workers), thousands(int64(math.Round(m))), open))
		} else {
			lines = append(lines, sprintf("fine switches %s times with %s and %s times with %s: on this machine the scopes hardly overlap; %s. "+
				"Where they do, more workers mean fewer switches, because code simply stays writable.",
				thousands(int64(math.Round(f))), workers(few.Workers), thousands(int64(math.Round(m))), workers(many.Workers), open))
		}
	}
	if fine, _ := r.ends("fine"); fine != nil {
		if hoisted, _ := r.ends("hoisted"); hoisted != nil {
			lines = append(lines, sprintf("hoisted opens the same scopes outside of the loops: %s switches instead of %s with %s.",
				counted(hoisted.Mprotects), counted(fine.Mprotects), workers(fine.Workers)))
		}
	}
	if seal, many := r.ends("seal"); seal != nil {
		all := calls(seal) + " with " + workers(seal.Workers)
		if many != seal {
			all += ", " + calls(many) + " with " + workers(many.Workers)
		}
		lines = append(lines, "seal makes code executable once and never writable again: "+all+", and no moment of W+X.")
	}
	return lines
}

// calls words the mprotects of a cell.
func calls(c *cell) string {
	n := counted(c.Mprotects)
	if n == "1" {
		return "1 mprotect"
	}
	return n + " mprotects"
}

func workers(n int) string { return sprintf("%d %s", n, plural(n, "worker")) }

// ends finds the cells of a mode with the fewest and the most workers.
func (r *protectResult) ends(mode string) (few, many *cell) {
	for _, c := range r.Cells {
		if c.Mode != mode || len(c.Wall) == 0 {
			continue
		}
		if few == nil || c.Workers < few.Workers {
			few = c
		}
		if many == nil || c.Workers > many.Workers {
			many = c
		}
	}
	return few, many
}

func (r *protectResult) writeBenchstat(w io.Writer) {
	r.Machine.writeConfig(w)
	for _, c := range r.Cells {
		for i, ns := range c.Wall {
			l := benchLine{name: sprintf("WriteProtect/module=%s/mode=%s/workers=%d", benchName(r.Module), c.Mode, c.Workers)}
			l.add(ns, "ns/op")
			l.add(mbPerS(r.CodeBytes, int64(ns)), "MB/s")
			l.add(c.Mprotects[i], "mprotect/op")
			l.add(c.Trips[i], "locks/op")
			l.add(c.Contended[i], "contended/op")
			l.addAt(c.Futexes, i, "futex/op")
			l.add(c.WritableExecutable[i], "WX-byte-s")
			l.add(c.WritableUnpublished[i], "W-byte-s")
			l.write(w)
		}
	}
}
