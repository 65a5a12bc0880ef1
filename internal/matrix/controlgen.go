package matrix

import (
	"fmt"
	"strconv"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// construct is a way for values to reach the end of a block: the values are
// on the stack when it is emitted, the selector is parameter 0, and outer is
// the label of the function's own block around the inner one.
type construct struct {
	name string
	// open and close surround the values; other pushes different values of
	// the same types.
	open  func(g *merge, c *wasmtest.Code)
	close func(g *merge, c *wasmtest.Code)
}

// merge generates one function: values of certain types from certain places
// go through a construct, over operands that must survive.
type merge struct {
	*helpers
	types []decoder.Type
	bt    int64 // block type without parameters
	turn  int
}

func (g *merge) other(c *wasmtest.Code) {
	for i, t := range g.types {
		c.Const(t, edges[t][(i+2)%len(edges[t])])
	}
}

// drop removes the values.
func (g *merge) drop(c *wasmtest.Code) {
	for range g.types {
		c.Op(0x1a)
	}
}

// pass is the block type from the values to themselves.
func (g *merge) pass() int64 { return int64(g.m.Type(g.types, g.types)) }

// selector pushes parameter 0.
func selector(c *wasmtest.Code) *wasmtest.Code { return c.Get(0) }

var constructs = []construct{
	{
		"block",
		func(g *merge, c *wasmtest.Code) { c.Block(0x02, g.bt) },
		func(g *merge, c *wasmtest.Code) { c.End() },
	},
	{
		"block with parameters",
		func(g *merge, c *wasmtest.Code) {},
		func(g *merge, c *wasmtest.Code) { c.Block(0x02, g.pass()).Call(g.nop).End() },
	},
	{
		"br_if, then others",
		func(g *merge, c *wasmtest.Code) { c.Block(0x02, g.bt) },
		func(g *merge, c *wasmtest.Code) {
			selector(c).OpU(0x0d, 0)
			g.drop(c)
			g.other(c)
			c.End()
		},
	},
	{
		"br_if on a comparison, then a call",
		func(g *merge, c *wasmtest.Code) { c.Block(0x02, g.bt) },
		func(g *merge, c *wasmtest.Code) {
			selector(c).I32(1).Op(0x4b).OpU(0x0d, 0)
			c.Call(g.nop).End()
		},
	},
	{
		"br",
		func(g *merge, c *wasmtest.Code) { c.Block(0x02, g.bt).I32(5) },
		func(g *merge, c *wasmtest.Code) { c.OpU(0x0c, 0).End() },
	},
	{
		"br_if out of two blocks with operands between",
		func(g *merge, c *wasmtest.Code) {
			c.Block(0x02, g.bt).I64(1).Get(0).Block(0x02, g.bt).Get(0)
		},
		func(g *merge, c *wasmtest.Code) {
			selector(c).OpU(0x0d, 1)
			selector(c).I32(2).Op(0x71).OpU(0x0d, 0)
			g.drop(c)
			g.other(c)
			c.OpU(0x0c, 1).End().OpU(0x0c, 0).End()
		},
	},
	{
		"if with parameters",
		func(g *merge, c *wasmtest.Code) {},
		func(g *merge, c *wasmtest.Code) {
			selector(c).Block(0x04, g.pass()).Call(g.nop).End()
		},
	},
	{
		"if else with parameters",
		func(g *merge, c *wasmtest.Code) {},
		func(g *merge, c *wasmtest.Code) {
			selector(c).Op(0x45).Block(0x04, g.pass())
			g.drop(c)
			g.other(c)
			c.Op(0x05).Call(g.nop).End()
		},
	},
	{
		"if else, one side leaves",
		func(g *merge, c *wasmtest.Code) { c.Block(0x02, g.bt) },
		func(g *merge, c *wasmtest.Code) {
			selector(c).Block(0x04, g.pass())
			c.OpU(0x0c, 1).Op(0x05).End().End()
		},
	},
	{
		"loop with parameters",
		func(g *merge, c *wasmtest.Code) { c.I32(3).Set(1) },
		func(g *merge, c *wasmtest.Code) {
			c.Block(0x03, g.pass()).Get(1).I32(1).Op(0x6b).Tee(1).OpU(0x0d, 0).End()
		},
	},
	{
		"loop whose back edge brings others",
		func(g *merge, c *wasmtest.Code) { c.Get(0).I32(1).Op(0x71).Set(1) },
		func(g *merge, c *wasmtest.Code) {
			c.Block(0x03, g.pass()).Get(1).Block(0x04, g.pass()).I32(0).Set(1)
			g.drop(c)
			g.other(c)
			c.OpU(0x0c, 1).End().End()
		},
	},
	{
		"br_table",
		func(g *merge, c *wasmtest.Code) {
			c.Block(0x02, g.bt).I32(1).Block(0x02, g.bt).Const(decoder.F64, 0).Block(0x02, g.bt)
		},
		func(g *merge, c *wasmtest.Code) {
			selector(c).BrTable(0, 1, 2, 1, 0).End()
			g.drop(c)
			g.other(c)
			c.OpU(0x0c, 0).End().OpU(0x0c, 0).End()
		},
	},
	{
		"br_table with operands below",
		func(g *merge, c *wasmtest.Code) { c.Block(0x02, g.bt).Block(0x02, g.bt).Get(0).I64(7) },
		func(g *merge, c *wasmtest.Code) {
			selector(c).BrTable(1, 0, 1, 0).End()
			c.Call(g.nop).End()
		},
	},
}

// buildMerges makes a function per construct, arity, and way to place the
// values. Parameter 0 is the selector, local 1 a counter.
func buildMerges() (*helpers, []variant) {
	h := newHelpers()
	h.m.Export("memory", decoder.ExternMemory, 0)
	var list []variant
	turn := 0
	for _, k := range constructs {
		for arity := range 5 {
			for mix := range 12 {
				g := &merge{helpers: h, turn: turn}
				for i := range arity {
					g.types = append(g.types, numTypes[(mix+i*(1+mix/4))%4])
				}
				turn++
				list = append(list, g.function(k, mix, strconv.Itoa(len(list))))
			}
		}
	}
	return h, list
}

// function makes the function: parameters are the selector and the values,
// locals a counter and a spare per value.
func (g *merge) function(k construct, mix int, export string) variant {
	n := uint32(len(g.types))
	g.bt = int64(g.m.Type(nil, g.types))
	// Parameters: selector, then an unused place for the counter, then values.
	params := append([]decoder.Type{decoder.I32, decoder.I32}, g.types...)
	locals := append([]decoder.Type(nil), g.types...)
	first := uint32(2)
	var c wasmtest.Code
	below := mix % 3
	for i := range below { // operands below
		c.Get(0).I32(int32(i)).Op(0x6a)
	}
	k.open(g, &c)
	name := k.name + " of (" + signature(g.types) + ")"
	for i, t := range g.types {
		p := places[(g.turn*7+i*(mix+1))%len(places)]
		switch {
		case mix == 1:
			p = constant
		case mix == 2: // the same local several times
			p = places[0]
		case mix == 3 && i%2 == 0:
			p = constant
		}
		from := first + uint32(i)
		if mix == 2 && i > 0 && g.types[i-1] == t {
			from--
		}
		p.emit(g.helpers, &c, source{t, from, first + n + uint32(i), edges[t][(i+5)%len(edges[t])]})
		name += ", " + p.name
	}
	k.close(g, &c)
	results := append([]decoder.Type(nil), g.types...)
	for range below {
		results = append([]decoder.Type{decoder.I32}, results...)
	}
	// The locals are read again: a merge must not change them.
	for i, t := range g.types {
		c.Get(first + uint32(i))
		results = append(results, t)
	}
	g.m.Func(export, g.m.Type(params, results), locals, c)
	v := variant{export: export, name: fmt.Sprintf("%s over %d operands", name, below)}
	for sel := range uint64(6) {
		in := []uint64{sel, 0}
		for i, t := range g.types {
			in = append(in, edges[t][(g.turn+3*i+int(sel))%len(edges[t])])
		}
		v.inputs = append(v.inputs, in)
	}
	return v
}
