package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/internal/samples"
)

// Ways to repeat a compile.
const (
	freshProcess = "fresh" // a process per sample
	sameProcess  = "same"  // one process for all samples, the first dropped
)

// benchFlags are the flags of bench.
type benchFlags struct {
	engine    engineFlags
	syscalls  syscallFlag
	synthetic string
	count     int
	process   string
	format    string
	save      string
	baseline  string
	failAbove string
}

func newBench(s streams) *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench [FILE...]",
		Short: "Compile modules again and again, and compare with a baseline",
		Long: `Compiles each module several times, in a fresh process each time and again
and again in one process, and prints per phase the median of the wall time, the
interval that holds the median of the distribution with 95 % confidence, the
minimum, and the throughput. Modules take turns, so that a disturbance of the
machine hits all alike. Without FILE a synthetic module of the shape of a Unity
game is compiled. - is standard input.

--baseline compares with the JSON that --save (or --format=json) wrote earlier.
With --fail-above the exit code is 4 if a module compiles slower than in the
baseline by more than that, or if more code is emitted by more than that. Times
count as slower only if the median and the minimum are both higher by more than
the limit, and a Mann-Whitney test with exact probabilities refuses at the 1 %
level that the samples come from the baseline's distribution stretched by the
limit; this both for the times as they are and in units of a reference load
that was measured beside each sample, in case the machine is another or slower
today; and then again for a second series of samples that is measured only to
confirm the first. A baseline measured in the same job on the same machine is
the best one; fewer than 5 samples on either side decide nothing.`,
		Example: `  wasmjit bench game.wasm
  wasmjit bench --count=20 --process=fresh -j1 a.wasm b.wasm
  wasmjit bench --format=benchstat game.wasm > new.txt && benchstat old.txt new.txt
  wasmjit bench --save=old.json game.wasm
  wasmjit bench --baseline=old.json --fail-above=5% game.wasm`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, s, args) },
	}
	f.engine.register(c, "guard")
	f.syscalls.register(c)
	fs := c.Flags()
	fs.StringVar(&f.synthetic, "synthetic", "unity", "the generated module that is compiled without FILE: "+syntheticNames)
	fs.IntVar(&f.count, "count", 10, "number of samples")
	fs.StringVar(&f.process, "process", "both", "fresh (a process per sample), same (one process, its first compile not counted) or both")
	fs.StringVar(&f.format, "format", "table", "table, json, markdown or benchstat")
	fs.StringVar(&f.save, "save", "", "write the result to this file as JSON, too")
	fs.StringVar(&f.baseline, "baseline", "", "compare with the result in this file")
	fs.StringVar(&f.failAbove, "fail-above", "", "exit code 4 if slower than the baseline by more than this, e.g. 5%")
	c.AddCommand(newBenchWriteProtect(s), newBenchChurn(s))
	return c
}

func (f *benchFlags) run(c *cobra.Command, s streams, args []string) error {
	limit, err := f.check()
	if err != nil {
		return err
	}
	var old *benchResult
	if f.baseline != "" {
		if old, err = readBenchResult(f.baseline); err != nil {
			return err
		}
	}
	subjects, err := openSubjects(s, args, f.synthetic)
	if err != nil {
		return err
	}
	defer closeSubjects(subjects)

	counters, _ := countersFlag(f.syscalls.value)
	childArgs := append(engineArgs(c), "--syscall-counters="+counters)
	r := &benchResult{Schema: benchSchema, Version: version, Time: now(), Machine: thisMachine()}
	r.Benchmarks = f.benchmarks(subjects)
	if err := r.measure(s, f.engine.progress, f.count, childArgs); err != nil {
		return err
	}
	if f.save != "" {
		if err := saveTo(f.save, r); err != nil {
			return err
		}
	}
	if err := r.write(s.out, f.format); err != nil || old == nil {
		return err
	}
	// Machine-readable output stays alone on stdout.
	to := s.out
	if f.format != "table" && f.format != "markdown" {
		to = s.err
	}
	again := func(which []*benchmark) (*benchResult, error) {
		printf(to, "measuring again to confirm\n")
		second := &benchResult{Machine: thisMachine(), Benchmarks: which}
		return second, second.measure(s, f.engine.progress, f.count, childArgs)
	}
	return compareWith(to, old, r, limit, f.failAbove != "", f.format == "markdown", again)
}

// check reports values that no flag type catches, and gives --fail-above as a
// number.
func (f *benchFlags) check() (limit float64, err error) {
	if err := f.engine.check(); err != nil {
		return 0, err
	}
	if f.count < 1 {
		return 0, usagef("--count must be at least 1, not %d", f.count)
	}
	switch f.process {
	case freshProcess, sameProcess, "both":
	default:
		return 0, usagef("--process must be fresh, same or both, not %q", f.process)
	}
	if err := checkFormat(f.format); err != nil {
		return 0, err
	}
	if f.failAbove == "" {
		return 0, nil
	}
	if f.baseline == "" {
		return 0, usagef("--fail-above needs --baseline")
	}
	if f.count < samples.Needed {
		return 0, usagef("--fail-above needs --count=%d at least: fewer samples decide nothing", samples.Needed)
	}
	return parsePercent(f.failAbove)
}

func checkFormat(format string) error {
	switch format {
	case "table", "json", "markdown", "benchstat":
		return nil
	}
	return usagef("--format must be table, json, markdown or benchstat, not %q", format)
}

// benchmarks lists what to measure.
func (f *benchFlags) benchmarks(subjects []subject) []*benchmark {
	var all []*benchmark
	for _, sub := range subjects {
		for _, process := range []string{freshProcess, sameProcess} {
			if f.process == process || f.process == "both" {
				all = append(all, &benchmark{Module: sub.name, Process: process, subject: sub})
			}
		}
	}
	return all
}

// measure takes count samples of every benchmark: the fresh processes by
// turns, then the same ones.
func (r *benchResult) measure(s streams, progress string, count int, args []string) error {
	steps, done := 0, 0
	for _, b := range r.Benchmarks {
		steps++
		if b.Process == freshProcess {
			steps += count - 1
		}
	}
	bar := newProgress(s.err, progress)
	defer bar.stop()
	sample := func(b *benchmark, n int) error {
		r.Machine.reference()
		got, err := compileOnce(b.subject, n, args...)
		if err != nil {
			return err
		}
		for i := range got {
			// The first of several is a warm-up.
			if n == 1 || i > 0 {
				b.add(&got[i])
			}
		}
		done++
		if bar != nil {
			bar.set(done, steps)
		}
		return nil
	}
	// The first process of all finds cold caches.
	if _, err := compileOnce(r.Benchmarks[0].subject, 1, args...); err != nil {
		return err
	}
	for range count {
		for _, b := range r.Benchmarks {
			if b.Process == freshProcess {
				if err := sample(b, 1); err != nil {
					return err
				}
			}
		}
	}
	for _, b := range r.Benchmarks {
		if b.Process == sameProcess {
			if err := sample(b, count+1); err != nil {
				return err
			}
		}
	}
	r.Machine.reference()
	return nil
}

func saveTo(path string, r *benchResult) error {
	file, err := os.Create(path)
	if err != nil {
		return inFile(path, err)
	}
	err = r.writeJSON(file)
	if e := file.Close(); err == nil {
		err = e
	}
	return inFile(path, err)
}
