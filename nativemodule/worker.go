package nativemodule

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
)

// scopeOpener is the name that the write scopes of the workers are charged to.
const scopeOpener = "nativemodule.worker"

// job is one compile in progress. Workers write disjoint elements of the
// module's arrays and share nothing else but the atomics below.
type job struct {
	m     *Module
	ctx   context.Context
	new   newCompiler
	plan  plan
	times []funcTime // per defined function, nil unless traced

	cursor    atomic.Uint32 // next batch
	lowest    atomic.Uint32 // function index of the lowest failure so far
	full      atomic.Bool   // there is no more room to place code
	cancelled atomic.Bool
	done      atomic.Int64 // body bytes of finished batches
}

// noFailure is the value of job.lowest while nothing failed.
const noFailure = math.MaxUint32

type funcTime struct{ ns, mem int64 }

// worker is one goroutine's part of the job.
type worker struct {
	j    *job
	comp compiler

	next, end uint32 // what is left of the present batch, in plan.order
	batch     int64  // its body bytes
	def       uint32 // defined function being worked on

	chunk  *codemem.Chunk
	scope  *codemem.WriteScope // of chunk
	scopes []*codemem.WriteScope

	late     []lateRun  // direct calls that are left to link
	badCall  *LinkError // one that can't be linked, of the lowest function
	numSites int64      // direct calls in all

	// Of code that is published through slots.
	holder     *codemem.Holder
	gathered   batch
	batchUnits int

	failFunc uint32 // function index of err
	err      error
	placeErr error
}

// parallel calls f(0) to f(n-1) at the same time and waits for all.
func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := 1; i < n; i++ {
		wg.Go(func() { f(i) })
	}
	f(0)
	wg.Wait()
}

// compile works until the cursor has run out. A panic of the compiler ends
// one call of compileSome; the next goes on behind the function at fault,
// with a new compiler, because functions below it must still be checked.
func (w *worker) compile() {
	//scopelint:ok again only after a panic; see compileSome
	for !w.compileSome() {
		w.comp = nil
	}
}

func (w *worker) compileSome() (finished bool) {
	defer w.recoverInto(&finished)
	for {
		for w.next < w.end {
			w.def = w.j.plan.order[w.next]
			w.next++
			//scopelint:ok a scope for each chunk or batch, of many functions
			w.compileOne()
		}
		if !w.grab() {
			w.flush()
			return true
		}
	}
}

// recoverInto makes an internal error of a panic, for the function at hand.
func (w *worker) recoverInto(finished *bool) {
	if r := recover(); r != nil {
		*finished = false
		fn, dm := w.j.m.imported+w.def, w.j.m.decoded
		w.fail(&InternalError{
			Func:     fn,
			FuncName: dm.FuncName(fn),
			Offset:   dm.Bodies[w.def].Start,
			Cause:    r,
			Stack:    debug.Stack(),
		})
	}
}

// grab takes the next batch.
func (w *worker) grab() bool {
	w.j.done.Add(w.batch)
	w.batch = 0
	select {
	case <-w.j.ctx.Done():
		w.j.cancelled.Store(true)
		return false
	default:
	}
	b := w.j.cursor.Add(1) - 1
	if int(b) >= w.j.plan.numBatches() {
		return false
	}
	w.next, w.end = w.j.plan.batches[b], w.j.plan.batches[b+1]
	for _, def := range w.j.plan.order[w.next:w.end] {
		body := &w.j.m.decoded.Bodies[def]
		w.batch += int64(body.End - body.Start)
	}
	return true
}

func (w *worker) compileOne() {
	fn := w.j.m.imported + w.def
	if fn > w.j.lowest.Load() {
		return
	}
	if w.comp == nil {
		c, err := w.j.new()
		if err != nil {
			w.fail(err)
			return
		}
		w.comp = c
	}
	var start time.Time
	if w.j.times != nil {
		start = time.Now()
	}
	code, err := w.comp.Compile(fn)
	if err != nil {
		w.fail(err)
		return
	}
	if w.j.times != nil {
		t := &w.j.times[w.def]
		t.ns, t.mem = int64(time.Since(start)), -1
		if s, ok := w.comp.(sized); ok {
			t.mem = s.MemoryBytes()
		}
	}
	// When the module can't be finished any more, functions are compiled
	// only to find out whether they are valid.
	if w.j.full.Load() || w.j.lowest.Load() != noFailure {
		return
	}
	w.place(code)
}

// fail records a failure of the function at hand, unless a lower one is known.
func (w *worker) fail(err error) {
	fn := w.j.m.imported + w.def
	if w.err == nil || fn < w.failFunc {
		w.failFunc, w.err = fn, err
	}
	for {
		low := w.j.lowest.Load()
		if fn >= low || w.j.lowest.CompareAndSwap(low, fn) {
			return
		}
	}
}

// place copies a finished function to where it will stay.
func (w *worker) place(code *liftoff.Code) {
	if w.j.m.table != nil {
		w.gather(code)
		return
	}
	n := len(code.Bytes)
	scope := w.scope
	var addr uintptr
	ok := false
	if w.chunk != nil {
		addr, ok = w.chunk.Alloc(n)
	}
	if !ok {
		c, s, err := w.j.m.space.NewChunk(n, scopeOpener)
		if err != nil {
			w.placeErr = err
			w.j.full.Store(true)
			return
		}
		w.scopes = append(w.scopes, s)
		addr, _ = c.Alloc(n) // it was made for n bytes
		if w.chunk == nil || c.Room() > w.chunk.Room() {
			w.chunk, w.scope = c, s
		}
		scope = s
	}
	w.put(scope, addr, code)
}

// put writes a function and notes where.
func (w *worker) put(scope *codemem.WriteScope, addr uintptr, code *liftoff.Code) {
	m := w.j.m
	m.entries[w.def] = uint32(addr - m.base)
	// From here on other workers may link calls of it; see linkPlaced.
	atomic.StoreUint32(&m.sizes[w.def], uint32(len(code.Bytes)))
	w.numSites += int64(len(code.CallSites))
	w.linkPlaced(scope, code)
	scope.Write(addr, code.Bytes)
}

// gather takes a finished function into the worker's batch, which is added
// and published when it is complete.
func (w *worker) gather(code *liftoff.Code) {
	w.gathered.append(w.def, code)
	w.numSites += int64(len(code.CallSites))
	if b := &w.gathered; len(b.units) >= w.batchUnits || b.space >= maxBatchBytes {
		w.flush()
	}
}

// flush adds and publishes what the worker has gathered.
func (w *worker) flush() {
	defer w.gathered.reset()
	if w.j.full.Load() || w.j.cancelled.Load() || w.j.lowest.Load() != noFailure {
		return
	}
	if err := w.j.m.addAndPublish(w.holder, &w.gathered); err != nil {
		var bad *LinkError
		if errors.As(err, &bad) {
			w.def = bad.Caller - w.j.m.imported
			w.fail(err)
			return
		}
		w.placeErr = err
		w.j.full.Store(true)
	}
}
