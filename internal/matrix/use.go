package matrix

import (
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// use is what becomes of a result: instructions before the operands and
// behind the opcode, the type that comes out, and how it follows from the
// opcode's result.
type use struct {
	name   string
	before func(c *wasmtest.Code)
	after  func(c *wasmtest.Code, result uint32)
	// out is the type that comes out, Bot for the opcode's own.
	out decoder.Type
	// want maps the opcode's result to what comes out, nil for itself.
	want func(v uint64) uint64
	// reread adds the parameters to the results: the opcode must not have
	// changed them.
	reread bool
}

func yes(v uint64) uint64 {
	if v != 0 {
		return 1
	}
	return 0
}

func no(v uint64) uint64 { return 1 - yes(v) }

// anyUses suit every type.
var anyUses = []use{
	{name: "returned"},
	{name: "parameters reread", reread: true},
	{name: "set", after: func(c *wasmtest.Code, r uint32) { c.Set(r).Get(r) }},
	{name: "tee", after: func(c *wasmtest.Code, r uint32) { c.Tee(r) }, reread: true},
}

// i32Uses suit i32 results: their upper half must be zero, and comparisons
// may melt into branches and selects.
var i32Uses = []use{
	{name: "extended", after: func(c *wasmtest.Code, _ uint32) { c.Op(0xad) }, out: decoder.I64},
	{
		name: "if", out: decoder.I32, want: yes,
		after: func(c *wasmtest.Code, _ uint32) {
			c.Block(0x04, wasmtest.Result(decoder.I32)).I32(1).Op(0x05).I32(0).End()
		},
	},
	{
		name: "br_if", out: decoder.I32, want: yes,
		before: func(c *wasmtest.Code) { c.Block(0x02, wasmtest.Result(decoder.I32)).I32(1) },
		after:  func(c *wasmtest.Code, _ uint32) { c.OpU(0x0d, 0).Op(0x1a).I32(0).End() },
	},
	{
		name: "br_if without operands", out: decoder.I32, want: no,
		before: func(c *wasmtest.Code) { c.Block(0x02, wasmtest.Empty) },
		after: func(c *wasmtest.Code, r uint32) {
			c.OpU(0x0d, 0).I32(1).Op(0x0f).End().I32(0)
		},
	},
	{
		name: "select of constants", out: decoder.I32, want: yes,
		before: func(c *wasmtest.Code) { c.I32(1).I32(0) },
		after:  func(c *wasmtest.Code, _ uint32) { c.Op(0x1b) },
	},
	{
		name: "select of floats", out: decoder.F64, want: func(v uint64) uint64 { return yes(v) * 0x3ff0000000000000 },
		before: func(c *wasmtest.Code) { one(one(c).Op(0xb8)).I32(0).Op(0x71, 0xb8) }, // 1.0 and 0.0
		after:  func(c *wasmtest.Code, _ uint32) { c.Op(0x1b) },
	},
	{name: "eqz", out: decoder.I32, want: no, after: func(c *wasmtest.Code, _ uint32) { c.Op(0x45) }},
	{
		name: "eqz, if", out: decoder.I32, want: no,
		after: func(c *wasmtest.Code, _ uint32) {
			c.Op(0x45).Block(0x04, wasmtest.Result(decoder.I32)).I32(1).Op(0x05).I32(0).End()
		},
	},
	{
		name: "eqz, eqz, br_if", out: decoder.I32, want: yes,
		before: func(c *wasmtest.Code) { c.Block(0x02, wasmtest.Result(decoder.I32)).I32(1) },
		after:  func(c *wasmtest.Code, _ uint32) { c.Op(0x45, 0x45).OpU(0x0d, 0).Op(0x1a).I32(0).End() },
	},
	{
		name: "br_table", out: decoder.I32, want: no,
		before: func(c *wasmtest.Code) { c.Block(0x02, wasmtest.Empty).Block(0x02, wasmtest.Empty) },
		after: func(c *wasmtest.Code, _ uint32) {
			c.BrTable(0, 1).End().I32(1).Op(0x0f).End().I32(0)
		},
	},
}

// usesOf lists the uses of a result type.
func usesOf(t decoder.Type) []use {
	if t == decoder.I32 {
		return append(append([]use(nil), anyUses...), i32Uses...)
	}
	return anyUses
}

// shape is the code around an opcode.
type shape uint8

const (
	straight shape = iota
	looped         // in a loop that runs twice, where parameters get registers for good
	crowded        // with more operands below than there are registers
	numShapes
)

func (s shape) String() string { return [...]string{"", " in a loop", " over many operands"}[s] }
