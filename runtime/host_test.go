//go:build linux

package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
)

// runHost calls a host function the way compiled code does: through the
// host-call stub, on a native stack.
func runHost(ctx context.Context, f *Func, args ...uint64) ([]uint64, error) {
	stack := make([]uint64, max(f.sig.paramSlots, f.sig.resultSlots))
	copy(stack, args)
	a := new(guestCall)
	err := a.run(ctx, f, stack)
	return stack[:f.sig.resultSlots], err
}

// Every position that an argument or a result can have, with garbage in the
// upper halves of 32-bit values.
func TestHostMarshalling(t *testing.T) {
	s := newStore(t, Config{})
	all := types(decoder.I32, decoder.I64, decoder.F32, decoder.F64, decoder.V128, decoder.ExternRef)
	seed := uint64(1)
	next := func() uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return seed ^ seed>>29
	}
	for n := range 200 {
		var ft decoder.FuncType
		for range n % 23 {
			ft.Params = append(ft.Params, all[next()%uint64(len(all))])
		}
		for range (n / 3) % 17 {
			ft.Results = append(ft.Results, all[next()%uint64(len(all))])
		}
		args, results := make([]uint64, slots(ft.Params)), make([]uint64, slots(ft.Results))
		for k := range args {
			args[k] = next()
		}
		for k := range results {
			results[k] = next()
		}
		want := func(types []decoder.Type, v []uint64) []uint64 {
			v, at := slices.Clone(v), 0
			for _, x := range types {
				v[at] = narrow(x, v[at])
				at += valueSlots(x)
			}
			return v
		}
		var got []uint64
		f := s.NewFunc(ft, func(ctx context.Context, caller *Instance, stack []uint64) error {
			if caller != nil {
				return errors.New("a caller out of nowhere")
			}
			got = slices.Clone(stack[:len(args)])
			copy(stack, results)
			return nil
		})
		out, err := runHost(bg, f, args...)
		if err != nil {
			t.Fatalf("%s: %v", typeString(&ft), err)
		}
		if !slices.Equal(got, want(ft.Params, args)) {
			t.Errorf("%s: host got %x, want %x", typeString(&ft), got, want(ft.Params, args))
		}
		if !slices.Equal(out, want(ft.Results, results)) {
			t.Errorf("%s: result %x, want %x", typeString(&ft), out, want(ft.Results, results))
		}
		if direct, err := f.Call(bg, args...); err != nil || !slices.Equal(direct, out) {
			t.Errorf("%s: called directly %x, %v", typeString(&ft), direct, err)
		}
	}
}

type exit struct{ code int }

func (e exit) Error() string { return fmt.Sprint("exit ", e.code) }

func TestHostError(t *testing.T) {
	s := newStore(t, Config{})
	f := s.NewFunc(decoder.FuncType{}, func(context.Context, *Instance, []uint64) error { return exit{3} })
	var e exit
	if _, err := runHost(bg, f); !errors.As(err, &e) || e.code != 3 {
		t.Errorf("error %v", err)
	}
	if _, err := f.Call(bg); !errors.As(err, &e) {
		t.Errorf("error %v", err)
	}
	if _, err := f.Call(bg, 1); err == nil {
		t.Error("called with too many arguments")
	}
	g := s.NewFunc(decoder.FuncType{}, func(context.Context, *Instance, []uint64) error { panic("host") })
	mustPanic(t, "host function that panics", func() { runHost(bg, g) })
	if _, err := runHost(bg, f); !errors.As(err, &e) {
		t.Errorf("error %v after a panic", err)
	}
}

// Calls from a host function with its context run on the same native stack,
// with another context or on another goroutine on one of their own.
func TestHostReentry(t *testing.T) {
	s := newStore(t, Config{})
	where := func(ctx context.Context) *nativeStack { return ctx.Value(threadKey{}).(*thread).stack }
	var leaf, f *Func
	var stacks []*nativeStack
	leaf = s.NewFunc(decoder.FuncType{}, func(ctx context.Context, _ *Instance, _ []uint64) error {
		stacks = append(stacks, where(ctx))
		return nil
	})
	f = s.NewFunc(decoder.FuncType{Params: types(decoder.I32), Results: types(decoder.I32)}, func(ctx context.Context, _ *Instance, stack []uint64) error {
		stacks = append(stacks, where(ctx))
		if stack[0] == 0 {
			if _, err := runHost(context.WithoutCancel(ctx), leaf); err != nil {
				return err
			}
			done := make(chan error)
			go func() {
				_, err := runHost(ctx, leaf)
				done <- err
			}()
			if err := <-done; err != nil {
				return err
			}
			_, err := runHost(bg, leaf)
			return err
		}
		below, err := runHost(ctx, f, stack[0]-1)
		if err != nil {
			return err
		}
		stack[0] = below[0] + stack[0]
		return nil
	})
	out, err := runHost(bg, f, 4)
	if err != nil || out[0] != 10 {
		t.Fatalf("result %d, %v", out, err)
	}
	for k, same := range []bool{true, true, true, true, true, true, false, false} {
		if (stacks[k] == stacks[0]) != same {
			t.Errorf("call %d: same native stack %v, want %v", k, !same, same)
		}
	}

	// A context that outlives its call is an ordinary one.
	var kept context.Context
	keeper := s.NewFunc(decoder.FuncType{}, func(ctx context.Context, _ *Instance, _ []uint64) error { kept = ctx; return nil })
	if _, err := runHost(bg, keeper); err != nil {
		t.Fatal(err)
	}
	if _, err := runHost(kept, leaf); err != nil {
		t.Fatal(err)
	}
}

// Endless mutual recursion of host functions through native code uses up the
// native stack, not Go's.
func TestReentryOverflow(t *testing.T) {
	s := newStore(t, Config{StackSize: 64 << 10})
	depth := 0
	var f *Func
	f = s.NewFunc(decoder.FuncType{}, func(ctx context.Context, _ *Instance, _ []uint64) error {
		depth++
		_, err := runHost(ctx, f)
		return err
	})
	_, err := runHost(bg, f)
	var trap *Trap
	if !errors.As(err, &trap) || trap.Kind != TrapStackOverflow || depth < 10 {
		t.Errorf("at depth %d: %v", depth, err)
	}
	if _, err := runHost(bg, s.NewFunc(decoder.FuncType{}, func(context.Context, *Instance, []uint64) error { return nil })); err != nil {
		t.Errorf("after an overflow: %v", err)
	}
}

func TestHostRefs(t *testing.T) {
	s := newStore(t, Config{})
	target := s.NewFunc(decoder.FuncType{}, nil)
	var back uint64
	f := s.NewFunc(decoder.FuncType{Params: types(decoder.FuncRef), Results: types(decoder.FuncRef)}, func(_ context.Context, _ *Instance, stack []uint64) error {
		if s.FuncOf(stack[0]) != target {
			return fmt.Errorf("%#x is no reference to the function", stack[0])
		}
		stack[0] = back
		return nil
	})
	ref := s.FuncRef(target)
	back = ref
	if out, err := runHost(bg, f, ref); err != nil || out[0] != ref {
		t.Errorf("%x, %v", out, err)
	}
	back = ref + 1
	if _, err := runHost(bg, f, ref); err == nil {
		t.Error("a host function returned what is no reference")
	}
	if _, err := f.Call(bg, 4096); err == nil {
		t.Error("a call took what is no reference")
	}
}

func TestWrapFunc(t *testing.T) {
	s := newStore(t, Config{})
	target := s.NewFunc(decoder.FuncType{}, nil)
	type key struct{}
	ctx := context.WithValue(bg, key{}, "v")
	f, err := s.WrapFunc(func(ctx context.Context, caller *Instance, a int32, b uint32, c int64, d uint64, e float32, f float64, g *Func, h any) (int32, uint32, int64, uint64, float32, float64, *Func, any, error) {
		if ctx.Value(key{}) != "v" || caller != nil || g != target || h != "x" {
			return 0, 0, 0, 0, 0, 0, nil, nil, fmt.Errorf("%v %v %v %v", ctx, caller, g, h)
		}
		return a - 1, b + 1, c - 1, d + 1, e / 2, f / 2, g, h, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := typeString(f.Type()), "(i32 i32 i64 i64 f32 f64 funcref externref) -> (i32 i32 i64 i64 f32 f64 funcref externref)"; got != want {
		t.Fatalf("type %s", got)
	}
	x := s.NewExternRef("x")
	out, err := runHost(ctx, f, 1<<40, math.MaxUint32, 0, math.MaxUint64-1, uint64(math.Float32bits(3)), math.Float64bits(5), s.FuncRef(target), x)
	if err != nil {
		t.Fatal(err)
	}
	want := []uint64{math.MaxUint32, 0, math.MaxUint64, math.MaxUint64, uint64(math.Float32bits(1.5)), math.Float64bits(2.5), s.FuncRef(target)}
	if !slices.Equal(out[:7], want) || s.ExternValue(out[7]) != "x" {
		t.Errorf("results %x, want %x", out, want)
	}
	if _, err := runHost(ctx, f, 0, 0, 0, 0, 0, 0, 0, 0); err == nil || !strings.Contains(err.Error(), "<nil>") {
		t.Errorf("nulls: %v", err)
	}

	nulls, err := s.WrapFunc(func(f *Func, x any) (*Func, any) { return f, x })
	if err != nil {
		t.Fatal(err)
	}
	if out, err := runHost(bg, nulls, 0, 0); err != nil || out[0] != 0 || out[1] != 0 {
		t.Errorf("nulls: %x, %v", out, err)
	}

	for _, bad := range []any{nil, 5, (func())(nil), func(...int32) {}, func(int) {}, func(string) {}, func() int { return 0 }, func(int32, context.Context) {}} {
		if f, err := s.WrapFunc(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("WrapFunc(%T) = %v, %v", bad, f, err)
		}
	}
}

func TestCancelledBefore(t *testing.T) {
	s := newStore(t, Config{})
	called := false
	f := s.NewFunc(decoder.FuncType{}, func(context.Context, *Instance, []uint64) error { called = true; return nil })
	why := errors.New("no more interest")
	ctx, cancel := context.WithCancelCause(bg)
	cancel(why)
	if _, err := f.Call(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, why) || called {
		t.Errorf("call: %v, entered %v", err, called)
	}
	d := &decoder.Module{}
	if _, err := s.Instantiate(ctx, compile(t, s, d), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("instantiate: %v", err)
	}
	// Cancelled in a host function: the caller doesn't go on.
	ctx, cancel = context.WithCancelCause(bg)
	c := new(canceller)
	c.fired.Store(true)
	cancel(why)
	if err := (&guestCall{ctx: ctx, cancel: c}).preempted(); !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
		t.Errorf("preempted: %v", err)
	}
}
