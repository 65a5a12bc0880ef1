package matrix

import (
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/refinterp"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// TestCalls calls functions of random signatures directly, through the
// table, across instances and into Go.
func TestCalls(t *testing.T) {
	forEngines(t, func(t *testing.T, open open) {
		calls := 0
		for seed := range uint64(8) {
			g := newCallGen(seed, 60)
			main := g.finish()
			instance := func(e engine.Engine) engine.Instance {
				host, err := e.Host(g.host)
				if err != nil {
					t.Fatal(err)
				}
				peer := instantiate(t, e, g.peer.Bytes(), nil)
				return instantiate(t, e, main, map[string]engine.Exporter{"peer": peer, "gohost": host})
			}
			e := open(t)
			w := &twins{name: e.Name(), got: instance(e), want: instance(refinterp.New(0))}
			b := &builder{variants: g.callers}
			calls += w.run(t, b)
		}
		t.Logf("%d calls", calls)
	})
}

// TestIndirectTraps calls table entries that are out of bounds, null, of
// another type, or of an equal type under another index.
func TestIndirectTraps(t *testing.T) {
	m := wasmtest.New()
	i32 := wasmtest.Types(decoder.I32)
	unary := m.Type(i32, i32)
	other := m.Type(i32, wasmtest.Types(decoder.I64))
	table := m.Table(decoder.FuncRef, 6, -1)
	var same, widen wasmtest.Code
	f := m.Func("", unary, nil, *same.Get(0))
	g := m.Func("", other, nil, *widen.Get(0).Op(0xad))
	m.Elem(table, 0, f, g)
	m.Elem(table, 5, f)
	var call, callConst wasmtest.Code
	m.Func("call", m.Type(wasmtest.Types(decoder.I32, decoder.I32), i32), nil, *call.Get(0).Get(1).OpU(0x11, unary, table))
	for i := range int32(8) {
		callConst = nil
		m.Func(string(rune('a'+i)), m.Type(nil, i32), nil, *callConst.I32(9).I32(i-1).OpU(0x11, unary, table))
	}
	forEngines(t, func(t *testing.T, open open) {
		w := newTwins(t, open(t), m.Bytes())
		for _, i := range []uint64{0, 1, 2, 5, 6, 7, 1 << 31, 1<<32 - 1, garbage, garbage | 5} {
			w.call(t, "call", "call_indirect", 42, i)
		}
		for i := range int32(8) {
			w.call(t, string(rune('a'+i)), "call_indirect of a constant")
		}
		w.done(t)
	})
}

// TestTables runs the table opcodes on both sides of their limits.
func TestTables(t *testing.T) {
	for _, elem := range []decoder.Type{decoder.FuncRef, decoder.ExternRef} {
		t.Run(elem.String(), func(t *testing.T) {
			bin := tableModule(elem)
			forEngines(t, func(t *testing.T, open open) {
				w := newTwins(t, open(t), bin)
				runTables(t, w, elem)
				w.done(t)
			})
		})
	}
}

// tableModule has two tables and a function per opcode. References can't be
// compared across engines, so results are sizes, null tests and call results.
func tableModule(elem decoder.Type) []byte {
	m := wasmtest.New()
	i32 := wasmtest.Types(decoder.I32)
	i32x2, i32x3 := wasmtest.Types(decoder.I32, decoder.I32), wasmtest.Types(decoder.I32, decoder.I32, decoder.I32)
	answer := m.Type(nil, i32)
	t0 := m.Table(elem, 8, 20)
	t1 := m.Table(elem, 4, -1)
	c := func() *wasmtest.Code { return new(wasmtest.Code) }
	for v := range int32(2) {
		m.Func("", answer, nil, *c().I32(v + 50))
	}
	m.Func("isnull0", m.Type(i32, i32), nil, *c().Get(0).OpU(0x25, t0).Op(0xd1))
	m.Func("isnull1", m.Type(i32, i32), nil, *c().Get(0).OpU(0x25, t1).Op(0xd1))
	m.Func("clear", m.Type(i32, nil), nil, *c().Get(0).Const(elem, 0).OpU(0x26, t0))
	m.Func("size0", answer, nil, *c().OpU(0xfc10, t0))
	m.Func("size1", answer, nil, *c().OpU(0xfc10, t1))
	m.Func("growNull", m.Type(i32, i32), nil, *c().Const(elem, 0).Get(0).OpU(0xfc0f, t0))
	// The first entry, so that grow and fill have something to write.
	m.Func("grow", m.Type(i32, i32), nil, *c().I32(0).OpU(0x25, t0).Get(0).OpU(0xfc0f, t0))
	m.Func("grow1", m.Type(i32, i32), nil, *c().I32(0).OpU(0x25, t0).Get(0).OpU(0xfc0f, t1))
	m.Func("fill", m.Type(i32x2, nil), nil, *c().Get(0).I32(0).OpU(0x25, t0).Get(1).OpU(0xfc11, t0))
	m.Func("fillNull", m.Type(i32x2, nil), nil, *c().Get(0).Const(elem, 0).Get(1).OpU(0xfc11, t1))
	m.Func("copy01", m.Type(i32x3, nil), nil, *c().Get(0).Get(1).Get(2).OpU(0xfc0e, t0, t1))
	m.Func("copy10", m.Type(i32x3, nil), nil, *c().Get(0).Get(1).Get(2).OpU(0xfc0e, t1, t0))
	m.Func("copy00", m.Type(i32x3, nil), nil, *c().Get(0).Get(1).Get(2).OpU(0xfc0e, t0, t0))
	m.Func("move", m.Type(i32x2, nil), nil, *c().Get(0).Get(1).OpU(0x25, t0).OpU(0x26, t1))
	if elem == decoder.FuncRef {
		m.Elem(t0, 0, 0, 1)
		s := m.PassiveElem(0, 1, 0, 1)
		m.Func("init", m.Type(i32x3, nil), nil, *c().Get(0).Get(1).Get(2).OpU(0xfc0c, s, t0))
		m.Func("drop", m.Type(nil, nil), nil, *c().OpU(0xfc0d, s))
		m.Func("call0", m.Type(i32, i32), nil, *c().Get(0).OpU(0x11, answer, t0))
		m.Func("call1", m.Type(i32, i32), nil, *c().Get(0).OpU(0x11, answer, t1))
		m.Func("setFunc", m.Type(i32, nil), nil, *c().Get(0).OpU(0xd2, 1).OpU(0x26, t0))
		m.Func("selectRef", m.Type(i32, i32), nil, *c().OpU(0xd2, 1).Const(elem, 0).Get(0).Op(0x1c, 1, wasmtest.Type(elem), 0xd1))
	} else {
		m.Func("setFunc", m.Type(wasmtest.Types(decoder.I32, elem), nil), nil, *c().Get(0).Get(1).OpU(0x26, t0))
		m.Func("selectRef", m.Type(wasmtest.Types(decoder.I32, elem), i32), nil, *c().Get(1).Const(elem, 0).Get(0).Op(0x1c, 1, wasmtest.Type(elem), 0xd1))
	}
	return m.Bytes()
}

func runTables(t *testing.T, w *twins, elem decoder.Type) {
	edge := []uint64{0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 1 << 31, 1<<32 - 1}
	var refs []uint64 // trailing argument of some calls
	if elem == decoder.ExternRef {
		refs = []uint64{hostRef}
	}
	state := func() {
		w.call(t, "size0", "table.size")
		w.call(t, "size1", "table.size")
		for _, i := range edge {
			w.call(t, "isnull0", "table.get", i)
			w.call(t, "isnull1", "table.get", i)
			if elem == decoder.FuncRef {
				w.call(t, "call0", "call_indirect", i)
				w.call(t, "call1", "call_indirect", i)
			}
		}
	}
	state()
	for _, i := range edge {
		w.call(t, "setFunc", "table.set", append([]uint64{i}, refs...)...)
		w.call(t, "selectRef", "select of references", append([]uint64{i}, refs...)...)
		w.call(t, "clear", "table.set of null", i^1)
		w.call(t, "move", "table.set of table.get", i, i)
		for _, n := range edge {
			w.call(t, "fill", "table.fill", i, n)
			w.call(t, "fillNull", "table.fill of null", i, n)
			for _, s := range edge {
				for _, f := range []string{"copy00", "copy01", "copy10", "init"} {
					if f != "init" || elem == decoder.FuncRef {
						w.call(t, f, f, i, s, n)
					}
				}
			}
		}
		state()
	}
	if elem == decoder.FuncRef {
		w.call(t, "drop", "elem.drop")
		w.call(t, "init", "table.init of a dropped segment", 0, 0, 1)
		w.call(t, "init", "table.init of nothing of a dropped segment", 0, 0, 0)
	}
	for _, n := range []uint64{0, 1, 3, 100, 1<<32 - 1, 8, 1} {
		w.call(t, "grow", "table.grow", n)
		w.call(t, "growNull", "table.grow with null", n)
		w.call(t, "grow1", "table.grow", n%50)
		state()
	}
}
