package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// compileFlags are the flags of compile besides the engine's.
type compileFlags struct {
	engine    engineFlags
	target    string
	synthetic string
	stats     string
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
	fs := c.Flags()
	fs.StringVar(&f.target, "target", "", "compile for OS/ARCH: linux/amd64 (default: this machine)")
	fs.StringVar(&f.synthetic, "synthetic", "", "compile a generated module: "+syntheticNames)
	fs.StringVar(&f.stats, "stats", "table", "print a table, or json with a versioned schema")
	fs.Lookup("stats").NoOptDefVal = "table"
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
	buf, name, read, err := f.input(s, name)
	if err != nil {
		return err
	}
	watch := start()
	m, err := decode(buf, name)
	if err != nil {
		return err
	}
	decoded := watch.stop("decode")
	code, err := f.engine.compile(ctx, s, m, o)
	if err != nil {
		return inFile(name, err)
	}
	defer func() { _ = code.Close() }()

	st := gather(name, m, code, []phase{read, decoded})
	if f.stats == "json" {
		err = st.writeJSON(s.out, m.Bytes)
	} else {
		st.writeTable(s.out)
	}
	if err != nil {
		return err
	}
	// Beside JSON on stdout the code must not disturb.
	to := s.out
	if f.stats == "json" {
		to = s.err
	}
	return inFile(name, f.engine.printCodeTo(to, code))
}

// input gets the bytes to compile, and says how long reading them took.
func (f *compileFlags) input(s streams, name string) ([]byte, string, phase, error) {
	if f.synthetic == "" {
		watch := start()
		buf, err := readModule(s, name)
		return buf, name, watch.stop("read"), err
	}
	file, err := synthesize(f.synthetic, s)
	if err != nil {
		return nil, "", phase{}, err
	}
	defer func() { _ = file.Close() }()
	name = "synthetic " + f.synthetic
	watch := start()
	buf, err := readFrom(file, name)
	return buf, name, watch.stop("read"), err
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
