//go:build linux

package runtime

import (
	"context"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// A call from Go of a function that does nothing.
func BenchmarkCall(b *testing.B) {
	s := newStore(b, Config{})
	m := wasmtest.New()
	m.Func("f", m.Type(types(decoder.I32), types(decoder.I32)), nil, code(func(c *wasmtest.Code) { c.Get(0) }))
	f := start(b, s, m, nil).Func("f")
	for name, ctx := range map[string]context.Context{"background": bg, "cancellable": b.Context()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			stack := []uint64{1}
			for b.Loop() {
				if err := f.CallStack(ctx, stack); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A host function called from a guest loop.
func BenchmarkHostCall(b *testing.B) {
	s := newStore(b, Config{})
	raw := s.NewFunc(decoder.FuncType{Params: types(decoder.I32), Results: types(decoder.I32)}, func(context.Context, *Instance, []uint64) error { return nil })
	wrapped, err := s.WrapFunc(func(n int32) int32 { return n })
	if err != nil {
		b.Fatal(err)
	}
	for name, host := range map[string]*Func{"raw": raw, "wrapped": wrapped} {
		m := wasmtest.New()
		m.ImportFunc("env", "f", m.Type(types(decoder.I32), types(decoder.I32)))
		m.Func("loop", m.Type(types(decoder.I32), nil), nil, code(func(c *wasmtest.Code) {
			c.Block(0x03, wasmtest.Empty).I32(1).Call(0).Op(0x1a).Get(0).I32(1).Op(0x6b).Tee(0).OpU(0x0d, 0).End()
		}))
		loop := start(b, s, m, Imports{"env": {"f": host}}).Func("loop")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			if _, err := loop.Call(bg, uint64(b.N)); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// Instantiating and closing a small module.
func BenchmarkInstantiate(b *testing.B) {
	s := newStore(b, Config{})
	mod := load(b, s, adder(1).Bytes())
	b.ReportAllocs()
	for b.Loop() {
		i, err := s.Instantiate(bg, mod, nil)
		if err != nil {
			b.Fatal(err)
		}
		i.Close()
	}
}
