package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/syscount"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// compileFlags are the flags of compile besides the engine's.
type compileFlags struct {
	engine    engineFlags
	target    string
	synthetic string
	stats     string
	syscalls  syscallFlag
	trace     traceFlag
	repeat    int
	dumpCode  string
}

func newCompile(s streams) *cobra.Command {
	var f compileFlags
	c := &cobra.Command{
		Use:   "compile FILE",
		Short: "Compile a module and show what that cost",
		Long: `Decodes, validates and compiles every function of a module and prints a table:
wall and processor time by phase, throughput in MB (10^6 bytes) of code section
per second, the size of the code, peak memory and system calls.

It writes no file yet: compiled artifacts come later. - is standard input.
--synthetic makes a module of the shape of a Unity game's instead of reading
one, in a process of its own, so that its memory doesn't count.`,
		Example: `  wasmjit compile --synthetic unity
  wasmjit compile -j 1 game.wasm
  wasmjit compile --stats=json game.wasm | jq .engine_mb_per_s
  wasmjit compile --liftoff-only --no-wasm-tier-up --wasm_num_compilation_tasks=4 game.wasm`,
		Args: func(c *cobra.Command, args []string) error {
			if f.synthetic == "" {
				return exactArgs(1, "a FILE (or --synthetic)")(c, args)
			}
			if len(args) > 0 {
				return usagef("compile takes either a FILE or --synthetic")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return f.run(c.Context(), s, name)
		},
	}
	f.engine.register(c, "guard")
	f.engine.registerPrints(c)
	fs := c.Flags()
	fs.StringVar(&f.target, "target", "", "compile for OS/ARCH: linux/amd64 or linux/arm64 (default: this machine)")
	fs.StringVar(&f.synthetic, "synthetic", "", "compile a generated module: "+syntheticNames)
	fs.StringVar(&f.stats, "stats", "table", "print a table, or json with a versioned schema")
	fs.Lookup("stats").NoOptDefVal = "table"
	fs.StringVar(&f.dumpCode, "dump-code", "", "write the code of every function, in index order and before linking, to `FILE`")
	f.syscalls.register(c)
	f.trace.register(c)
	// For bench, which reads one object after the other.
	fs.IntVar(&f.repeat, "repeat", 1, "compile so many times in this process, and print JSON each time")
	_ = fs.MarkHidden("repeat")
	return c
}

func (f *compileFlags) run(ctx context.Context, s streams, name string) error {
	if f.stats != "table" && f.stats != "json" {
		return usagef("--stats must be table or json, not %q", f.stats)
	}
	arch, err := parseTarget(f.target)
	if err != nil {
		return err
	}
	bounds, err := parseBounds(f.engine.bounds)
	if err != nil {
		return err
	}
	o, err := f.engine.options(arch, bounds)
	if err != nil {
		return err
	}
	file, name, err := f.open(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	stop, err := f.trace.start()
	if err != nil {
		return err
	}
	meter, err := newMeter(f.syscalls.value, syscount.Mprotect, syscount.Futex)
	if err != nil {
		return err
	}
	for ; f.repeat > 1; f.repeat-- {
		if err := f.warmUp(ctx, s, meter, file, name, o); err != nil {
			return err
		}
	}
	st, code, err := f.measure(ctx, s, meter, file, name, o)
	if err == nil {
		err = stop()
	}
	if err != nil {
		return err
	}
	// Beside JSON on stdout the code must not disturb.
	to := s.out
	if f.stats == "json" {
		err = st.writeJSON(s.out)
		to = s.err
	} else {
		st.writeTable(s.out)
	}
	printf(to, "%s", code)
	return err
}

// warmUp is one of several compiles in a process, but the last.
func (f *compileFlags) warmUp(ctx context.Context, s streams, meter *meter, file *os.File, name string, o nativemodule.Options) error {
	if f.stats != "json" {
		return usagef("--repeat needs --stats=json")
	}
	st, _, err := f.measure(ctx, s, meter, file, name, o)
	if err == nil {
		err = st.writeJSON(s.out)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	return err
}

// measure takes the file through all phases. It returns what they cost and
// the disassembly asked for.
func (f *compileFlags) measure(ctx context.Context, s streams, meter *meter, file *os.File, name string, o nativemodule.Options) (*stats, string, error) {
	meter.begin()
	buf, err := readFrom(file, name)
	if err != nil {
		return nil, "", err
	}
	meter.done("read")
	m, err := decode(buf, name)
	if err != nil {
		return nil, "", err
	}
	meter.done("decode")
	o.PhaseDone = func(phase string) { meter.done(phase) }
	o.Step = meter.step
	dump, err := newCodeDump(f.dumpCode, &o)
	if err != nil {
		return nil, "", err
	}
	code, err := f.engine.compile(ctx, s, m, o)
	if e := dump.close(err == nil); err == nil && e != nil {
		err = errors.Join(e, code.Close())
	}
	if err != nil {
		return nil, "", inFile(name, err)
	}
	var text strings.Builder
	st := gather(name, m, code)
	err = inFile(name, f.engine.printCodeTo(&text, code))
	meter.restart()
	if e := code.Close(); e != nil && err == nil {
		err = inFile(name, e)
	}
	meter.done("free")
	st.addSteps(meter)
	return st, text.String(), err
}

// open opens the module to compile, or has it made.
func (f *compileFlags) open(s streams, name string) (*os.File, string, error) {
	if f.synthetic != "" {
		file, err := synthesize(f.synthetic, s)
		return file, "synthetic " + f.synthetic, err
	}
	if name == "-" {
		return s.in, name, nil
	}
	file, err := os.Open(name)
	return file, name, inFile(name, err)
}

// compile runs the compile job with progress and trace as the flags say.
func (f *engineFlags) compile(ctx context.Context, s streams, m *decoder.Module, o nativemodule.Options) (*nativemodule.Module, error) {
	bar := newProgress(s.err, f.progress)
	o.Progress = bar.callback()
	if f.traceTimes {
		o.TraceTimes = func(t nativemodule.FuncTime) { traceTime(s, t) }
	}
	code, err := nativemodule.Compile(ctx, m, o)
	bar.stop()
	return code, err
}

// traceTime prints a line like V8's --trace-wasm-compilation-times.
func traceTime(s streams, t nativemodule.FuncTime) {
	memory := ""
	if t.CompilerBytes >= 0 {
		memory = sprintf(" and %d bytes", t.CompilerBytes)
	}
	printf(s.err, "Compiled function #%d using Liftoff, took %d μs%s; bodysize %d codesize %d\n",
		t.Func, t.Time/time.Microsecond, memory, t.BodyBytes, t.CodeBytes)
}
