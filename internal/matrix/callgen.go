package matrix

import (
	"fmt"
	"math/rand/v2"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// callee is a function of a random signature whose results are copies of
// parameters or constants.
type callee struct {
	name  string
	ft    decoder.FuncType
	from  []int // the parameter a result copies, -1 for the constant in bits
	bits  []uint64
	local uint32 // a copy of it in the calling module
	other uint32 // the import of the one in the peer
	host  uint32 // the import of the one written in Go
	slot  uint32 // table entry of local; other and host follow
}

// callGen makes two modules that call each other's functions.
type callGen struct {
	rng     *rand.Rand
	peer    *wasmtest.Module
	main    *helpers
	host    *engine.HostModule
	callees []callee
	callers []variant
}

// callKinds are the ways to reach a callee.
var callKinds = []string{"direct", "imported", "host", "indirect", "indirect imported", "indirect host"}

func randomTypes(rng *rand.Rand, max int) []decoder.Type {
	ts := make([]decoder.Type, rng.IntN(max+1))
	for i := range ts {
		ts[i] = numTypes[rng.IntN(len(numTypes))]
	}
	return ts
}

// newCallGen makes n callees and a caller for each and each way to call it.
func newCallGen(seed uint64, n int) *callGen {
	g := &callGen{
		rng: rand.New(rand.NewPCG(seed, 1)), peer: wasmtest.New(),
		host: &engine.HostModule{Funcs: map[string]engine.HostFunc{}},
	}
	g.peer.Memory(1, 1)
	g.peer.Data(0, pattern(4096)[1024:2048])
	g.callees = make([]callee, n)
	for i := range g.callees {
		// Mostly a few of each; sometimes far more than there are registers.
		np, nr := 5, 3
		if i%4 == 1 {
			np, nr = 24, 2
		} else if i%4 == 3 {
			np, nr = 6, 12
		}
		c := &g.callees[i]
		c.name = fmt.Sprint("f", i)
		c.ft = decoder.FuncType{Params: randomTypes(g.rng, np), Results: randomTypes(g.rng, nr)}
		g.decide(c)
		g.peer.Func(c.name, g.peer.FuncType(c.ft), nil, c.body())
		g.host.Funcs[c.name] = engine.HostFunc{Type: c.ft, Fn: c.goBody()}
	}
	return g
}

// decide chooses where results come from.
func (g *callGen) decide(c *callee) {
	for _, t := range c.ft.Results {
		from := -1
		if n := len(c.ft.Params); n > 0 {
			start := g.rng.IntN(n)
			for k := range n {
				if c.ft.Params[(start+k)%n] == t {
					from = (start + k) % n
					break
				}
			}
		}
		c.from = append(c.from, from)
		c.bits = append(c.bits, edges[t][g.rng.IntN(len(edges[t]))])
	}
}

// body is the callee in Wasm. An i32 result has a byte of the callee's own
// memory added.
func (c *callee) body() wasmtest.Code {
	var code wasmtest.Code
	for k, t := range c.ft.Results {
		if c.from[k] >= 0 {
			code.Get(uint32(c.from[k]))
		} else {
			code.Const(t, c.bits[k])
		}
		if t == decoder.I32 {
			code.I32(int32(k)).Load(0x2d, 256).Op(0x6a)
		}
	}
	return code
}

// goBody is the callee in Go.
func (c *callee) goBody() func(stack []uint64) error {
	return func(stack []uint64) error {
		params := append([]uint64(nil), stack...)
		for k, t := range c.ft.Results {
			v := c.bits[k]
			if c.from[k] >= 0 {
				v = params[c.from[k]]
			}
			if t == decoder.I32 {
				v = v&0xffffffff | garbage
			}
			stack[k] = v
		}
		return nil
	}
}

// finish builds the calling module: imports come first, then the local
// copies, the table, and the callers.
func (g *callGen) finish() []byte {
	h := newHelpersWith(func(m *wasmtest.Module) {
		for i := range g.callees {
			c := &g.callees[i]
			c.other = m.ImportFunc("peer", c.name, m.FuncType(c.ft))
			c.host = m.ImportFunc("gohost", c.name, m.FuncType(c.ft))
		}
	}, 1)
	g.main = h
	h.m.Data(0, pattern(4096))
	table := h.m.Table(decoder.FuncRef, uint64(3*len(g.callees)+1), -1)
	for i := range g.callees {
		c := &g.callees[i]
		c.local = h.m.Func("", h.m.FuncType(c.ft), nil, c.body())
		c.slot = uint32(3*i + 1)
		h.m.Elem(table, c.slot, c.local, c.other, c.host)
	}
	for i := range g.callees {
		for kind := range callKinds {
			g.caller(&g.callees[i], kind, table)
		}
	}
	return h.m.Bytes()
}

// sameType chooses a parameter of the type of parameter i.
func (g *callGen) sameType(ts []decoder.Type, i int) int {
	for {
		if k := g.rng.IntN(len(ts)); ts[k] == ts[i] {
			return k
		}
	}
}

// caller calls c with its own parameters from random places, over operands
// of its own, and returns the results and a check of memory and operands.
func (g *callGen) caller(c *callee, kind int, table uint32) {
	h := g.main
	var code wasmtest.Code
	np := uint32(len(c.ft.Params))
	locals := append([]decoder.Type(nil), c.ft.Params...) // spares
	below := g.rng.IntN(4)
	for i := range below {
		code.I32(int32(i) + 100)
		if g.rng.IntN(2) == 0 {
			code.Call(h.nop)
		}
	}
	if g.rng.IntN(2) == 0 && np > 0 { // a loop pins parameters
		code.Block(0x03, wasmtest.Empty).Get(0).Op(0x1a).Get(np - 1).Op(0x1a).End()
	}
	// Some calls take all parameters from where they came in.
	permute, plain := g.rng.IntN(2) == 0, g.rng.IntN(3) == 0
	for i, t := range c.ft.Params {
		bits := edges[t][g.rng.IntN(len(edges[t]))]
		p := places[g.rng.IntN(len(places))]
		if plain {
			p = places[0]
		} else if g.rng.IntN(5) == 0 {
			p = constant
		}
		// Half of the calls permute their parameters.
		from := i
		if permute {
			from = g.sameType(c.ft.Params, i)
		}
		p.emit(h, &code, source{t, uint32(from), np + uint32(i), bits})
	}
	typ := h.m.FuncType(c.ft)
	switch kind {
	case 0:
		code.Call(c.local)
	case 1:
		code.Call(c.other)
	case 2:
		code.Call(c.host)
	default:
		code.I32(int32(c.slot)+int32(kind-3)).OpU(0x11, typ, table)
	}
	base := 2 * np
	for i := len(c.ft.Results) - 1; i >= 0; i-- {
		code.Set(base + uint32(i))
	}
	locals = append(locals, c.ft.Results...)
	for range below {
		code.I32(1).Op(0x6a)
	}
	for i := below; i > 1; i-- {
		code.Op(0x6a)
	}
	if below == 0 {
		code.I32(0)
	}
	code.I32(100).Load(0x28, 0).Op(0x73) // own memory
	for i := range c.ft.Results {
		code.Get(base + uint32(i))
	}
	export := fmt.Sprint("c", len(g.callers))
	h.m.Func(export, h.m.Type(c.ft.Params, append([]decoder.Type{decoder.I32}, c.ft.Results...)), locals, code)
	v := variant{export: export, name: fmt.Sprintf("%s call of (%s) -> (%s)", callKinds[kind], signature(c.ft.Params), signature(c.ft.Results))}
	for range 3 {
		var in []uint64
		for _, t := range c.ft.Params {
			in = append(in, edges[t][g.rng.IntN(len(edges[t]))])
		}
		v.inputs = append(v.inputs, in)
	}
	g.callers = append(g.callers, v)
}
