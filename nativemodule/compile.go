package nativemodule

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

// Compile validates and compiles every function of dm, links and publishes
// the code. The caller owns the result and must Close it.
//
// The error is a *decoder.Error for an invalid body (the one at the lowest
// offset), a *codemem.FullError or *codemem.SystemError if code memory gives
// out, ctx.Err() if ctx was cancelled, or an *InternalError or *LinkError for
// a fault of the compiler.
func Compile(ctx context.Context, dm *decoder.Module, o Options) (*Module, error) {
	newLayout := liftoff.NewLayout
	if o.Liftoff.SplitInstance {
		newLayout = liftoff.NewSplitLayout
	}
	layout, err := newLayout(dm)
	if err != nil {
		return nil, err
	}
	m, err := compileWith(ctx, dm, layout, o, newLiftoff(dm, layout, o))
	if errors.Is(err, errFar) {
		o.Liftoff.FarCalls = true
		m, err = compileWith(ctx, dm, layout, o, newLiftoff(dm, layout, o))
	}
	return m, err
}

func newLiftoff(dm *decoder.Module, layout *liftoff.Layout, o Options) newCompiler {
	return func() (compiler, error) {
		// Not returned as it is: a nil *Compiler would make a non-nil interface.
		c, err := liftoff.New(dm, layout, o.Liftoff)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}

func compileWith(ctx context.Context, dm *decoder.Module, layout *liftoff.Layout, o Options, nc newCompiler) (*Module, error) {
	clock := startClock()
	gc := gcCycles()
	if err := o.resolve(); err != nil {
		return nil, err
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	j := &job{ctx: ctx, new: nc, plan: makePlan(dm.Bodies, o.Workers)}
	j.lowest.Store(noFailure)
	m, err := newModule(dm, layout, o, nc, j.plan.bytes)
	if err != nil {
		return nil, err
	}
	j.m = m
	if o.TraceTimes != nil {
		j.times = make([]funcTime, len(dm.Bodies))
	}
	if err := j.run(clock); err != nil {
		// The first error says more than one of giving the memory back.
		_ = m.space.Free()
		return nil, err
	}
	m.stats.GCCycles = gcCycles() - gc
	for def, t := range j.times {
		o.TraceTimes(FuncTime{
			Func:          m.imported + uint32(def),
			Time:          time.Duration(t.ns),
			BodyBytes:     int(dm.Bodies[def].End - dm.Bodies[def].Start),
			CodeBytes:     int(m.place(uint32(def)).size),
			CompilerBytes: t.mem,
		})
	}
	return m, nil
}

// openerSeal is what sealing the code is charged to.
const openerSeal = "nativemodule.publish"

// expectedCode is an upper guess of the code size: V8's, which takes the same
// factor for its Liftoff.
func expectedCode(bodyBytes int64, functions int) int64 {
	return 4*bodyBytes + 64*int64(functions)
}

func newModule(dm *decoder.Module, layout *liftoff.Layout, o Options, nc newCompiler, bodyBytes int64) (*Module, error) {
	arena := o.Arena
	if arena == nil {
		a, err := codemem.Default()
		if err != nil {
			return nil, err
		}
		arena = a
	}
	n := len(dm.Bodies)
	m := &Module{
		decoded:  dm,
		layout:   layout,
		options:  o,
		compiler: nc,
		imported: dm.NumImportedFuncs,
	}
	slots := o.Publish == PublishSlots
	if slots {
		m.table = make([]atomic.Uint64, n)
		m.life.epoch.Store(1)
	} else {
		m.entries, m.sizes = make([]uint32, n), make([]uint32, n)
	}
	m.base, _ = arena.Bounds()
	m.refs.Store(1)
	space, err := arena.NewSpace(codemem.SpaceOptions{
		Mode:    o.Protection,
		Expect:  expectedCode(bodyBytes, n),
		Max:     o.MaxCodeBytes,
		Workers: o.Workers,
		Owner:   openerSeal,
		NoExec:  !executable(o.Liftoff.Arch),
		Patched: slots,
		Slots:   n,
	})
	if err != nil {
		return nil, err
	}
	m.space = space
	m.options.Protection = space.Mode()
	return m, nil
}

// run takes the module through the three phases.
func (j *job) run(clock clock) error {
	m := j.m
	n := min(m.options.Workers, max(j.plan.numBatches(), 1))
	workers := make([]worker, n)
	for i := range workers {
		workers[i].j = j
		if m.table != nil {
			workers[i].holder = codemem.NewHolder()
			workers[i].batchUnits = batchUnits(&m.options, m.numDefined(), n, i)
		}
	}
	stop := j.report()
	parallel(n, func(i int) { workers[i].compile() })
	stop()
	if err := j.outcome(workers); err != nil {
		return err
	}
	m.noteWrites(workers)
	if m.tooFar() {
		return errFar
	}
	s := &m.stats
	s.Compile = j.phase(clock, "compile")
	j.unlinked()

	parallel(n, func(i int) { workers[i].linkAndClose() })
	if err := j.outcome(workers); err != nil {
		return err
	}
	s.Link = j.phase(clock, "link")

	if err := m.publish(); err != nil {
		return err
	}
	s.Publish = j.phase(clock, "publish")
	s.Workers = n
	s.Functions = m.numDefined()
	s.BodyBytes = j.plan.bytes
	for i := range workers {
		s.CallSites += workers[i].numSites
	}
	m.measure()
	if m.options.Progress != nil {
		m.options.Progress(int(j.plan.bytes), int(j.plan.bytes))
	}
	return nil
}

// unlinked shows the code as the compiler made it.
func (j *job) unlinked() {
	show := j.m.options.Unlinked
	if show == nil {
		return
	}
	for def := range uint32(j.m.numDefined()) {
		show(j.m.imported+def, j.m.Code(j.m.imported+def))
	}
}

// phase ends a phase.
func (j *job) phase(clock clock, name string) Phase {
	p := clock.phase(j.m)
	if done := j.m.options.PhaseDone; done != nil {
		done(name)
	}
	return p
}

// outcome gives the error to report: cancellation, else the failure of the
// lowest function, else the lack of code memory.
func (j *job) outcome(workers []worker) error {
	if j.cancelled.Load() {
		return j.ctx.Err()
	}
	var failed, full error
	low := uint32(noFailure)
	for i := range workers {
		w := &workers[i]
		if w.err != nil && (failed == nil || w.failFunc < low) {
			low, failed = w.failFunc, w.err
		}
		if w.placeErr != nil && full == nil {
			full = w.placeErr
		}
	}
	if failed != nil {
		return failed
	}
	return full
}

// progressEvery is the time between two reports of progress.
const progressEvery = 100 * time.Millisecond

// report calls Progress at intervals until the function it returns is called.
func (j *job) report() (stop func()) {
	progress := j.m.options.Progress
	if progress == nil {
		return func() {}
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				progress(int(j.done.Load()), int(j.plan.bytes))
			}
		}
	}()
	return func() {
		close(quit)
		<-gone
	}
}
