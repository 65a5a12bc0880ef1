package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/nativemodule"
	"github.com/wasmjit/wasmjit/runtime"
	"github.com/wasmjit/wasmjit/wasi"
)

// churnFlags are the flags of bench churn.
type churnFlags struct {
	engine   engineFlags
	invoke   string
	runners  int
	patchers int
	batch    int
	duration time.Duration
	format   string
}

func newBenchChurn(s streams) *cobra.Command {
	var f churnFlags
	c := &cobra.Command{
		Use:   "churn FILE [-- ARGS...]",
		Short: "Replace and free a module's functions while it runs",
		Long: `Compiles a module so that its code can be replaced, then runs it again and
again on some threads, a new instance each time, while others recompile its
functions batch by batch, publish them through the jump table and free the
code that nobody runs any more. Each run must end as the first one did.

Without --invoke each run is one of a WASI program, without input and with its
output dropped. Calls that run when the time is over are cancelled. Addresses of
freed code aren't used again: replacing ends early when the code space is used
up.`,
		Example: `  wasmjit bench churn program.wasm
  wasmjit bench churn --write-protect-code-memory=hoisted --batch=100 program.wasm
  wasmjit bench churn --invoke fib math.wasm -- 25`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("churn needs a FILE; see wasmjit bench churn --help")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), s, args[0], args[1:]) },
	}
	f.engine.register(c, "auto")
	fs := c.Flags()
	fs.StringVar(&f.invoke, "invoke", "", "call this exported function with ARGS read by its signature")
	fs.IntVar(&f.runners, "runners", goruntime.GOMAXPROCS(0), "number of threads that run the module")
	fs.IntVar(&f.patchers, "patchers", 1, "number of threads that replace its functions")
	fs.IntVar(&f.batch, "batch", 16, "number of functions that are replaced at a time")
	fs.DurationVar(&f.duration, "duration", 2*time.Second, "how long to go on")
	fs.StringVar(&f.format, "format", "table", "table or json")
	return c
}

func (f *churnFlags) check() error {
	switch {
	case f.runners < 0 || f.patchers < 1 || f.batch < 1:
		return usagef("--patchers and --batch must be at least 1, --runners at least 0")
	case f.duration <= 0:
		return usagef("--duration must be positive")
	case f.format != "table" && f.format != "json":
		return usagef("--format must be table or json, not %q", f.format)
	}
	return nil
}

func (f *churnFlags) run(ctx context.Context, s streams, name string, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	probe, err := f.store()
	if err != nil {
		return err
	}
	bounds := probe.Bounds()
	if err := probe.Close(); err != nil {
		return err
	}
	f.engine.live = true
	o, err := f.engine.options(hostArch(), bounds)
	if err != nil {
		return err
	}
	buf, err := readModule(s, name)
	if err != nil {
		return err
	}
	m, err := decode(buf, name)
	if err != nil {
		return err
	}
	code, err := f.engine.compile(ctx, s, m, o)
	if err != nil {
		return inFile(name, err)
	}
	defer func() { _ = code.Close() }()
	ch := &churn{f: f, name: name, args: args, module: m, code: code}
	r, err := ch.measure(ctx)
	if err != nil {
		return inFile(name, err)
	}
	if f.format == "json" {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	r.write(s.out)
	return nil
}

func (f *churnFlags) store() (*runtime.Store, error) {
	return (&runFlags{engine: f.engine}).store()
}

// churn is a run of the command.
type churn struct {
	f      *churnFlags
	name   string
	args   []string
	module *decoder.Module
	code   *nativemodule.Module

	want  outcome // of the first run, if the second one agreed
	check bool

	runs, cancelled atomic.Int64
	full            atomic.Bool // there is no more code space
}

// outcome is how a run ended.
type outcome struct {
	text   string // results, or the error
	output [sha256.Size]byte
}

// measure makes the first runs, then lets runners and patchers loose.
func (c *churn) measure(ctx context.Context) (*churnResult, error) {
	for i := range 2 {
		got, err := c.once(ctx, c.code.NewReader())
		if err != nil {
			return nil, err
		}
		c.check = i > 0 && got == c.want
		c.want = got
	}
	before := c.code.Live()
	start := time.Now()
	// One failure ends all; the time being over is none.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.f.duration, func() { cancel(errTimeOver) })
	defer timer.Stop()

	var all sync.WaitGroup
	for range c.f.runners {
		all.Go(func() {
			if err := c.runAgain(ctx); err != nil {
				cancel(err)
			}
		})
	}
	times := make([][]time.Duration, c.f.patchers)
	for i := range c.f.patchers {
		all.Go(func() {
			var err error
			if times[i], err = c.patchAgain(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, errTimeOver) {
		return nil, err
	}
	elapsed := time.Since(start)
	if err := c.freeRest(); err != nil {
		return nil, err
	}
	return c.result(before, elapsed, slices.Concat(times...)), nil
}

var errTimeOver = errors.New("the time is over")

// freeRest frees what was replaced last: nothing runs any more.
func (c *churn) freeRest() error {
	p, err := c.code.NewPatcher()
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	_, err = p.Free()
	return err
}

// runAgain runs the module until ctx ends.
func (c *churn) runAgain(ctx context.Context) error {
	r := c.code.NewReader()
	defer r.Close()
	for ctx.Err() == nil {
		got, err := c.once(ctx, r)
		switch {
		case ctx.Err() != nil:
			c.cancelled.Add(1)
			return nil
		case err != nil:
			return err
		case c.check && got != c.want:
			return fmt.Errorf("a run ended with %q, the first one with %q", got.text, c.want.text)
		}
		c.runs.Add(1)
	}
	return nil
}

// once runs the module in a store of its own, as a reader of its code.
func (c *churn) once(ctx context.Context, r *nativemodule.Reader) (out outcome, err error) {
	r.Enter()
	defer r.Exit()
	store, err := c.f.store()
	if err != nil {
		return out, err
	}
	defer func() { _ = store.Close() }()
	sum := sha256.New()
	system, err := wasi.New(wasi.Config{Args: append([]string{c.name}, c.args...), Stdout: &summer{h: sum}, Stderr: io.Discard})
	if err != nil {
		return out, err
	}
	defer func() { _ = system.Close() }()
	results, err := c.call(ctx, store, system)
	var exit *wasi.ExitError
	var trap *runtime.Trap
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case errors.As(err, &exit) || errors.As(err, &trap):
		out.text = err.Error()
	case err != nil:
		return out, err
	default:
		out.text = results
	}
	sum.Sum(out.output[:0])
	return out, nil
}

// summer sums up what is written to it, by several threads at most.
type summer struct {
	mu sync.Mutex
	h  hash.Hash
}

func (s *summer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.h.Write(b)
}

func (c *churn) call(ctx context.Context, store *runtime.Store, system *wasi.System) (string, error) {
	inst, err := store.Instantiate(ctx, c.code, system.Imports(store))
	if err != nil {
		return "", err
	}
	defer func() { _ = inst.Close() }()
	entry := c.f.invoke
	if entry == "" {
		entry = "_start"
	}
	fn := inst.Func(entry)
	if fn == nil {
		return "", fmt.Errorf("exports no function %q; name another with --invoke", entry)
	}
	var values []uint64
	if c.f.invoke != "" {
		if values, err = parseArgs(fn.Type().Params, c.args); err != nil {
			return "", err
		}
	}
	results, err := fn.Call(ctx, values...)
	text := ""
	for i, v := range results {
		text += formatValue(fn.Type().Results[i], v) + " "
	}
	return text, err
}

// patchAgain replaces functions in turn until ctx ends or the code space is
// used up, and tells how long each batch took.
func (c *churn) patchAgain(ctx context.Context, k int) (times []time.Duration, err error) {
	p, err := c.code.NewPatcher()
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	n := len(c.module.Bodies)
	fns := make([]uint32, min(c.f.batch, n))
	// Patchers start at different places.
	for at := n / c.f.patchers * k; n > 0 && ctx.Err() == nil; {
		for i := range fns {
			fns[i] = c.module.NumImportedFuncs + uint32(at)
			at = (at + 1) % n
		}
		start := time.Now()
		err := p.Replace(ctx, fns)
		var full *codemem.FullError
		switch {
		case errors.As(err, &full):
			c.full.Store(true)
			return times, nil
		case ctx.Err() != nil:
			return times, nil
		case err != nil:
			return times, err
		}
		times = append(times, time.Since(start))
		if _, err := p.Free(); err != nil {
			return times, err
		}
	}
	return times, nil
}

// churnResult is what the command prints.
type churnResult struct {
	Schema     int    `json:"schema"`
	Version    string `json:"wasmjit"`
	Path       string `json:"path"`
	Protection string `json:"write_protect_code_memory"`
	Functions  int64  `json:"functions"`
	Runners    int    `json:"runners"`
	Patchers   int    `json:"patchers"`
	WallNs     int64  `json:"wall_ns"`

	Runs      int64 `json:"runs"`
	Checked   bool  `json:"runs_checked"`
	Cancelled int64 `json:"runs_cancelled"`
	// Full: the code space was used up before the time was over.
	Full bool `json:"code_space_used_up"`

	Batches  int64 `json:"batches"`
	Replaced int64 `json:"functions_replaced"`
	Freed    int64 `json:"functions_freed"`
	// ReplaceNs is the time of compiling, adding and publishing a batch.
	ReplaceNs struct {
		P50 int64 `json:"p50"`
		P99 int64 `json:"p99"`
		Max int64 `json:"max"`
	} `json:"replace_ns"`
	OnCode       int64        `json:"mprotect_on_code"`
	OnViews      int64        `json:"mprotect_on_views"`
	PkeyMprotect int64        `json:"pkey_mprotect"`
	CallNs       int64        `json:"syscall_ns"`
	Exposure     churnExposed `json:"exposure"`
	Locks        []churnLock  `json:"locks"`
}

type churnExposed struct {
	WritableExecutable  float64 `json:"writable_executable_byte_s"`
	WritableUnpublished float64 `json:"writable_unpublished_byte_s"`
}

type churnLock struct {
	Name      string `json:"name"`
	Acquired  int64  `json:"acquired"`
	Contended int64  `json:"contended"`
	WaitNs    int64  `json:"wait_ns"`
}

func (c *churn) result(before nativemodule.LiveStats, elapsed time.Duration, times []time.Duration) *churnResult {
	after := c.code.Live()
	calls := after.Memory.Sub(before.Memory)
	r := &churnResult{
		Schema: statsSchema, Version: version, Path: c.name,
		Protection: c.code.Options().Protection.String(),
		Functions:  after.Functions,
		Runners:    c.f.runners, Patchers: c.f.patchers, WallNs: int64(elapsed),
		Runs: c.runs.Load(), Checked: c.check, Cancelled: c.cancelled.Load(), Full: c.full.Load(),
		Batches:  after.Batches - before.Batches,
		Replaced: after.Replaced - before.Replaced,
		Freed:    after.Freed - before.Freed,
		OnCode:   calls.OnCode(), OnViews: calls.MprotectView.Calls, PkeyMprotect: calls.PkeyMprotect.Calls,
		CallNs: calls.All().Ns,
		Exposure: churnExposed{
			round(after.Exposure.WritableExecutable - before.Exposure.WritableExecutable),
			round(after.Exposure.WritableUnpublished - before.Exposure.WritableUnpublished),
		},
	}
	for i, k := range after.Locks {
		b := before.Locks[i]
		r.Locks = append(r.Locks, churnLock{k.Name, k.Acquired - b.Acquired, k.Contended - b.Contended, int64(k.Wait - b.Wait)})
	}
	if n := len(times); n > 0 {
		slices.Sort(times)
		r.ReplaceNs.P50, r.ReplaceNs.P99, r.ReplaceNs.Max = int64(times[n/2]), int64(times[n*99/100]), int64(times[n-1])
	}
	return r
}

func (r *churnResult) write(w io.Writer) {
	printf(w, "%s: %s functions, code memory %s, %d %s, %d %s, %.1f s\n", oneLine(displayName(r.Path)), thousands(r.Functions),
		r.Protection, r.Runners, plural(r.Runners, "runner"), r.Patchers, plural(r.Patchers, "patcher"), float64(r.WallNs)/1e9)
	t := newTable(w, "churn", "")
	checked := "each as the first"
	if !r.Checked {
		checked = "not compared: the first two differ"
	}
	us := func(ns int64) string { return sprintf("%.1f", float64(ns)/1e3) }
	t.AppendRows([]table.Row{
		{"runs, cancelled at the end", sprintf("%s, %d (%s)", thousands(r.Runs), r.Cancelled, checked)},
		{"batches published", thousands(r.Batches)},
		{"functions replaced, freed", sprintf("%s, %s", thousands(r.Replaced), thousands(r.Freed))},
		{"µs to replace a batch, p50 / p99 / max", sprintf("%s / %s / %s", us(r.ReplaceNs.P50), us(r.ReplaceNs.P99), us(r.ReplaceNs.Max))},
		{"mprotects on code, on views", sprintf("%s, %s", thousands(r.OnCode), thousands(r.OnViews))},
		{"ms in calls on code memory", ms(r.CallNs)},
		{"writable and executable at once", sprintf("%.3f MB·s", r.Exposure.WritableExecutable/1e6)},
		{"writable before publication", sprintf("%.3f MB·s", r.Exposure.WritableUnpublished/1e6)},
	})
	for _, k := range r.Locks {
		if k.Acquired > 0 {
			t.AppendRow(table.Row{"lock " + k.Name + ": trips, contended, ms waited",
				sprintf("%s, %s, %s", thousands(k.Acquired), thousands(k.Contended), ms(k.WaitNs))})
		}
	}
	t.Render()
	if r.Full {
		printf(w, "The code space was used up: addresses of freed code aren't used again.\n")
	}
}
