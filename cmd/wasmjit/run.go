package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/nativemodule"
	"github.com/wasmjit/wasmjit/runtime"
	"github.com/wasmjit/wasmjit/wasi"
)

// runFlags are the flags of run besides the engine's.
type runFlags struct {
	engine    engineFlags
	dirs      []string
	env       []string
	inheritEn bool
	invoke    string
	argv0     string
	timeout   time.Duration
	maxMemory string
	maxStack  string
	stats     runStatsFlags
	lockdown  bool
}

func newRun(s streams) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run FILE [ARGS...]",
		Short: "Run a module as a WASI program, or one of its functions",
		Long: `Compiles a module and calls its _start function as a WASI preview 1 program,
or the function that --invoke names. What follows FILE are the guest's
arguments; one -- in front of them is dropped. - is a module on standard input.

The guest gets the three standard streams. It sees no directory and no
environment unless --dir and --env give them.

--lockdown gives up, before the guest starts, what a running guest doesn't need:
its code is published in mode dual (seal where there is no memfd) and then made
immutable, with the stubs that it is entered by (mseal, Linux 6.10; older kernels
go without); what is constant in its instance, such as the records that
functions are called through, becomes read-only; no memory of the process can
become executable any more (PR_SET_MDWE, Linux 6.3, needed); and others of the
same user can't trace the process or read its memory. No path leads to a procfs
in any case; with --lockdown the three streams can't lie on one either. Mutable
globals, memories and tables that the guest changes stay writable.`,
		Example: `  wasmjit run program.wasm --verbose input.txt
  wasmjit run --dir=. --dir=/usr/share/yosys::/share:ro yosys.wasm -p 'read_verilog a.v; proc; opt'
  wasmjit run --invoke fib math.wasm 30
  GOOS=wasip1 GOARCH=wasm go test -exec 'wasmjit run --dir=/ --env PWD' strconv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("run needs a FILE; see wasmjit run --help")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), s, args) },
	}
	fs := c.Flags()
	fs.SetInterspersed(false)
	f.engine.register(c, "auto")
	f.engine.registerPrints(c)
	fs.StringArrayVar(&f.dirs, "dir", nil, "give the guest a directory: HOST[::GUEST][:ro]; may be repeated")
	fs.StringArrayVar(&f.env, "env", nil, "set a variable (K=V) or pass one on (K); may be repeated")
	fs.BoolVar(&f.inheritEn, "env-inherit", false, "pass the whole environment on")
	fs.StringVar(&f.invoke, "invoke", "", "call this exported function with ARGS read by its signature, and print its results")
	fs.StringVar(&f.argv0, "argv0", "", "the guest's name for itself (default FILE)")
	fs.DurationVar(&f.timeout, "timeout", 0, "stop the guest after this long, e.g. 5s; compiling doesn't count")
	fs.StringVar(&f.maxMemory, "max-memory", "", "largest size of a memory, e.g. 512MiB; growing further fails")
	fs.StringVar(&f.maxStack, "max-stack", "", "size of the guest's stack, e.g. 16MiB (default 8MiB)")
	fs.BoolVar(&f.lockdown, "lockdown", false, "make code and constant tables immutable and allow no new code once the module is compiled")
	f.stats.register(c)
	return c
}

func (f *runFlags) run(ctx context.Context, s streams, args []string) error {
	rs, err := f.stats.start(s)
	if err != nil {
		return err
	}
	err = f.measured(ctx, s, rs, args)
	// What the guest has ended with says more than a file that can't be written.
	if e := rs.finish(); err == nil {
		err = e
	}
	return err
}

// measured runs the guest; rs may be nil.
func (f *runFlags) measured(ctx context.Context, s streams, rs *runStats, args []string) error {
	name, args := args[0], args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	defer rs.done("free") // behind all that is closed
	store, err := f.store()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	o, err := f.engine.options(hostArch(), store.Bounds())
	if err != nil {
		return err
	}
	if f.lockdown {
		if o, err = lockedOptions(o, s); err != nil {
			return err
		}
	}
	system, err := f.system(s, name, args)
	if err != nil {
		return err
	}
	defer func() { _ = system.Close() }()

	rs.begin()
	buf, err := readModule(s, name)
	if err != nil {
		return err
	}
	rs.done("read")
	m, err := decode(buf, name)
	if err != nil {
		return err
	}
	rs.done("decode")
	rs.watch(&o)
	code, err := f.engine.compile(ctx, s, m, o)
	if err != nil {
		return inFile(name, err)
	}
	defer func() { _ = code.Close() }()
	rs.compiled(name, m, code)
	if err := f.engine.printCodeTo(s.err, code); err != nil {
		return inFile(name, err)
	}

	if f.lockdown {
		if err := runtime.LockProcess(); err != nil {
			return fmt.Errorf("--lockdown: %w", err)
		}
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	rs.restart()
	err = f.guest(ctx, s, store, code, system.Imports(store), args)
	rs.done("run")
	var exit *wasi.ExitError
	switch {
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &exit):
		return inFile(name, fmt.Errorf("stopped after %v: %w", f.timeout, context.DeadlineExceeded))
	case errors.As(err, &exit):
		return err
	}
	return inFile(name, err)
}

// guest instantiates the module and calls what is to be called.
func (f *runFlags) guest(ctx context.Context, s streams, store *runtime.Store, code *nativemodule.Module, imports runtime.Imports, args []string) error {
	inst, err := store.Instantiate(ctx, code, imports)
	if err != nil {
		return err
	}
	defer func() { _ = inst.Close() }()
	entry := "_start"
	if f.invoke != "" {
		entry = f.invoke
	}
	fn := inst.Func(entry)
	if fn == nil {
		if f.invoke != "" {
			return fmt.Errorf("exports no function %q", entry)
		}
		return errors.New("exports no function _start; name another with --invoke")
	}
	// A reactor is initialised before any other call.
	if inst.Func("_start") == nil && inst.Func("_initialize") != nil && entry != "_initialize" {
		if _, err := inst.Call(ctx, "_initialize"); err != nil {
			return err
		}
	}
	if f.invoke == "" {
		if t := fn.Type(); len(t.Params) > 0 || len(t.Results) > 0 {
			return errors.New("_start must have neither parameters nor results; use --invoke _start")
		}
		_, err = fn.Call(ctx)
		return err
	}
	values, err := parseArgs(fn.Type().Params, args)
	if err != nil {
		return err
	}
	results, err := fn.Call(ctx, values...)
	if err != nil {
		return err
	}
	for i, t := range fn.Type().Results {
		printf(s.out, "%s\n", formatValue(t, results[i]))
	}
	return nil
}

func (f *runFlags) store() (*runtime.Store, error) {
	c := runtime.Config{BoundsAuto: f.engine.bounds == "auto", Locked: f.lockdown}
	if !c.BoundsAuto {
		b, err := parseBounds(f.engine.bounds)
		if err != nil {
			return nil, usagef("--bounds must be guard, explicit or auto, not %q", f.engine.bounds)
		}
		c.Bounds = b
	}
	if f.maxMemory != "" {
		n, err := parseSize(f.maxMemory)
		if err != nil || n < 1<<16 {
			return nil, usagef("--max-memory must be a size of at least 64KiB, not %q", f.maxMemory)
		}
		c.MaxMemoryPages = uint64(n) >> 16
	}
	if f.maxStack != "" {
		n, err := parseSize(f.maxStack)
		if err != nil || n < 64<<10 || n > 1<<30 {
			return nil, usagef("--max-stack must be a size from 64KiB to 1GiB, not %q", f.maxStack)
		}
		c.StackSize = int(n)
	}
	if f.timeout < 0 {
		return nil, usagef("--timeout must not be negative")
	}
	return runtime.NewStore(c)
}

// system sets up WASI from the flags.
func (f *runFlags) system(s streams, name string, args []string) (*wasi.System, error) {
	argv0 := f.argv0
	if argv0 == "" {
		argv0 = name
	}
	c := wasi.Config{Args: append([]string{argv0}, args...), Stdin: s.in, Stdout: s.out, Stderr: s.err}
	if f.inheritEn {
		c.Env = os.Environ()
	}
	for _, e := range f.env {
		if !strings.Contains(e, "=") {
			v, ok := os.LookupEnv(e)
			if !ok {
				continue
			}
			e += "=" + v
		}
		c.Env = setEnv(c.Env, e)
	}
	for _, d := range f.dirs {
		p, err := parseDir(d)
		if err != nil {
			return nil, err
		}
		c.Preopens = append(c.Preopens, p)
	}
	return wasi.New(c)
}

// setEnv adds entry, K=V, in the place of an earlier one for K.
func setEnv(env []string, entry string) []string {
	key := entry[:strings.IndexByte(entry, '=')+1]
	for i, e := range env {
		if strings.HasPrefix(e, key) {
			env[i] = entry
			return env
		}
	}
	return append(env, entry)
}

// parseDir reads HOST[::GUEST][:ro].
func parseDir(s string) (wasi.Preopen, error) {
	var p wasi.Preopen
	rest, ro := strings.CutSuffix(s, ":ro")
	p.ReadOnly = ro
	p.Host, p.Guest, _ = strings.Cut(rest, "::")
	if p.Host == "" {
		return p, usagef("--dir needs HOST[::GUEST][:ro], not %q", s)
	}
	if p.Guest == "" {
		p.Guest = p.Host
	}
	st, err := os.Stat(p.Host)
	if err != nil {
		return p, inFile(p.Host, err)
	}
	if !st.IsDir() {
		return p, inFile(p.Host, errors.New("not a directory"))
	}
	return p, nil
}

// parseSize reads a number of bytes with an optional unit.
func parseSize(s string) (int64, error) {
	units := []struct {
		suffix string
		shift  uint
	}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"K", 10}, {"M", 20}, {"G", 30}, {"B", 0}}
	shift := uint(0)
	for _, u := range units {
		if n, ok := strings.CutSuffix(s, u.suffix); ok {
			s, shift = n, u.shift
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err == nil && (n < 0 || n > math.MaxInt64>>shift) {
		err = strconv.ErrRange
	}
	return n << shift, err
}
