package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/wasmjit/wasmjit/internal/samples"
)

// write prints the result in one of the formats.
func (r *benchResult) write(w io.Writer, format string) error {
	switch format {
	case "json":
		return r.writeJSON(w)
	case "benchstat":
		r.writeBenchstat(w)
		return nil
	}
	for _, b := range r.Benchmarks {
		b.writeTable(w, format == "markdown")
	}
	return nil
}

// render prints a table in the format of the terminal or in Markdown.
func render(t table.Writer, w io.Writer, markdown bool) {
	if !markdown {
		t.Render()
		return
	}
	t.SetOutputMirror(nil)
	printf(w, "%s\n\n", t.RenderMarkdown())
}

func (b *benchmark) writeTable(w io.Writer, markdown bool) {
	how := "a fresh process each"
	if b.Process == sameProcess {
		how = "in one process"
	}
	n := len(b.engine())
	_, _, confidence := samples.Interval(b.engine())
	printf(w, "%s: code section of %s bytes, %d %s, %s; %d %s, code memory %s\n", oneLine(displayName(b.Module)),
		thousands(b.CodeBytes), n, plural(n, "sample"), how, b.Workers, plural(b.Workers, "worker"), b.Mode)
	if markdown {
		printf(w, "\n")
	}
	t := newTable(w, "phase", "median ms", sprintf("%.0f %% interval", 100*confidence), "± %", "minimum", "CPU ms", "MB/s")
	for _, name := range benchPhases {
		s := b.Phases[name]
		if s == nil || len(s.Wall) == 0 {
			continue
		}
		title, speed := name, ""
		switch name {
		case engineSum:
			t.AppendSeparator()
			title = "without read and free"
			fallthrough
		case "compile":
			speed = sprintf("%.1f", mbPerS(b.CodeBytes, int64(samples.Median(s.Wall))))
		}
		lo, hi, _ := samples.Interval(s.Wall)
		t.AppendRow(table.Row{title, millis(samples.Median(s.Wall)), millis(lo) + " - " + millis(hi),
			sprintf("%.1f", 100*samples.Spread(s.Wall)), millis(samples.Min(s.Wall)), millis(samples.Median(s.CPU)), speed})
	}
	render(t, w, markdown)
	rss := ""
	if len(b.RSSPeak) > 0 {
		rss = sprintf(", peak RSS %.1f MB", samples.Median(b.RSSPeak)/1e6)
	}
	printf(w, "%s bytes of code; medians: %s mprotects on code, %s futex calls, %s page faults, %s GC cycles%s\n\n",
		thousands(b.EmittedBytes), counted(b.Mprotects), counted(b.Futexes), counted(b.PageFaults), counted(b.GCCycles), rss)
}

// millis writes ns in ms, with three digits that mean something.
func millis(ns float64) string {
	switch ms := ns / 1e6; {
	case ms < 1:
		return sprintf("%.3f", ms)
	case ms < 10:
		return sprintf("%.2f", ms)
	default:
		return sprintf("%.1f", ms)
	}
}

// writeBenchstat prints a line per sample in the format of Go's benchmarks,
// https://go.dev/design/14313-benchmark-format, which benchstat reads.
func (r *benchResult) writeBenchstat(w io.Writer) {
	r.Machine.writeConfig(w)
	for _, b := range r.Benchmarks {
		for i, ns := range b.engine() {
			l := benchLine{name: "Compile/" + b.key()}
			l.add(ns, "ns/op")
			l.add(mbPerS(b.CodeBytes, int64(ns)), "MB/s")
			for _, phase := range benchPhases {
				if s := b.Phases[phase]; phase != engineSum && s != nil && i < len(s.Wall) {
					l.add(s.Wall[i], phase+"-ns/op")
				}
			}
			l.addAt(b.Mprotects, i, "mprotect/op")
			l.addAt(b.Futexes, i, "futex/op")
			l.addAt(b.PageFaults, i, "faults/op")
			l.addAt(b.RSSPeak, i, "peak-RSS-bytes")
			l.add(float64(b.EmittedBytes), "code-bytes")
			l.write(w)
		}
	}
}

// writeConfig prints the configuration lines of Go's format.
func (m *machine) writeConfig(w io.Writer) {
	printf(w, "goos: %s\ngoarch: %s\npkg: github.com/wasmjit/wasmjit/cmd/wasmjit\n", m.OS, m.Arch)
	if m.CPU != "" {
		printf(w, "cpu: %s\n", m.CPU)
	}
}

// benchLine is one line of Go's benchmark format.
type benchLine struct {
	name   string
	values strings.Builder
}

func (l *benchLine) add(v float64, unit string) {
	format := " %.0f %s"
	if unit == "MB/s" || v != float64(int64(v)) {
		format = " %.3f %s"
	}
	fmt.Fprintf(&l.values, format, v, unit)
}

// addAt adds the i-th of counts that may be missing.
func (l *benchLine) addAt(x []float64, i int, unit string) {
	if i < len(x) {
		l.add(x[i], unit)
	}
}

func (l *benchLine) write(w io.Writer) { printf(w, "Benchmark%s 1%s\n", l.name, l.values.String()) }
