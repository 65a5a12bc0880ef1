package matrix

import (
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/refinterp"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// expr pushes a value of type t. The bits of a float NaN may be any.
func (f *body) expr(t decoder.Type) {
	f.depth++
	defer func() { f.depth-- }()
	if t == decoder.FuncRef {
		f.funcRef()
		return
	}
	if f.depth > 7 {
		f.simple(t)
		return
	}
	switch f.n(14) {
	case 0, 1, 2, 3:
		f.operation(t)
	case 4:
		f.load(t)
	case 5:
		f.call(t)
	case 6:
		f.selectOf(t)
	case 7:
		if l, ok := f.local(t); ok {
			f.clean(t)
			f.c.Tee(l)
			return
		}
		f.simple(t)
	case 8:
		f.blockOf(t)
	case 9:
		// An alias that outlives a new value of its local.
		if l, ok := f.local(t); ok {
			f.c.Get(l)
			f.clean(t)
			f.c.Set(l)
			return
		}
		f.simple(t)
	default:
		f.simple(t)
	}
}

// simple pushes a local, a constant or a global.
func (f *body) simple(t decoder.Type) {
	if l, ok := f.local(t); ok && !f.oneOf(4) {
		f.c.Get(l)
		return
	}
	if f.oneOf(4) {
		f.c.OpU(0x23, pick(&f.choices, f.globals[t]))
		return
	}
	if t == decoder.I32 && f.oneOf(8) {
		f.c.OpU(0x3f, 0)
		return
	}
	f.c.Const(t, pick(&f.choices, edges[t]))
}

// operation pushes the result of a numeric opcode.
func (f *body) operation(t decoder.Type) {
	op := pick(&f.choices, f.ops[t])
	switch {
	case op.traps && refinterp.Arity(op.op) == 2:
		// Mostly a divisor that is not zero, and never -1.
		f.expr(t)
		f.expr(t)
		if !f.oneOf(12) {
			f.c.Const(t, 0x7f)
			f.c.Op(map[decoder.Type]byte{decoder.I32: 0x71, decoder.I64: 0x83}[t])
			f.c.Const(t, 1)
			f.c.Op(map[decoder.Type]byte{decoder.I32: 0x72, decoder.I64: 0x84}[t])
		}
	case op.traps:
		// A truncation: mostly of a number that came from an integer.
		if f.oneOf(12) {
			f.expr(op.operands[0])
		} else {
			f.expr(decoder.I32)
			f.c.I32(0xffffff).Op(0x71)
			f.c.Op(map[decoder.Type]byte{decoder.F32: 0xb2, decoder.F64: 0xb7}[op.operands[0]])
		}
	default:
		for _, o := range op.operands {
			// Reinterpretations and copysign show a NaN's bits or sign.
			if op.op >= 0xbc && op.op <= 0xbf || op.op == 0x98 || op.op == 0xa6 {
				f.clean(o)
			} else {
				f.expr(o)
			}
		}
	}
	f.c.OpU(op.op)
}

// address pushes an address, mostly inside the first page, and gives an
// offset to go with it.
func (f *body) address() uint32 {
	f.expr(decoder.I32)
	if !f.oneOf(40) {
		f.c.I32(0xfff).Op(0x71)
	}
	if f.oneOf(60) {
		return pick(&f.choices, offsets[:])
	}
	return uint32(f.n(64))
}

func (f *body) load(t decoder.Type) {
	// NaNs in memory are what programs stored, or the pattern: bits that
	// only moves see.
	var ops []uint32
	for op := uint32(0x28); op <= 0x35; op++ {
		if loadType(op) == t {
			ops = append(ops, op)
		}
	}
	off := f.address()
	f.c.OpU(pick(&f.choices, ops), 0, off)
}

func loadType(op uint32) decoder.Type {
	switch {
	case op == 0x28 || op >= 0x2c && op <= 0x2f:
		return decoder.I32
	case op == 0x2a:
		return decoder.F32
	case op == 0x2b:
		return decoder.F64
	}
	return decoder.I64
}

func (f *body) store() {
	op := uint32(0x36 + f.n(9))
	t := []decoder.Type{decoder.I32, decoder.I64, decoder.F32, decoder.F64, decoder.I32, decoder.I32, decoder.I64, decoder.I64, decoder.I64}[op-0x36]
	off := f.address()
	f.clean(t)
	f.c.OpU(op, 0, off)
}

func (f *body) selectOf(t decoder.Type) {
	f.expr(t)
	f.expr(t)
	f.expr(decoder.I32)
	if f.oneOf(3) {
		f.c.Op(0x1c, 1, wasmtest.Type(t))
	} else {
		f.c.Op(0x1b)
	}
}

// blockOf pushes the result of a block, with operands of the surrounding
// expression below it.
func (f *body) blockOf(t decoder.Type) {
	if f.budget--; f.budget < 0 {
		f.simple(t)
		return
	}
	ts := []decoder.Type{t}
	op := byte(0x02)
	if f.oneOf(3) {
		op = 0x04
		f.expr(decoder.I32)
	}
	f.c.Block(op, f.blockType(nil, ts))
	f.labels = append(f.labels, target{types: ts})
	f.inside(nil, ts)
	if op == 0x04 {
		f.c.Op(0x05)
		f.inside(nil, ts)
	}
	f.labels = f.labels[:len(f.labels)-1]
	f.c.End()
}

// call pushes the result of a function that returns a t, if there is one.
func (f *body) call(t decoder.Type) {
	start := f.n(len(f.funcs))
	for k := range f.funcs {
		s := f.funcs[(start+k)%len(f.funcs)]
		if len(s.ft.Results) > 0 && s.ft.Results[0] == t {
			f.callOf(s)
			f.take(s.ft.Results[1:])
			return
		}
	}
	f.simple(t)
}

func (f *body) callStatement() {
	s := pick(&f.choices, f.funcs)
	if len(f.leaves) > 0 && f.oneOf(2) {
		s = pick(&f.choices, f.leaves)
	}
	f.callOf(s)
	f.take(s.ft.Results)
}

// callOf calls a function, directly or, if it is in the table, sometimes
// through it: at its index or at any.
func (f *body) callOf(s signatureOf) {
	f.cleanAll(s.ft.Params)
	for i, l := range f.leaves {
		if l.index == s.index && f.oneOf(2) {
			if f.oneOf(4) {
				f.expr(decoder.I32)
			} else {
				f.c.I32(int32(2 * i))
			}
			f.c.OpU(0x11, f.m.FuncType(s.ft), f.table)
			return
		}
	}
	f.c.Call(s.index)
}

// small pushes a small number.
func (f *body) small(mask int32) {
	f.expr(decoder.I32)
	if !f.oneOf(30) {
		f.c.I32(mask).Op(0x71)
	}
}

// bulk generates a bulk memory opcode or memory.grow.
func (f *body) bulk() {
	switch f.n(5) {
	case 0:
		f.small(0xfff)
		f.expr(decoder.I32)
		f.small(0x3f)
		f.c.OpU(0xfc0b, 0)
	case 1:
		f.small(0xfff)
		f.small(0xfff)
		f.small(0x3f)
		f.c.OpU(0xfc0a, 0, 0)
	case 2:
		f.small(0xfff)
		f.small(0x1f)
		f.small(0x1f)
		f.c.OpU(0xfc08, f.segment, 0)
	case 3:
		f.small(1)
		f.c.OpU(0x40, 0)
		f.setOrDrop(decoder.I32)
	case 4:
		f.small(3)
		f.small(3)
		f.small(3)
		f.c.OpU(0xfc0e, f.table, f.table)
	}
}

func (f *body) funcRef() {
	if l, ok := f.local(decoder.FuncRef); ok && f.oneOf(3) {
		f.c.Get(l)
		return
	}
	switch {
	case f.oneOf(3):
		f.small(tableSize - 1)
		f.c.OpU(0x25, f.table)
	case len(f.leaves) > 0 && f.oneOf(2):
		f.c.OpU(0xd2, pick(&f.choices, f.leaves).index)
	default:
		f.c.Const(decoder.FuncRef, 0)
	}
}

// reference generates table and reference opcodes.
func (f *body) reference() {
	switch f.n(4) {
	case 0:
		f.small(tableSize - 1)
		f.funcRef()
		f.c.OpU(0x26, f.table)
	case 1:
		f.funcRef()
		f.c.Op(0xd1)
		f.setOrDrop(decoder.I32)
	case 2:
		if l, ok := f.local(decoder.FuncRef); ok {
			f.funcRef()
			f.funcRef()
			f.expr(decoder.I32)
			f.c.Op(0x1c, 1, wasmtest.Type(decoder.FuncRef)).Set(l)
		}
	case 3:
		f.funcRef()
		f.small(1)
		f.c.OpU(0xfc0f, f.table)
		f.setOrDrop(decoder.I32)
	}
}
