package matrix

import (
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// indexPlaces bring an address onto the stack in ways that folding into an
// addressing mode, or a wrong upper half, could get wrong.
var indexPlaces = []place{
	{"wrapping sum", func(_ *helpers, c *wasmtest.Code, s source) {
		c.Get(s.param).I32(-1 << 31).Op(0x6b).I32(-1 << 31).Op(0x6a)
	}},
	{"wrapping small sum", func(_ *helpers, c *wasmtest.Code, s source) {
		c.Get(s.param).I32(16).Op(0x6b).I32(16).Op(0x6a)
	}},
	{"shift by more than the width", func(_ *helpers, c *wasmtest.Code, s source) {
		c.Get(s.param).I32(1).Op(0x76).I32(33).Op(0x74)
		c.Get(s.param).I32(1).Op(0x71, 0x72)
	}},
	{"failed memory.grow", func(_ *helpers, c *wasmtest.Code, s source) {
		c.I32(-1).OpU(0x40, 0).Get(s.param).Op(0x71) // -1 & index
	}},
	{"failed memory.grow itself", func(_ *helpers, c *wasmtest.Code, s source) { c.I32(-1).OpU(0x40, 0) }},
	{"failed table.grow itself", func(_ *helpers, c *wasmtest.Code, s source) {
		c.Const(decoder.FuncRef, 0).I32(-1).OpU(0xfc0f, 0)
	}},
	{"sign-extended and wrapped", func(_ *helpers, c *wasmtest.Code, s source) { c.Get(s.param).Op(0xac, 0xa7) }},
	{"conversion", func(_ *helpers, c *wasmtest.Code, s source) { c.Get(s.param).Op(0xb8).OpU(0xfc03) }}, // by way of f64
}

// indices gives addresses on both sides of the limit for an access of size
// bytes at offset off in one page.
func indices(off uint32, size int) []uint64 {
	limit := int64(65536) - int64(off)
	var list []uint64
	for _, x := range []int64{0, 1, limit - int64(size) - 1, limit - int64(size), limit - int64(size) + 1, limit - 1, limit, limit + 1,
		1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<32 - 2, 1<<32 - int64(off), 1<<32 - int64(off) + 8} {
		if x >= 0 && x < 1<<32 {
			list = append(list, uint64(x))
		}
	}
	return list
}

// buildAccess makes the module of a load or store.
func buildAccess(r *Row, a *access) *builder {
	operands, result := []decoder.Type{decoder.I32}, a.t
	if a.store {
		operands, result = append(operands, a.t), decoder.I32
	}
	var off uint32
	b := newBuilder(r.Name, operands, result, func(c *wasmtest.Code) {
		c.OpU(r.Op, 0, off)
		if a.store {
			c.I32(7)
		}
	})
	b.m.Export("memory", decoder.ExternMemory, 0)
	b.m.Data(0, pattern(65536))
	value := edges[a.t]
	for _, off = range offsets {
		var in [][]uint64
		for i, x := range indices(off, a.bytes) {
			in = append(in, append([]uint64{x}, value[(b.turn+i)%len(value)])[:len(operands)])
		}
		for _, p := range append(append([]place(nil), places...), indexPlaces...) {
			ps := []place{p, places[b.turn%len(places)]}[:len(operands)]
			b.add(ps, in[0], b.next(), straight, in)
			b.add(ps, in[0], b.next(), shape(b.turn)%numShapes, in)
		}
		for _, x := range in {
			ps := []place{constant, places[b.turn%len(places)]}[:len(operands)]
			b.add(ps, x, b.next(), shape(b.turn)%numShapes, [][]uint64{x})
			if a.store {
				b.add([]place{constant, constant}, x, b.next(), straight, [][]uint64{x})
				b.add([]place{places[b.turn%len(places)], constant}, x, b.next(), shape(b.turn)%numShapes, [][]uint64{x})
			}
		}
	}
	return b
}

// TestAccess runs the loads and stores.
func TestAccess(t *testing.T) {
	rows, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	forEngines(t, func(t *testing.T, open open) {
		functions, calls := 0, 0
		for i := range rows {
			r := &rows[i]
			a := accessOf(r)
			if a == nil {
				continue
			}
			t.Run(r.Name, func(t *testing.T) {
				b := buildAccess(r, a)
				functions += len(b.variants)
				calls += newTwins(t, open(t), b.m.Bytes()).run(t, b)
			})
		}
		t.Logf("%d functions, %d calls", functions, calls)
	})
}

// TestGrow reaches into memory around its end while it grows.
func TestGrow(t *testing.T) {
	forEngines(t, func(t *testing.T, open open) {
		for _, max := range []int64{-1, 3} {
			m := wasmtest.New()
			m.Memory(1, max)
			m.Export("memory", decoder.ExternMemory, 0)
			i32 := wasmtest.Types(decoder.I32)
			var size, grow, load, store, both wasmtest.Code
			m.Func("size", m.Type(nil, i32), nil, *size.OpU(0x3f, 0))
			m.Func("grow", m.Type(i32, i32), nil, *grow.Get(0).OpU(0x40, 0))
			m.Func("load", m.Type(i32, i32), nil, *load.Get(0).Load(0x28, 4))
			m.Func("store", m.Type(i32, nil), nil, *store.Get(0).Get(0).Store(0x36, 4))
			// Grow and access in one function: nothing about the memory may be
			// remembered across the call.
			m.Func("both", m.Type(i32, i32), nil, *both.Get(0).Load(0x2d, 0).I32(1).OpU(0x40, 0).
				Op(0x6a).Get(0).Load(0x2d, 65535).Op(0x6a).OpU(0x3f, 0).Op(0x6a))
			w := newTwins(t, open(t), m.Bytes())
			edge := func() {
				for _, pages := range []uint64{1, 2, 3, 4} {
					for d := range uint64(12) {
						w.call(t, "load", "load", pages<<16-12+d)
						w.call(t, "store", "store", pages<<16-12+d)
					}
				}
				w.call(t, "size", "size")
			}
			edge()
			for _, delta := range []uint64{0, 1, 1 << 31, 1<<32 - 1, 65536, 1, 1, 1} {
				w.call(t, "grow", "grow", delta)
				edge()
				w.call(t, "both", "load, grow and load", 100)
				edge()
			}
			w.done(t)
		}
	})
}

// bulkEdges are addresses and lengths for one page and a segment of 64 bytes.
var bulkEdges = []uint64{0, 1, 3, 32, 63, 64, 65, 4095, 65535, 65536, 65537, 1 << 31, 1<<32 - 1}

// TestBulk runs the bulk memory opcodes: one out of bounds writes nothing.
func TestBulk(t *testing.T) {
	i32s := wasmtest.Types(decoder.I32, decoder.I32, decoder.I32)
	segment := pattern(64)
	for _, x := range []struct {
		name string
		op   []byte
	}{
		{"memory.fill", []byte{0xfc, 0x0b, 0}},
		{"memory.copy", []byte{0xfc, 0x0a, 0, 0}},
		{"memory.init", []byte{0xfc, 0x08, 1, 0}},
		{"memory.init of a dropped segment", []byte{0xfc, 0x08, 0, 0}},
		{"data.drop, memory.init", []byte{0xfc, 0x09, 1, 0xfc, 0x08, 1, 0}},
	} {
		t.Run(x.name, func(t *testing.T) {
			forEngines(t, func(t *testing.T, open open) {
				b := newBuilder(x.name, i32s, decoder.I32, func(c *wasmtest.Code) { c.Op(x.op...).I32(7) })
				b.m.Export("memory", decoder.ExternMemory, 0)
				b.m.Data(0, pattern(65536))
				b.m.PassiveData(segment)
				for _, dst := range bulkEdges {
					for _, src := range append([]uint64{0x1ff, 0xab00}, bulkEdges...) {
						for _, n := range bulkEdges {
							ps := make([]place, 3)
							for i := range ps {
								b.turn++
								if ps[i] = constant; b.turn%7 != i {
									ps[i] = places[b.turn*(i+1)%len(places)]
								}
							}
							in := []uint64{dst, src, n}
							b.add(ps, in, b.next(), shape(b.turn)%numShapes, [][]uint64{in})
						}
					}
				}
				newTwins(t, open(t), b.m.Bytes()).run(t, b)
			})
		})
	}
}
