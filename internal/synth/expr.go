package synth

import (
	"encoding/binary"
	"math"
)

// expr writes an expression of kind k, at most depth operators deep.
func (g *gen) expr(k kind, depth int) {
	switch k {
	case kindInt, kindLoop:
		g.int(depth)
	case kindPtr:
		g.ptr(depth)
	case kindFPtr, kindDPtr:
		g.expr(kindPtr, 0)
		g.i32(map[kind]int32{kindFPtr: f32Base, kindDPtr: f64Base}[k])
		g.op(opI32Or)
	case kindF32:
		g.float(depth, &f32Ops)
	case kindF64:
		g.float(depth, &f64Ops)
	case kindI64:
		g.long(depth)
	}
}

// local reads a local of kind k and reports whether there is one.
func (g *gen) local(k kind) bool {
	ls := g.byKind[k]
	if len(ls) == 0 {
		return false
	}
	// The first locals are used most.
	i := g.r.below(len(ls))
	if g.r.chance(50) {
		i = g.r.below(i + 1)
	}
	g.opU32(opLocalGet, ls[i])
	return true
}

func (g *gen) int(depth int) {
	if depth <= 0 {
		switch {
		case g.r.chance(18):
			g.intConst()
		case len(g.busy) > 0 && g.r.chance(30):
			g.opU32(opLocalGet, g.busy[g.r.below(len(g.busy))])
		case g.r.chance(70) && g.local(kindInt), g.local(kindPtr), g.local(kindInt):
		default:
			g.intConst()
		}
		return
	}
	switch g.r.pick([]int{18, 34, 34, 4, 4, 2, 2, 2}) {
	case 0:
		g.int(0)
	case 1:
		g.address(depth - 1)
		g.intLoad()
		g.keep(kindInt, 26)
	case 2:
		g.intBinary(depth)
		g.keep(kindInt, 22)
	case 3:
		g.compare(depth - 1)
	case 4:
		g.ifElse(kindInt, depth-1)
	case 5:
		g.int(depth - 1)
		g.int(0)
		g.compare(depth - 1)
		g.op(opSelect)
	case 6:
		g.call(kindInt)
	case 7:
		g.intConversion(depth - 1)
	}
}

// keep tees the value on the stack into a local, in percent of the cases.
func (g *gen) keep(k kind, percent int) {
	if ls := g.byKind[k]; len(ls) > 0 && g.r.chance(percent) {
		g.opU32(opLocalTee, ls[g.r.below(len(ls))])
	}
}

func (g *gen) intConst() {
	switch g.r.pick([]int{62, 22, 10, 6}) {
	case 0:
		g.i32(int32(g.r.below(64)))
	case 1:
		g.i32(-int32(g.r.below(64)) - 1)
	case 2:
		g.i32(int32(g.r.below(1 << 13)))
	case 3:
		g.i32(int32(g.r.next()))
	}
}

func (g *gen) intLoad() {
	switch g.r.pick([]int{82, 6, 4, 4, 4}) {
	case 0:
		g.mem(opI32Load, 2)
	case 1:
		g.mem(opI32Load8S, 0)
	case 2:
		g.mem(opI32Load8U, 0)
	case 3:
		g.mem(opI32Load16S, 1)
	case 4:
		g.mem(opI32Load16U, 1)
	}
}

func (g *gen) intBinary(depth int) {
	g.int(depth - 1)
	switch g.r.pick([]int{60, 38, 2}) {
	case 0:
		if g.r.chance(30) {
			g.i32(int32(1 + g.r.below(16)))
			g.op([]byte{opI32Shl, opI32Shl, opI32Shl, opI32ShrS, opI32ShrU, opI32Rotl}[g.r.below(6)])
			return
		}
		g.intConst()
	case 1:
		g.int(depth - 2)
	case 2:
		// A divisor that is neither 0 nor -1.
		g.i32(int32(3 + g.r.below(1000)))
		g.op([]byte{opI32DivS, opI32DivU, opI32RemU}[g.r.below(3)])
		return
	}
	g.op([]byte{opI32Add, opI32Add, opI32Add, opI32Add, opI32Add, opI32Sub, opI32Mul,
		opI32And, opI32Or, opI32Xor}[g.r.below(10)])
}

func (g *gen) intConversion(depth int) {
	switch g.r.below(3) {
	case 0:
		g.long(depth)
		g.op(opI32WrapI64)
	case 1:
		// 24 bits are exact in a float and far from its limits.
		g.int(depth)
		g.i32(8)
		g.op(opI32ShrU, opF32ConvertI32U, opI32TruncF32S)
	case 2:
		g.int(depth)
		g.op(opF64ConvertI32S, opI32TruncF64S)
	}
}

// ptr writes an address that may be kept: within [0, ptrMask].
func (g *gen) ptr(depth int) {
	switch {
	case depth > 0 && g.r.chance(13):
		g.address(depth - 1)
		g.mem(opI32Load, 2)
		g.i32(ptrMask)
		g.op(opI32And)
		g.keep(kindPtr, 60)
	case depth > 0 && g.r.chance(3):
		g.address(depth - 1)
		g.i32(ptrMask)
		g.op(opI32And)
	case g.local(kindPtr):
	default:
		g.i32(int32(1024 + 8*g.r.below(100_000)))
	}
}

// address writes an address to access at once: a pointer and at most 8 KiB.
func (g *gen) address(depth int) {
	if g.r.chance(4) {
		g.i32(int32(1024 + 8*g.r.below(100_000)))
		return
	}
	g.ptr(min(depth, 1))
	switch g.r.pick([]int{70, 22, 8}) {
	case 1:
		g.i32(int32(4 + 4*g.r.below(256)))
		g.op(opI32Add)
	case 2:
		if len(g.busy) > 0 {
			g.opU32(opLocalGet, g.busy[len(g.busy)-1])
		} else {
			g.int(0)
			g.i32(63)
			g.op(opI32And)
		}
		g.i32(2)
		g.op(opI32Shl, opI32Add)
	}
}

// condition writes an i32 to branch on, 9 times of 10 a comparison.
func (g *gen) condition(depth int) {
	if g.r.chance(10) {
		g.int(depth)
		return
	}
	g.compare(depth)
}

func (g *gen) compare(depth int) {
	switch g.r.pick([]int{30, 52, 12, 3, 3}) {
	case 0:
		g.int(depth)
		g.op(opI32Eqz)
	case 1:
		g.int(depth)
		if g.r.chance(60) {
			g.intConst()
		} else {
			g.int(depth - 1)
		}
		op := opI32Eq + byte(g.r.below(2))
		if g.r.chance(40) {
			op = opI32LtS + byte(g.r.below(opI32GeU-opI32LtS+1))
		}
		g.op(op)
	case 2:
		if len(g.byKind[kindFPtr]) == 0 {
			g.int(depth)
			g.op(opI32Eqz)
			return
		}
		g.expr(kindF32, depth)
		g.expr(kindF32, 0)
		g.op(opF32Eq + byte(g.r.below(opF32Ge-opF32Eq+1)))
	case 3:
		g.long(depth - 1)
		g.long(0)
		g.op(opI64Eq + byte(g.r.below(opI64GeU-opI64Eq+1)))
	case 4:
		g.int(depth)
		g.int(0)
		g.op(opI32And)
	}
}

func (g *gen) long(depth int) {
	if depth <= 0 {
		if !g.r.chance(30) && g.local(kindI64) {
			return
		}
		g.op(opI64Const)
		g.s64(int64(g.r.next()) >> (8 * g.r.below(8)))
		return
	}
	switch g.r.pick([]int{50, 20, 30}) {
	case 0:
		g.address(depth - 1)
		g.mem(opI64Load, 3)
	case 1:
		g.int(depth - 1)
		g.op(opI64ExtendI32S + byte(g.r.below(2)))
	case 2:
		g.long(depth - 1)
		g.long(0)
		g.op([]byte{opI64Add, opI64Sub, opI64Mul, opI64And, opI64Or, opI64Xor, opI64Shl, opI64ShrU}[g.r.below(8)])
	}
}

// floatOps is what float needs to know of a float type.
type floatOps struct {
	kind, ptr   kind
	load        byte
	logSize     uint32
	fromInt     byte
	fromOther   byte // conversion from the other float type
	other       kind
	unary       []byte
	binary      []byte
	appendConst func([]byte, float64) []byte
}

var f32Ops = floatOps{
	kind: kindF32, ptr: kindFPtr, load: opF32Load, logSize: 2,
	fromInt: opF32ConvertI32S, fromOther: opF32DemoteF64, other: kindF64,
	unary:  []byte{opF32Abs, opF32Neg, opF32Neg, opF32Sqrt},
	binary: []byte{opF32Add, opF32Add, opF32Sub, opF32Mul, opF32Mul, opF32Mul, opF32Mul, opF32Div, opF32Min, opF32Max},
	appendConst: func(b []byte, v float64) []byte {
		return binary.LittleEndian.AppendUint32(append(b, opF32Const), math.Float32bits(float32(v)))
	},
}

var f64Ops = floatOps{
	kind: kindF64, ptr: kindDPtr, load: opF64Load, logSize: 3,
	fromInt: opF64ConvertI32S, fromOther: opF64PromoteF32, other: kindF32,
	unary:  []byte{opF64Abs, opF64Neg, opF64Sqrt},
	binary: []byte{opF64Add, opF64Sub, opF64Mul, opF64Mul, opF64Div},
	appendConst: func(b []byte, v float64) []byte {
		return binary.LittleEndian.AppendUint64(append(b, opF64Const), math.Float64bits(v))
	},
}

func (g *gen) float(depth int, o *floatOps) {
	if depth <= 0 {
		if !g.r.chance(15) && g.local(o.kind) {
			return
		}
		if g.r.chance(50) && g.local(o.ptr) {
			g.mem(o.load, o.logSize)
			return
		}
		g.buf = o.appendConst(g.buf, float64(g.r.below(1000)-500)/8)
		return
	}
	switch g.r.pick([]int{30, 52, 8, 6, 4}) {
	case 0:
		if g.local(o.ptr) {
			g.mem(o.load, o.logSize)
			return
		}
		g.float(0, o)
	case 1:
		g.float(depth-1, o)
		g.float(depth-1, o)
		g.op(o.binary[g.r.below(len(o.binary))])
	case 2:
		g.float(depth-1, o)
		g.op(o.unary[g.r.below(len(o.unary))])
	case 3:
		g.int(0)
		g.op(o.fromInt)
	case 4:
		if o.kind == kindF64 {
			g.float(0, &f32Ops)
		} else {
			g.float(0, &f64Ops)
		}
		g.op(o.fromOther)
	}
}
