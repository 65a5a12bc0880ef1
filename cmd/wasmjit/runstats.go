package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/syscount"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// runStatsFlags are the flags of run that ask what it cost.
type runStatsFlags struct {
	stats    string
	file     string
	syscalls syscallFlag
	trace    traceFlag
}

func (f *runStatsFlags) register(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.stats, "stats", "", "print what compiling and running cost at the end, as table or json, on stderr")
	fs.Lookup("stats").NoOptDefVal = "table"
	fs.StringVar(&f.file, "stats-file", "", "write that to this file instead, as JSON unless --stats says otherwise")
	f.syscalls.register(c)
	f.trace.register(c)
}

// runStats measures a run. A nil one, when nobody asked, does nothing.
type runStats struct {
	meter *meter
	json  bool
	to    io.Writer
	file  *os.File
	st    *stats // nil until the module is compiled
	stop  func() error
}

// start begins to measure if the flags ask for it.
func (f *runStatsFlags) start(s streams) (*runStats, error) {
	if f.stats == "" && f.file == "" && f.trace.path == "" {
		return nil, nil
	}
	r := &runStats{to: s.err, json: f.stats == "json" || f.stats == ""}
	switch f.stats {
	case "", "table", "json":
	default:
		return nil, usagef("--stats must be table or json, not %q", f.stats)
	}
	if f.stats == "" && f.file == "" {
		r.to = io.Discard // only the trace is wanted
	}
	if f.file != "" {
		file, err := os.Create(f.file)
		if err != nil {
			return nil, inFile(f.file, err)
		}
		r.file, r.to = file, file
	}
	var err error
	if r.meter, err = newMeter(f.syscalls.value, syscount.Mprotect, syscount.Futex); err == nil {
		r.stop, err = f.trace.start()
	}
	if err != nil {
		_ = r.close()
		return nil, err
	}
	return r, nil
}

func (r *runStats) begin() {
	if r != nil {
		r.meter.begin()
	}
}

func (r *runStats) restart() {
	if r != nil {
		r.meter.restart()
	}
}

func (r *runStats) done(phase string) {
	if r != nil {
		r.meter.done(phase)
	}
}

// watch has the compile job report its phases.
func (r *runStats) watch(o *nativemodule.Options) {
	if r != nil {
		o.PhaseDone = func(phase string) { r.meter.done(phase) }
		o.Step = r.meter.step
	}
}

// compiled takes down what is known of the module.
func (r *runStats) compiled(name string, m *decoder.Module, code *nativemodule.Module) {
	if r != nil {
		r.st = gather(name, m, code)
	}
}

// finish prints what was measured, if it came as far as that.
func (r *runStats) finish() error {
	if r == nil {
		return nil
	}
	err := r.stop()
	if r.st != nil {
		r.st.addSteps(r.meter)
		if !r.json {
			r.st.writeTable(r.to)
		} else if e := r.st.writeJSON(r.to); err == nil {
			err = e
		}
	}
	if e := r.close(); err == nil {
		err = e
	}
	return err
}

func (r *runStats) close() error {
	if r.file == nil {
		return nil
	}
	return inFile(r.file.Name(), r.file.Close())
}
