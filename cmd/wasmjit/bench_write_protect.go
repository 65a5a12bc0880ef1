package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/internal/samples"
)

// protectFlags are the flags of bench write-protect.
type protectFlags struct {
	engine    engineFlags
	syscalls  syscallFlag
	synthetic string
	modes     []string
	workers   []int
	count     int
	cellTime  time.Duration
	format    string
}

// protectModes are the rows of a table: every mode, and off once more with
// code that is published as that of the comparison modes is.
var protectModes = []string{"off", "off+slots", "fine", "hoisted", "seal", "dual", "pku"}

func newBenchWriteProtect(s streams) *cobra.Command {
	var f protectFlags
	c := &cobra.Command{
		Use:   "write-protect [FILE]",
		Short: "Compare the ways to protect code memory, by numbers of workers",
		Long: `Compiles a module in every mode of --write-protect-code-memory with 1 to 16
workers, in a fresh process per sample, all cells of the table by turns, and
prints one table. Without FILE it compiles the synthetic Unity module.

  compile ms    median of decoding, compiling, linking and publishing, and the
                interval that holds it with 95 % confidence (fewer than 6
                samples: their range)
  to off        median of the ratios to off, each to the sample of the same
                round and number of workers
  mprotects     calls that changed the protection of code
  locks         trips to the locks of the module's code memory, recursive ones
                too, and how many found somebody else inside
  futex         futex calls of the whole process: those of Go's scheduler,
                which parks threads, not goroutines; compare the locks
  W+X MB·s      code memory that was writable and executable, times how long
  W MB·s        code memory that was writable before it was published, times
                how long
  pages         the size of the pages that the code lies in; the comparison
                modes use small ones, since switching huge ones costs nothing

fine and hoisted are V8's pipelines before and after its change "Hoist
NativeModuleModificationScope" and publish through slots, as V8 does; off+slots
is what they compare with. Modes that this machine can't give are listed with
the reason.

--syscall-counters says how futex calls are counted: by the kernel's tracepoints
(perf), by a seccomp filter that traps them (seccomp), or not (off). auto takes
perf; where that isn't permitted, one more process per cell is counted by the
trap, which would slow the samples. What counting costs, measured on a virtual
machine: with perf a counted call takes 0.5 µs longer, with seccomp 4 µs, any
other call 0.05 µs for each kind that is counted; perf takes 1 ms to open, and
the process ends 40 ms later, except below this command, which keeps the
tracepoint in use. Only perf, asked for by name, tells apart by thread what
publishing does while others compile (compile --stats), which adds some ten
futex calls of its own. Calls on code memory are counted where wasmjit issues
them, which costs two readings of the clock each.`,
		Example: `  wasmjit bench write-protect
  wasmjit bench write-protect --workers=1,2 --modes=off,fine,hoisted,seal game.wasm
  wasmjit bench write-protect --format=markdown --count=9 game.wasm`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("bench write-protect takes one FILE, and %q is one too many", args[1])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, s, args) },
	}
	f.engine.register(c, "guard")
	for _, name := range []string{"jobs", "write-protect-code-memory"} {
		_ = c.Flags().MarkHidden(name) // this command's own to choose
	}
	f.syscalls.register(c)
	fs := c.Flags()
	fs.StringVar(&f.synthetic, "synthetic", "unity", "the generated module that is compiled without FILE: "+syntheticNames)
	fs.StringSliceVar(&f.modes, "modes", protectModes, "which modes to compare")
	fs.IntSliceVar(&f.workers, "workers", []int{1, 2, 4, 8, 16}, "numbers of workers")
	fs.IntVar(&f.count, "count", 5, "samples per cell")
	fs.DurationVar(&f.cellTime, "cell-time", 30*time.Second, "take no more samples of a cell that have taken this long")
	fs.StringVar(&f.format, "format", "table", "table, json, markdown or benchstat")
	return c
}

func (f *protectFlags) check(c *cobra.Command) error {
	if err := f.engine.check(); err != nil {
		return err
	}
	for _, name := range []string{"jobs", "write-protect-code-memory"} {
		if c.Flags().Changed(name) {
			return usagef("bench write-protect takes no --%s; it has --workers and --modes", name)
		}
	}
	if len(f.modes) == 0 || len(f.workers) == 0 {
		return usagef("--modes and --workers must not be empty")
	}
	for _, m := range f.modes {
		if !slices.Contains(protectModes, m) {
			return usagef("--modes must be some of %s, not %q", strings.Join(protectModes, ", "), m)
		}
	}
	for _, w := range f.workers {
		if w < 1 || w > 1024 {
			return usagef("--workers must be numbers from 1 to 1024, not %d", w)
		}
	}
	if f.count < 1 {
		return usagef("--count must be at least 1, not %d", f.count)
	}
	return checkFormat(f.format)
}

func (f *protectFlags) run(c *cobra.Command, s streams, args []string) error {
	if err := f.check(c); err != nil {
		return err
	}
	r := &protectResult{Schema: benchSchema, Version: version, Time: now(), Machine: thisMachine()}
	var modes []string
	for _, name := range f.modes {
		if reason := unavailable(name); reason != "" {
			r.Unavailable = append(r.Unavailable, missingMode{name, reason})
			continue
		}
		modes = append(modes, name)
	}
	if len(modes) == 0 {
		return fmt.Errorf("this machine can give none of these modes: %s", r.Unavailable[0].Reason)
	}
	subjects, err := openSubjects(s, args, f.synthetic)
	if err != nil {
		return err
	}
	defer closeSubjects(subjects)
	r.Module = subjects[0].name
	for _, w := range f.workers {
		for _, m := range modes {
			r.Cells = append(r.Cells, &cell{Mode: m, Workers: w})
		}
	}
	args = engineArgs(c)
	counters, why := countersFlag(f.syscalls.value)
	if err := f.measure(s, r, subjects[0], append(slices.Clone(args), "--syscall-counters="+counters)); err != nil {
		return err
	}
	if why != "" {
		r.trapFutexes(subjects[0], args, why)
	}
	r.compareToOff()
	return r.write(s.out, f.format)
}

// unavailable says why this machine can't give a mode, "" if it can.
func unavailable(name string) string {
	plain, _, _ := strings.Cut(name, "+")
	mode, err := codemem.ParseMode(plain)
	if err == nil {
		err = codemem.Check(mode)
	}
	var e *codemem.ModeError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e) && e.Reason != "" && e.Err != nil:
		return oneLine(e.Reason + " (" + e.Err.Error() + ")")
	case errors.As(err, &e) && e.Reason != "":
		return oneLine(e.Reason)
	}
	return oneLine(err.Error())
}

// trapFutexes counts the futex calls of one more process per cell by the trap
// that would have slowed the samples.
func (r *protectResult) trapFutexes(sub subject, args []string, why string) {
	for _, c := range r.Cells {
		got, err := compileOnce(sub, 1, append(append(c.args(), args...), "--syscall-counters=seccomp")...)
		if err != nil {
			r.Note = "futex: n/a (perf: " + why + "; seccomp: " + oneLine(err.Error()) + ")"
			return
		}
		c.Futexes = []float64{float64(got[0].Counters.Futex)}
	}
	r.Note = "futex calls are of one more process per cell, counted by a seccomp trap, since perf isn't permitted: " + why
}

// measure takes the samples by rounds: in each a sample of every cell, and
// each round begins with another cell.
func (f *protectFlags) measure(s streams, r *protectResult, sub subject, args []string) error {
	bar := newProgress(s.err, f.engine.progress)
	defer bar.stop()
	// The first process of all finds cold caches.
	if _, err := compileOnce(sub, 1, append(r.Cells[0].args(), args...)...); err != nil {
		return err
	}
	spent := map[*cell]time.Duration{}
	total := f.count * len(r.Cells)
	for round := range f.count {
		for i := range r.Cells {
			c := r.Cells[(i+round)%len(r.Cells)]
			if bar != nil {
				bar.set(round*len(r.Cells)+i, total)
			}
			if spent[c] >= f.cellTime {
				continue
			}
			start := time.Now()
			got, err := compileOnce(sub, 1, append(c.args(), args...)...)
			if err != nil {
				return err
			}
			spent[c] += time.Since(start)
			c.add(round, &got[0])
			if r.CodeBytes == 0 {
				m := &got[0].Module
				r.Functions, r.CodeBytes, r.SHA256 = m.Functions, m.CodeBytes, m.SHA256
			}
		}
		r.Machine.reference()
	}
	return nil
}

// args are the flags of a child for this cell. What the user chose for
// --publish stands behind them and wins.
func (c *cell) args() []string {
	mode, slots, _ := strings.Cut(c.Mode, "+")
	args := []string{"--write-protect-code-memory=" + mode, "-j", strconv.Itoa(c.Workers)}
	if slots != "" {
		args = append(args, "--publish="+slots)
	}
	return args
}

// compareToOff sets every cell beside off at the same number of workers.
func (r *protectResult) compareToOff() {
	for _, c := range r.Cells {
		for _, off := range r.Cells {
			if off.Mode == "off" && off.Workers == c.Workers {
				c.Ratios = c.ratiosTo(off)
			}
		}
	}
}

// ratiosTo divides the samples of rounds that both cells have.
func (c *cell) ratiosTo(off *cell) []float64 {
	var x, y []float64
	for i, round := range c.Rounds {
		if j := slices.Index(off.Rounds, round); j >= 0 {
			x, y = append(x, c.Wall[i]), append(y, off.Wall[j])
		}
	}
	return samples.Ratios(x, y)
}
