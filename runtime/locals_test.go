//go:build linux

package runtime

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// soil gives the body of a function that leaves ones in a deep part of the
// stack and in all registers that locals are pinned to, for a callee of zero
// locals to find if it doesn't zero them.
func soil(c *wasmtest.Code) {
	for k := range uint32(400) {
		c.Const(decoder.I64, ^uint64(0)).Set(k)
	}
	c.Block(0x03, -0x40)
	for k := range uint32(400) {
		c.Get(k).Const(decoder.I64, 1).Op(0x84).Set(k) // or
	}
	c.End()
}

// TestZeroLocals reads locals that no write, or only one on another path, came
// before: all alone, scattered, in a row, in pins.
func TestZeroLocals(t *testing.T) {
	every := func(from, to, step int) (list []uint32) {
		for i := from; i < to; i += step {
			list = append(list, uint32(i))
		}
		return list
	}
	const n = 360 // locals behind the parameter, 0
	lists := map[string][]uint32{
		"none": nil, "one": {7}, "two apart": {2, 300}, "eight apart": every(1, 340, 45),
		"nine apart": every(1, 360, 40), "half": every(1, 33, 2), "row": every(1, 40, 1), "all": every(1, 361, 1),
	}
	for _, typ := range wasmtest.Types(decoder.I32, decoder.I64, decoder.F32, decoder.F64) {
		// How a read becomes an i64.
		widen := map[decoder.Type][]byte{
			decoder.I32: {0xad}, decoder.I64: {}, decoder.F32: {0xbc, 0xad}, decoder.F64: {0xbd},
		}[typ]
		// reads pushes the or of the locals.
		reads := func(c *wasmtest.Code, list ...uint32) {
			c.I64(0)
			for _, i := range list {
				c.Get(i).Op(widen...).Op(0x84)
			}
		}
		bodies := map[string]func(c *wasmtest.Code){}
		for name, list := range lists {
			bodies[name] = func(c *wasmtest.Code) {
				reads(c, list...)
			}
		}
		// The argument is 1: each of these jumps around the writes.
		around := every(1, 20, 1)
		writes := func(c *wasmtest.Code) {
			for _, i := range around {
				c.Const(typ, 0x3ff0_0000_3f80_0000).Set(i)
			}
		}
		bodies["written in a block"] = func(c *wasmtest.Code) {
			c.Block(0x02, -0x40).Get(0).Op(0xa7).OpU(0x0d, 0)
			writes(c)
			c.End()
			reads(c, around...)
		}
		bodies["written in the other arm"] = func(c *wasmtest.Code) {
			c.Get(0).Op(0xa7).Block(0x04, -0x40).Op(0x01, 0x05)
			writes(c)
			c.End()
			reads(c, around...)
		}
		bodies["written in the arm before"] = func(c *wasmtest.Code) {
			c.Get(0).Op(0x50).Block(0x04, wasmtest.Result(decoder.I64))
			writes(c)
			c.I64(0).Op(0x05)
			reads(c, around...)
			c.End()
		}
		bodies["written behind the read, in a loop"] = func(c *wasmtest.Code) {
			sum := uint32(n)
			c.Block(0x03, -0x40)
			for _, i := range around {
				reads(c, i)
				c.Set(sum + 1).Get(sum + 1).Get(sum + 2).Op(0x84).Set(sum + 2)
				c.Const(typ, 0).Set(i)
			}
			c.Get(0).Op(0x50).OpU(0x0d, 0).End().Get(sum + 2)
		}
		for name, body := range bodies {
			t.Run(fmt.Sprint(typ, "/", name), func(t *testing.T) {
				m := wasmtest.New()
				ft := m.Type(wasmtest.Types(decoder.I64), wasmtest.Types(decoder.I64))
				none := m.Type(nil, nil)
				m.Func("soil", none, slices.Repeat([]decoder.Type{decoder.I64}, 400), code(soil))
				locals := append(slices.Repeat([]decoder.Type{typ}, n), decoder.I64, decoder.I64)
				m.Func("f", ft, locals, code(body))
				m.Func("both", ft, nil, code(func(c *wasmtest.Code) { c.Call(0).Get(0).Call(1) }))
				i := start(t, newStore(t, Config{}), m, nil)
				if got := mustCall(t, i.Func("both"), 1)[0]; got != 0 {
					t.Errorf("the locals held %#x", got)
				}
			})
		}
	}
}
