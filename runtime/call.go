package runtime

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

// Func is a function: one of an instance, or a host function.
type Func struct {
	store *Store
	sig   *signature
	inst  *Instance // nil for a host function
	index uint32    // in inst
	host  HostFunc

	entry  uintptr // code address
	block  uintptr // instance block, or the host function's
	record uintptr // own function record; 0 if nothing can refer to the function
}

// Type gives the function's type. It must not be changed.
func (f *Func) Type() *decoder.FuncType { return &f.sig.typ }

func (f *Func) kind() decoder.ExternKind { return decoder.ExternFunc }

// Call calls the function. Arguments and results are one uint64 each:
// integers (an i32 in the low half, its upper half ignored and zero in
// results), floats as their bits, references as Store.FuncRef and
// Store.NewExternRef make them (two for a v128).
//
// The error is a *Trap; what a host function returned; or, when ctx was
// cancelled before or during the call, an error that wraps ctx.Err(). A
// cancelled call stops at the next instruction that lies between two others,
// loops and host functions that watch their context included. A context that
// was given to a host function makes the call run on the native stack of the
// call it serves.
func (f *Func) Call(ctx context.Context, args ...uint64) ([]uint64, error) {
	if len(args) != f.sig.paramSlots {
		return nil, fmt.Errorf("function of type %s called with %d values instead of %d", typeString(&f.sig.typ), len(args), f.sig.paramSlots)
	}
	stack := make([]uint64, max(f.sig.paramSlots, f.sig.resultSlots))
	copy(stack, args)
	if err := f.invoke(ctx, stack); err != nil {
		return nil, err
	}
	return stack[:f.sig.resultSlots], nil
}

// CallStack is Call without an allocation: arguments in stack, over which the
// results are written, from stack[0]. stack must have room for both.
func (f *Func) CallStack(ctx context.Context, stack []uint64) error {
	if need := max(f.sig.paramSlots, f.sig.resultSlots); len(stack) < need {
		return fmt.Errorf("function of type %s called with room for %d values instead of %d", typeString(&f.sig.typ), len(stack), need)
	}
	return f.invoke(ctx, stack)
}

func (f *Func) invoke(ctx context.Context, stack []uint64) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	if !f.life().enter() {
		return errClosed
	}
	defer f.life().leave()
	if f.sig.funcRefParam {
		if err := f.store.checkRefs(f.sig.typ.Params, stack); err != nil {
			return err
		}
	}
	if f.host != nil {
		return f.callHost(ctx, nil, stack)
	}
	a := guestCalls.Get().(*guestCall)
	defer guestCalls.Put(a)
	return a.run(ctx, f, stack)
}

// callHost runs a host function and checks what it returns, for compiled code
// trusts it.
func (f *Func) callHost(ctx context.Context, caller *Instance, stack []uint64) error {
	if err := f.host(ctx, caller, stack); err != nil {
		return err
	}
	at := 0
	for _, t := range f.sig.typ.Results {
		stack[at] = narrow(t, stack[at])
		at += valueSlots(t)
	}
	if f.sig.funcRefResult {
		return f.store.checkRefs(f.sig.typ.Results, stack)
	}
	return nil
}

// thread is what a goroutine and its calls share: the native stack they nest
// on. It travels in the context that host functions get.
type thread struct {
	stack *nativeStack
	// g is the goroutine that uses the stack, 0 for none. Only that
	// goroutine touches the fields below. Contexts leak to other goroutines
	// and outlive calls; both are found out by g.
	g atomic.Uintptr
	// inHost is set while a host function runs, which is when the stack can
	// take another call.
	inHost bool
	// cancel is the innermost call's that watches a context, and done that
	// context's channel: calls under the same channel need no other.
	cancel *canceller
	done   <-chan struct{}
}

type threadKey struct{}

// guestCall is one call from Go into compiled code, and the exitHandler of
// its run. They are reused.
type guestCall struct {
	store   *Store
	ctx     context.Context
	hostCtx context.Context // ctx with the thread in it, once it is needed
	thread  *thread
	own     thread // the thread of an outermost call
	cancel  *canceller
	call    nativeCall
	args    []uint64 // of host calls
}

var guestCalls = sync.Pool{New: func() any { return new(guestCall) }}

func (a *guestCall) run(ctx context.Context, f *Func, stack []uint64) error {
	a.store, a.ctx, a.thread = f.store, ctx, nil
	defer a.reset()
	g := goroutine()
	if t, _ := ctx.Value(threadKey{}).(*thread); t != nil {
		if g != 0 && t.g.Load() == g && t.inHost {
			a.thread, a.hostCtx = t, ctx
			t.inHost = false
			defer func() { t.inHost = true }()
		}
	}
	if a.thread == nil {
		s, err := acquireStack(f.store.stackSize)
		if err != nil {
			return fmt.Errorf("native stack: %w", err)
		}
		a.thread = &a.own
		a.own.stack = s
		a.own.g.Store(g)
		defer func() {
			a.own.g.Store(0)
			a.own.inHost = false
			s.release()
		}()
	}
	if done := ctx.Done(); done != nil {
		t := a.thread
		if t.done == done {
			a.cancel = t.cancel
		} else {
			outer, outerDone := t.cancel, t.done
			a.cancel = &canceller{stack: t.stack}
			t.cancel, t.done = a.cancel, done
			end := a.cancel.watch(ctx)
			defer func() {
				end()
				t.cancel, t.done = outer, outerDone
			}()
		}
	}

	a.call.Entry, a.call.Inst = f.entry, f.block
	f.sig.storeParams(&a.call, stack)
	fault, err := a.thread.stack.run(&a.call, a)
	if err != nil {
		if t, ok := err.(*Trap); ok && fault != nil && fault.Kind == routineTrap {
			t.Frames = a.frames(fault)
		}
		return err
	}
	if fault != nil {
		return a.trap(fault)
	}
	f.sig.loadResults(&a.call, stack)
	if f.sig.funcRefResult {
		f.store.refsOut(f.sig.typ.Results, stack)
	}
	return nil
}

func (a *guestCall) reset() {
	a.store, a.ctx, a.hostCtx, a.thread, a.cancel = nil, nil, nil, nil, nil
	a.own.stack = nil
}

// storeParams puts arguments where compiled code expects them.
func (sig *signature) storeParams(c *nativeCall, args []uint64) {
	if cap(c.Stack) < sig.paramCells {
		c.Stack = make([]uint64, sig.paramCells)
	}
	c.Stack = c.Stack[:sig.paramCells]
	c.ResultCells = sig.cells - sig.paramCells
	at := 0
	for n, t := range sig.typ.Params {
		v := narrow(t, args[at])
		switch loc := sig.params[n]; loc.Kind {
		case liftoff.ABIGP:
			c.GP[loc.Index] = v
		case liftoff.ABIFP:
			c.FP[loc.Index][0] = v
			if t == decoder.V128 {
				c.FP[loc.Index][1] = args[at+1]
			}
		default:
			c.Stack[loc.Index] = v
			if t == decoder.V128 {
				c.Stack[loc.Index+1] = args[at+1]
			}
		}
		at += valueSlots(t)
	}
}

// loadResults takes results from where compiled code left them.
func (sig *signature) loadResults(c *nativeCall, out []uint64) {
	at := 0
	for n, t := range sig.typ.Results {
		switch loc := sig.results[n]; loc.Kind {
		case liftoff.ABIGP:
			out[at] = narrow(t, c.RetGP)
		case liftoff.ABIFP:
			out[at] = narrow(t, c.RetFP[0])
			if t == decoder.V128 {
				out[at+1] = c.RetFP[1]
			}
		default:
			cell := int(loc.Index) - sig.paramCells
			out[at] = narrow(t, c.Results[cell])
			if t == decoder.V128 {
				out[at+1] = c.Results[cell+1]
			}
		}
		at += valueSlots(t)
	}
}

func valueSlots(t decoder.Type) int {
	if t == decoder.V128 {
		return 2
	}
	return 1
}

// hostCall serves a call of a host function by compiled code.
func (a *guestCall) hostCall(h *hostFrame) error {
	f := a.store.handles.get(loadWord(h.Callee() + liftoff.InstID)).host
	var caller *Instance
	if block := h.Caller(); block != 0 {
		caller = a.store.handles.get(loadWord(block + liftoff.InstID)).inst
	}
	sig := f.sig
	n := max(sig.paramSlots, sig.resultSlots)
	if cap(a.args) < n {
		a.args = make([]uint64, n)
	}
	stack := a.args[:n]
	sig.loadHostArgs(h, stack)
	if sig.funcRefParam {
		a.store.refsOut(sig.typ.Params, stack)
	}
	if a.hostCtx == nil {
		a.hostCtx = context.WithValue(a.ctx, threadKey{}, a.thread)
	}
	a.thread.inHost = true
	err := f.callHost(a.hostCtx, caller, stack)
	a.thread.inHost = false
	if err != nil {
		return err
	}
	if err := a.preempted(); err != nil {
		return err
	}
	sig.storeHostResults(h, stack)
	return nil
}

// loadHostArgs is the host function's side of storeParams.
func (sig *signature) loadHostArgs(h *hostFrame, stack []uint64) {
	cells := h.Cells(sig.cells)
	at := 0
	for n, t := range sig.typ.Params {
		switch loc := sig.params[n]; loc.Kind {
		case liftoff.ABIGP:
			stack[at] = narrow(t, h.GP[loc.Index])
		case liftoff.ABIFP:
			stack[at] = narrow(t, h.FP[loc.Index][0])
			if t == decoder.V128 {
				stack[at+1] = h.FP[loc.Index][1]
			}
		default:
			stack[at] = narrow(t, cells[loc.Index])
			if t == decoder.V128 {
				stack[at+1] = cells[loc.Index+1]
			}
		}
		at += valueSlots(t)
	}
	clear(stack[at:])
}

// storeHostResults is the host function's side of loadResults; callHost
// narrowed the values.
func (sig *signature) storeHostResults(h *hostFrame, stack []uint64) {
	cells := h.Cells(sig.cells)
	at := 0
	for n, t := range sig.typ.Results {
		var hi uint64
		if t == decoder.V128 {
			hi = stack[at+1]
		}
		switch loc := sig.results[n]; loc.Kind {
		case liftoff.ABIGP:
			h.SetGP(stack[at])
		case liftoff.ABIFP:
			h.SetFP(stack[at], hi)
		default:
			cells[loc.Index] = stack[at]
			if t == decoder.V128 {
				cells[loc.Index+1] = hi
			}
		}
		at += valueSlots(t)
	}
}

// preempted ends the run if the context was cancelled.
func (a *guestCall) preempted() error {
	if a.cancel != nil && a.cancel.fired.Load() {
		return cancelled(a.ctx)
	}
	return nil
}

// canceller interrupts a native stack when a context is cancelled.
type canceller struct {
	fired atomic.Bool
	mu    sync.Mutex
	stack *nativeStack // nil once the call is over
}

// watch begins; what it returns ends it.
func (c *canceller) watch(ctx context.Context) (end func()) {
	stop := context.AfterFunc(ctx, func() {
		c.fired.Store(true)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stack != nil {
			c.stack.interrupt()
		}
	})
	return func() {
		stop()
		// The stack may serve another call next: wait for an interrupt that
		// is on its way, and let none come later.
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stack = nil
	}
}

// cancelled wraps the reason why ctx is done.
func cancelled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || cause == err {
		return fmt.Errorf("call cancelled: %w", err)
	}
	return fmt.Errorf("call cancelled: %w: %w", err, cause)
}
