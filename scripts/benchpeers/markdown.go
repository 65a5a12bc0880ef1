package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/wasmjit/wasmjit/internal/measure"
	"github.com/wasmjit/wasmjit/internal/samples"
)

// markdown writes the tables of PERF.md.
func (r *report) markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; medians of %d rounds by turns.\n", r.Machine, r.Rounds)
	fmt.Fprintf(&b, "%s; %s; %s; wazero %s.\n", r.Engines[wasmjit], orMissing(r.Engines[liftoffV8]), orMissing(r.Engines[spidermonkey]), r.Engines[wazeroEngine])
	r.compileTable(&b)
	r.runTable(&b)
	if len(r.Missing) > 0 {
		b.WriteString("\nNot measured:\n\n")
		for _, m := range r.Missing {
			fmt.Fprintf(&b, "- %s\n", m)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func orMissing(s string) string {
	if s == "" {
		return "missing"
	}
	return s
}

var compilers = []string{wasmjit, liftoffV8, spidermonkey, wazeroEngine}

func (r *report) compileTable(b *strings.Builder) {
	if len(r.Compile) == 0 {
		return
	}
	b.WriteString("\nMB/s of code section by wall time (by processor time); ratios are wasmjit's speed to the other's, paired; bytes are of code per byte of code section.\n\n")
	b.WriteString("| module (code MB) | threads | wasmjit | V8 Liftoff | SpiderMonkey | wazero | : V8 wall (CPU) | : SM wall (CPU) | : wazero wall (CPU) | bytes out / in: wasmjit, V8, SM, wazero | : V8 | peak RSS MB: wasmjit, V8, SM, wazero | : V8 |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, threads := range []string{"1", "all"} {
		ratios := map[string][]float64{}
		for _, row := range r.Compile {
			fmt.Fprintf(b, "| %s (%.1f) | %s |", row.Module, float64(row.CodeBytes)/1e6, threads)
			code := float64(row.CodeBytes)
			for _, e := range compilers {
				s := row.Samples[e+"/"+threads]
				fmt.Fprintf(b, " %s (%s) |", measure.Number("%.1f", code/samples.Median(each(s, wall))*1e3), measure.Number("%.1f", code/samples.Median(each(s, cpu))*1e3))
			}
			ours := row.Samples[wasmjit+"/"+threads]
			for _, e := range compilers[1:] {
				w, c := paired(row.Samples[e+"/"+threads], ours, wall), paired(row.Samples[e+"/"+threads], ours, cpu)
				ratios[e+" wall"] = append(ratios[e+" wall"], w)
				ratios[e+" cpu"] = append(ratios[e+" cpu"], c)
				fmt.Fprintf(b, " %s (%s) |", measure.Number("%.2f", w), measure.Number("%.2f", c))
			}
			var out, peaks []string
			for _, e := range compilers {
				n := math.NaN()
				if row.Emitted[e] > 0 {
					n = float64(row.Emitted[e]) / code
				}
				out = append(out, measure.Number("%.2f", n))
				peaks = append(peaks, measure.Number("%.0f", samples.Median(each(row.Samples[e+"/"+threads], rss))/1e6))
			}
			bytes := math.NaN()
			if n := row.Emitted[liftoffV8]; n > 0 {
				bytes = float64(row.Emitted[wasmjit]) / float64(n)
			}
			memory := paired(ours, row.Samples[liftoffV8+"/"+threads], rss)
			ratios["bytes"] = append(ratios["bytes"], bytes)
			ratios["rss"] = append(ratios["rss"], memory)
			fmt.Fprintf(b, " %s | %s | %s | %s |\n", strings.Join(out, ", "), measure.Number("%.2f", bytes), strings.Join(peaks, ", "), measure.Number("%.2f", memory))
		}
		fmt.Fprintf(b, "| geometric mean | %s | | | | |", threads)
		for _, e := range compilers[1:] {
			fmt.Fprintf(b, " %s (%s) |", measure.Number("%.2f", geomean(ratios[e+" wall"])), measure.Number("%.2f", geomean(ratios[e+" cpu"])))
		}
		fmt.Fprintf(b, " | %s | | %s |\n", measure.Number("%.2f", geomean(ratios["bytes"])), measure.Number("%.2f", geomean(ratios["rss"])))
	}
}

var runners = []string{wasmjit, liftoffV8, turbofan, wazeroEngine}

func (r *report) runTable(b *strings.Builder) {
	if len(r.Run) == 0 {
		return
	}
	b.WriteString("\nms of processor time in `_start`; ratios are the other's time to wasmjit's, paired, over 1 where wasmjit is faster.\n\n")
	b.WriteString("| program | wasmjit | V8 Liftoff | V8 TurboFan | wazero | Liftoff : wasmjit | TurboFan : wasmjit | wazero : wasmjit |\n|---|---|---|---|---|---|---|---|\n")
	ratios := map[string][]float64{}
	for _, row := range r.Run {
		fmt.Fprintf(b, "| %s |", row.Program)
		for _, e := range runners {
			fmt.Fprintf(b, " %s |", measure.Number("%.0f", samples.Median(each(row.Samples[e], cpu))/1e6))
		}
		for _, e := range runners[1:] {
			q := paired(row.Samples[e], row.Samples[wasmjit], cpu)
			ratios[e] = append(ratios[e], q)
			fmt.Fprintf(b, " %s |", measure.Number("%.2f", q))
		}
		b.WriteString("\n")
	}
	b.WriteString("| geometric mean | | | | |")
	for _, e := range runners[1:] {
		fmt.Fprintf(b, " %s |", measure.Number("%.2f", geomean(ratios[e])))
	}
	b.WriteString("\n")
	ahead := 0
	for _, q := range ratios[wazeroEngine] {
		if q >= 1 {
			ahead++
		}
	}
	fmt.Fprintf(b, "\nAt least as fast as wazero on %d of %d programs.\n", ahead, len(r.Run))
}
