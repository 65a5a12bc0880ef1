package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// conversion is a conversion that needs no check.
type conversion uint8

const (
	convWrapI64 conversion = iota
	convExtendI32S
	convExtendI32U
	convConvertI32S
	convConvertI32U
	convConvertI64S
	convConvertI64U
	convDemoteF64
	convPromoteF32
	convReinterpretF32
	convReinterpretF64
	convReinterpretI32
	convReinterpretI64
)

// sourceTypes are the operand types of the conversions.
var sourceTypes = [...]decoder.Type{
	convWrapI64: decoder.I64, convExtendI32S: decoder.I32, convExtendI32U: decoder.I32,
	convConvertI32S: decoder.I32, convConvertI32U: decoder.I32,
	convConvertI64S: decoder.I64, convConvertI64U: decoder.I64,
	convDemoteF64: decoder.F64, convPromoteF32: decoder.F32,
	convReinterpretF32: decoder.F32, convReinterpretF64: decoder.F64,
	convReinterpretI32: decoder.I32, convReinterpretI64: decoder.I64,
}

// convertInt compiles a conversion between integers. A constant stays one.
func (c *Compiler) convertInt(pc int, t decoder.Type, op conversion) int {
	i := c.drop1(sourceTypes[op])
	if i < 0 {
		return fail
	}
	x := c.v.Op(i)
	if op == convExtendI32U && decoder.Byte(c.base, pc) == decoder.OpI64Const {
		if next, n, ok := c.addressChain(pc); ok {
			return c.addConst(next, x, i, n)
		}
	}
	if x.Loc == locConst {
		bits := uint64(uint32(x.Bits))
		if op == convExtendI32S {
			bits = uint64(int64(int32(x.Bits)))
		}
		c.pushConst(t, bits)
		return pc
	}
	r := c.take(x, i)
	if op == convExtendI32U && c.free.has(r) {
		// Every i32 in a register is zero-extended already.
		return c.deliver(pc, t, r)
	}
	d := c.result(pc, t, r, noReg)
	if op == convExtendI32S {
		c.unopReg(w64, opExtend32S, d, r)
	} else {
		c.zeroExtend(d, r)
	}
	return c.deliver(pc, t, d)
}

// convert compiles a conversion to type t, from or to a floating-point type.
func (c *Compiler) convert(pc int, t decoder.Type, op conversion) int {
	i := c.drop1(sourceTypes[op])
	if i < 0 {
		return fail
	}
	x := c.v.Op(i)
	r := c.take(x, i)
	same := noReg // a register of the result's kind that may serve again
	if t.IsFloat() == x.Type.IsFloat() {
		same = r
	}
	d := c.result(pc, t, same, noReg)
	switch op {
	case convConvertI32S:
		c.toFloat(fwidth(t-decoder.F32), w32, d, r)
	case convConvertI32U, convConvertI64S:
		c.toFloat(fwidth(t-decoder.F32), w64, d, r)
	case convConvertI64U:
		c.unsignedToFloat(fwidth(t-decoder.F32), d, r)
	case convDemoteF64:
		c.demote(d, r)
	case convPromoteF32:
		c.promote(d, r)
	case convReinterpretF32:
		c.floatToBits(f32, d, r)
	case convReinterpretF64:
		c.floatToBits(f64, d, r)
	case convReinterpretI32:
		c.bitsToFloat(f32, d, r)
	case convReinterpretI64:
		c.bitsToFloat(f64, d, r)
	}
	return c.deliver(pc, t, d)
}

// addressChain recognises what Go's compiler makes of a 32-bit sum: behind
// i64.extend_i32_u, the opcodes i64.const n, i64.add, i32.wrap_i64. Wrapped to
// 32 bits the sum is that of the low halves. It gives the position behind the
// chain and n.
func (c *Compiler) addressChain(pc int) (next int, n int32, ok bool) {
	v, pc := decoder.S64(c.base, pc+1)
	if pc > c.v.End-2 || decoder.Byte(c.base, pc) != decoder.OpI64Add || decoder.Byte(c.base, pc+1) != decoder.OpI32WrapI64 {
		return 0, 0, false
	}
	return pc + 2, int32(v), true
}

// addConst compiles the 32-bit sum of the dropped operand x of height i and n.
func (c *Compiler) addConst(pc int, x *decoder.Operand, i int, n int32) int {
	if x.Loc == locConst {
		c.pushConst(decoder.I32, uint64(uint32(x.Bits)+uint32(n)))
		return pc
	}
	r := c.take(x, i)
	d := c.result(pc, decoder.I32, r, noReg)
	c.binopImm(w32, opAdd, d, r, n)
	return c.deliver(pc, decoder.I32, d)
}

// truncation is a conversion of a floating-point number to an integer.
type truncation struct {
	to               width
	from             fwidth
	signed, saturate bool
}

// trunc compiles a truncation that traps, or saturates, on what doesn't fit.
func (c *Compiler) trunc(pc int, to width, from fwidth, signed, saturate bool) int {
	i := c.pop1(from.typ())
	if i < 0 {
		return fail
	}
	r := c.use(c.v.Op(i), i)
	d := c.result(pc, to.typ(), noReg, noReg)
	c.truncate(truncation{to, from, signed, saturate}, d, r)
	return c.deliver(pc, to.typ(), d)
}
