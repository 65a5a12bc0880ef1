package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/refinterp"
)

// outcome is what a call gave, in a form that two engines can be compared by.
type outcome struct {
	results []uint64
	failure string
}

func outcomeOf(results []uint64, err error) outcome {
	var f *engine.Failure
	switch {
	case err == nil:
		return outcome{results: results}
	case errors.As(err, &f):
		return outcome{failure: f.Stage.String() + " " + f.Msg}
	}
	return outcome{failure: err.Error()}
}

func (o outcome) String() string {
	if o.failure != "" {
		return o.failure
	}
	return fmt.Sprintf("%x", o.results)
}

// twins are instances of one module on the engine under test and on the
// reference interpreter.
type twins struct {
	name      string // of the engine under test
	got, want engine.Instance
	// The bits of host reference 7 on each side.
	gotRef, wantRef uint64
	faults          int
}

// hostRef stands for a host reference among the arguments of a call.
const hostRef = 0xe7e7e7e7_e7e7e7e7

// newTwins instantiates a module on both engines. Its memory, if it has one,
// must be exported as "memory".
func newTwins(t *testing.T, e engine.Engine, bin []byte) *twins {
	t.Helper()
	ref := refinterp.New(0)
	return &twins{
		name: e.Name(), got: instantiate(t, e, bin, nil), want: instantiate(t, ref, bin, nil),
		gotRef: e.ExternRef(7), wantRef: ref.ExternRef(7),
	}
}

// call calls an export on both sides and compares what came out and the
// memories. what describes the call.
func (w *twins) call(t *testing.T, export, what string, args ...uint64) {
	t.Helper()
	f, g := w.got.Func(export), w.want.Func(export)
	if f == nil || g == nil {
		t.Fatalf("no export %q", export)
	}
	got, want := outcomeOf(f.Call(substitute(args, w.gotRef)...)), outcomeOf(g.Call(substitute(args, w.wantRef)...))
	msg := ""
	if got.failure != want.failure || !slices.Equal(got.results, want.results) {
		msg = fmt.Sprintf("got %s, want %s", got, want)
	} else if m, n := w.got.Memory("memory"), w.want.Memory("memory"); !bytes.Equal(m, n) {
		msg = diffBytes(m, n)
		copy(m, n)
	}
	if msg == "" {
		return
	}
	if w.faults++; w.faults <= maxFaults {
		t.Errorf("%s(%x): %s", what, args, msg)
	}
}

// substitute puts a reference in the place of hostRef.
func substitute(args []uint64, ref uint64) []uint64 {
	if !slices.Contains(args, hostRef) {
		return args
	}
	args = slices.Clone(args)
	for i := range args {
		if args[i] == hostRef {
			args[i] = ref
		}
	}
	return args
}

// done reports faults that were not printed.
func (w *twins) done(t *testing.T) {
	t.Helper()
	if w.faults > maxFaults {
		t.Errorf("and %d more", w.faults-maxFaults)
	}
}

func diffBytes(m, n []byte) string {
	if len(m) != len(n) {
		return fmt.Sprintf("memory of %d bytes, want %d", len(m), len(n))
	}
	for i := range m {
		if m[i] != n[i] {
			return fmt.Sprintf("memory byte 0x%x is 0x%02x, want 0x%02x", i, m[i], n[i])
		}
	}
	return "equal"
}

// run calls every variant of a builder on both sides.
func (w *twins) run(t *testing.T, b *builder) (calls int) {
	t.Helper()
	for i := range b.variants {
		v := &b.variants[i]
		for _, args := range v.inputs {
			calls++
			w.call(t, v.export, v.name, b.dirty(args)...)
		}
	}
	w.done(t)
	return calls
}
