package matrix

import (
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// helpers are what every generated module contains besides its rows.
type helpers struct {
	m        *wasmtest.Module
	nop      uint32                  // a function that does nothing
	identity map[decoder.Type]uint32 // returns its argument
	host     map[decoder.Type]uint32 // the same, imported
	slot     map[decoder.Type]uint32 // the identity's table entry
	sig      map[decoder.Type]uint32 // its type
	global   map[decoder.Type]uint32
}

var numTypes = []decoder.Type{decoder.I32, decoder.I64, decoder.F32, decoder.F64}

// garbage fills the upper half of a 32-bit value in 64 bits.
const garbage = 0xdeadbeef00000000

// hostModule is what the generated modules import as "host": identities that
// leave garbage above 32-bit results.
func hostModule() *engine.HostModule {
	h := &engine.HostModule{Funcs: map[string]engine.HostFunc{}}
	for _, t := range numTypes {
		dirty := t == decoder.I32 || t == decoder.F32
		h.Funcs[t.String()] = engine.HostFunc{
			Type: decoder.FuncType{Params: []decoder.Type{t}, Results: []decoder.Type{t}},
			Fn: func(stack []uint64) error {
				if dirty {
					stack[0] = stack[0]&0xffffffff | garbage
				}
				return nil
			},
		}
	}
	return h
}

// newHelpers starts a module. Memory 0 has one page that is never grown, so
// that memory.size is a 1 the compiler can't fold.
func newHelpers() *helpers { return newHelpersWith(nil, 1) }

// newHelpersWith lets imports add more of them, and memory 0 grow to max pages.
func newHelpersWith(imports func(*wasmtest.Module), max int64) *helpers {
	h := &helpers{
		m: wasmtest.New(), identity: map[decoder.Type]uint32{}, host: map[decoder.Type]uint32{},
		slot: map[decoder.Type]uint32{}, sig: map[decoder.Type]uint32{}, global: map[decoder.Type]uint32{},
	}
	for _, t := range numTypes {
		h.sig[t] = h.m.Type(wasmtest.Types(t), wasmtest.Types(t))
		h.host[t] = h.m.ImportFunc("host", t.String(), h.sig[t])
	}
	if imports != nil {
		imports(h.m)
	}
	h.m.Memory(1, max)
	table := h.m.Table(decoder.FuncRef, 8, 8)
	h.nop = h.m.Func("", h.m.Type(nil, nil), nil, nil)
	for i, t := range numTypes {
		var c wasmtest.Code
		h.identity[t] = h.m.Func("", h.sig[t], nil, *c.Get(0))
		h.slot[t] = uint32(i + 1)
		h.m.Elem(table, uint32(i+1), h.identity[t])
		h.global[t] = h.m.Global(t, 0)
	}
	return h
}

// source is an operand: parameter and spare local to use, its type, and its
// value where that is known when the module is built.
type source struct {
	t            decoder.Type
	param, spare uint32
	bits         uint64
}

// place brings an operand onto the stack from one kind of place.
type place struct {
	name string
	emit func(h *helpers, c *wasmtest.Code, s source)
}

// one pushes a 1 that the compiler can't fold.
func one(c *wasmtest.Code) *wasmtest.Code { return c.OpU(0x3f, 0) }

// computed pushes the operand as the result of instructions, so that it is
// in a register; what passes through 64 bits had garbage in the upper half.
func computed(_ *helpers, c *wasmtest.Code, s source) {
	c.Get(s.param)
	switch s.t {
	case decoder.I32:
		dirty := uint64(garbage)
		c.Op(0xad).I64(int64(dirty)).Op(0x84, 0xa7) // extend_u, or, wrap
	case decoder.I64:
		c.I64(0x5a5a5a5a5a5a5a5a).Op(0x85).I64(0x5a5a5a5a5a5a5a5a).Op(0x85)
	case decoder.F32:
		c.Op(0xbc).I32(0x5a5a5a5a).Op(0x73).I32(0x5a5a5a5a).Op(0x73, 0xbe)
	case decoder.F64:
		c.Op(0xbd).I64(0x5a5a5a5a5a5a5a5a).Op(0x85).I64(0x5a5a5a5a5a5a5a5a).Op(0x85, 0xbf)
	}
}

var loadOps = map[decoder.Type]byte{decoder.I32: 0x28, decoder.I64: 0x29, decoder.F32: 0x2a, decoder.F64: 0x2b}
var storeOps = map[decoder.Type]byte{decoder.I32: 0x36, decoder.I64: 0x37, decoder.F32: 0x38, decoder.F64: 0x39}

// places are the operand locations that don't need the value when the module
// is built.
var places = []place{
	{"param", func(_ *helpers, c *wasmtest.Code, s source) { c.Get(s.param) }},
	{"register", computed},
	{"slot", func(h *helpers, c *wasmtest.Code, s source) {
		computed(h, c, s)
		c.Call(h.nop) // a call spills what is on the stack
	}},
	{"alias", func(_ *helpers, c *wasmtest.Code, s source) { c.Get(s.param).Set(s.spare).Get(s.spare) }},
	{"tee", func(_ *helpers, c *wasmtest.Code, s source) { c.Get(s.param).Tee(s.spare) }},
	{"stale alias", func(_ *helpers, c *wasmtest.Code, s source) {
		c.Get(s.param).Set(s.spare).Get(s.spare).Const(s.t, 0x4142).Set(s.spare)
	}},
	{"call result", func(h *helpers, c *wasmtest.Code, s source) { c.Get(s.param).Call(h.identity[s.t]) }},
	{"indirect call result", func(h *helpers, c *wasmtest.Code, s source) {
		c.Get(s.param).I32(int32(h.slot[s.t])).OpU(0x11, h.sig[s.t], 0)
	}},
	{"host call result", func(h *helpers, c *wasmtest.Code, s source) { c.Get(s.param).Call(h.host[s.t]) }},
	{"load", func(_ *helpers, c *wasmtest.Code, s source) {
		at := 64 + 16*int32(s.param)
		c.I32(at).I64(-1).Store(storeOps[decoder.I64], 0)
		c.I32(at).Get(s.param).Store(storeOps[s.t], 0)
		c.I32(at).Load(loadOps[s.t], 0)
	}},
	{"global", func(h *helpers, c *wasmtest.Code, s source) {
		c.Get(s.param).OpU(0x24, h.global[s.t]).OpU(0x23, h.global[s.t])
	}},
	{"select", func(_ *helpers, c *wasmtest.Code, s source) {
		one(c.Get(s.param).Const(s.t, 0x33)).Op(0x1b)
	}},
	{"block result", func(_ *helpers, c *wasmtest.Code, s source) {
		one(c.Block(0x02, wasmtest.Result(s.t)).Get(s.param)).OpU(0x0d, 0).Op(0x1a).Const(s.t, 0x33).End()
	}},
	{"if result", func(_ *helpers, c *wasmtest.Code, s source) {
		one(c).Block(0x04, wasmtest.Result(s.t)).Get(s.param).Op(0x05).Const(s.t, 0x33).End()
	}},
}

// constant is the place that needs the value.
var constant = place{"constant", func(_ *helpers, c *wasmtest.Code, s source) { c.Const(s.t, s.bits) }}
