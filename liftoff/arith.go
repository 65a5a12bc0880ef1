package liftoff

import (
	"math/bits"

	"github.com/wasmjit/wasmjit/decoder"
)

// width is the width of an integer operation.
type width uint8

const (
	w32 width = iota
	w64
)

// typ is the operand type of the width.
func (w width) typ() decoder.Type { return decoder.I32 + decoder.Type(w) }

// fwidth is the width of a floating-point operation.
type fwidth uint8

const (
	f32 fwidth = iota
	f64
)

// typ is the operand type of the width.
func (w fwidth) typ() decoder.Type { return decoder.F32 + decoder.Type(w) }

// intOp is an integer operation with two operands.
type intOp uint8

const (
	opAdd intOp = iota
	opSub
	opMul
	opAnd
	opOr
	opXor
)

func (op intOp) commutes() bool { return op != opSub }

// shiftOp is a shift or rotation; the count counts modulo the width.
type shiftOp uint8

const (
	opShl shiftOp = iota
	opShrS
	opShrU
	opRotl
	opRotr
)

// divOp is a division or remainder.
type divOp uint8

const (
	opDivS divOp = iota
	opDivU
	opRemS
	opRemU
)

func (op divOp) signed() bool    { return op == opDivS || op == opRemS }
func (op divOp) remainder() bool { return op >= opRemS }

// unOp is an integer operation with one operand.
type unOp uint8

const (
	opClz unOp = iota
	opCtz
	opPopcnt
	opExtend8S
	opExtend16S
	opExtend32S
)

// floatOp is a floating-point operation with two operands.
type floatOp uint8

const (
	opFAdd floatOp = iota
	opFSub
	opFMul
	opFDiv
	opFMin
	opFMax
	opFCopysign
)

// floatUnOp is a floating-point operation with one operand.
type floatUnOp uint8

const (
	opFAbs floatUnOp = iota
	opFNeg
	opFCeil
	opFFloor
	opFTrunc
	opFNearest
	opFSqrt
)

// isImm32 reports whether the constant of an operation of width w fits a
// sign-extended 32-bit immediate.
func isImm32(w width, bits uint64) bool {
	return w == w32 || int64(bits) == int64(int32(bits))
}

// binop compiles an integer operation. The right operand may stay a constant
// or in memory.
func (c *Compiler) binop(pc int, w width, op intOp) int {
	t := w.typ()
	i := c.drop2(t, t)
	if i < 0 {
		return fail
	}
	x, y := c.v.Op(i), c.v.Op(i+1)
	xi, yi := i, i+1
	if x.Loc == locConst && op.commutes() {
		x, y, xi, yi = y, x, yi, xi
	}
	ry := c.letGo(y)
	rx := c.take(x, xi)
	if w == w64 && decoder.Byte(c.base, pc) == decoder.OpI32WrapI64 {
		// The low half of the outcome depends on the low halves alone.
		w, t, pc = w32, decoder.I32, pc+1
	}
	if op == opAnd && c.tested(pc, w) && (y.Loc == locConst && isImm32(w, y.Bits) || ry != noReg) {
		// Only whether the outcome is zero matters.
		p := comparison{kind: cmpTestRegs, w: uint8(w), cond: condNe, x: rx}
		if y.Loc == locConst {
			p.kind, p.imm = cmpTestImm, int32(y.Bits)
		} else {
			p.y = ry
		}
		if w == w64 {
			p.cond = condEq // the i64.eqz that follows is this comparison
			pc++
		}
		return c.compared(pc, p)
	}
	if y.Loc == locConst && isImm32(w, y.Bits) {
		d := c.result(pc, t, rx, noReg)
		c.binopImm(w, op, d, rx, int32(y.Bits))
		return c.deliver(pc, t, d)
	}
	if y.Loc == locSlot {
		d := c.result(pc, t, rx, noReg)
		c.binopFrame(w, op, d, rx, c.home(yi))
		return c.deliver(pc, t, d)
	}
	ry = c.taken(ry, y, yi)
	other := noReg
	if op.commutes() {
		other = ry
	}
	d := c.result(pc, t, rx, other)
	if d == ry && d != rx && !op.commutes() && c.twoAddress() {
		// The pin that the result is meant for is the right operand.
		d = c.alloc(allGP)
	}
	c.binopReg(w, op, d, rx, ry)
	return c.deliver(pc, t, d)
}

// tested reports whether the code at pc asks a number of width w only whether
// it is zero, and branches on the answer.
func (c *Compiler) tested(pc int, w width) bool {
	op := decoder.Byte(c.base, pc)
	if w == w64 {
		if op != decoder.OpI64Eqz {
			return false
		}
		op = decoder.Byte(c.base, pc+1)
		return op == decoder.OpBrIf || op == decoder.OpIf
	}
	if op == decoder.OpI32Eqz {
		op = decoder.Byte(c.base, pc+1)
	}
	return op == decoder.OpBrIf || op == decoder.OpIf
}

// unop compiles an integer operation with one operand.
func (c *Compiler) unop(pc int, w width, op unOp) int {
	t := w.typ()
	i := c.drop1(t)
	if i < 0 {
		return fail
	}
	rx := c.take(c.v.Op(i), i)
	d := c.result(pc, t, rx, noReg)
	if op == opPopcnt && !c.o.CPU.Popcnt && !c.arm {
		if d == rx {
			d = c.alloc(allGP)
		}
		c.popcntBits(w, d, rx, c.alloc(allGP), c.scratch())
	} else {
		c.unopReg(w, op, d, rx)
	}
	return c.deliver(pc, t, d)
}

// shift compiles a shift or rotation.
func (c *Compiler) shift(pc int, w width, op shiftOp) int {
	t := w.typ()
	i := c.drop2(t, t)
	if i < 0 {
		return fail
	}
	x, y := c.v.Op(i), c.v.Op(i+1)
	if y.Loc == locConst {
		n := uint8(y.Bits) & (31 | uint8(w)<<5)
		rx := c.take(x, i)
		if op == opShl && c.scaled(pc, w, n) {
			b := c.drop1(t)
			rb := c.take(c.v.Op(b), b)
			d := c.result(pc+1, t, rx, rb)
			c.addShifted(d, rb, rx, n)
			return c.deliver(pc+1, t, d)
		}
		d := c.result(pc, t, rx, noReg)
		c.shiftImm(w, op, d, rx, n)
		return c.deliver(pc, t, d)
	}
	c.letGo(x)
	c.letGo(y)
	d := c.shiftVar(pc, w, op, x, i, y, i+1)
	return c.deliver(pc, t, d)
}

// scaled reports whether a shift by n at the top of the stack is added, in 32
// bits, to a register below it: the address of an array element. The sum wraps
// at 32 bits like the two instructions it stands for.
func (c *Compiler) scaled(pc int, w width, n uint8) bool {
	i := c.v.H - 1
	return w == w32 && n-1 < 3 && decoder.Byte(c.base, pc) == decoder.OpI32Add &&
		i >= c.v.Floor && c.v.Op(i).Type == decoder.I32 && c.v.Op(i).Loc != locConst
}

// divrem compiles a division or remainder.
func (c *Compiler) divrem(pc int, w width, op divOp) int {
	t := w.typ()
	i := c.pop2(t, t)
	if i < 0 {
		return fail
	}
	x, y := c.v.Op(i), c.v.Op(i+1)
	var d reg
	// i32 constants are kept zero-extended.
	if n := y.Bits; y.Loc == locConst && !op.signed() && n != 0 && n&(n-1) == 0 {
		d = c.divideByPower(pc, w, op, x, i, n)
	} else {
		d = c.divide(pc, w, op, x, i, y, i+1)
	}
	return c.deliver(pc, t, d)
}

// divideByPower compiles an unsigned division by n, a power of two.
func (c *Compiler) divideByPower(pc int, w width, op divOp, x *decoder.Operand, xi int, n uint64) reg {
	t, log := w.typ(), uint8(bits.TrailingZeros64(n))
	rx := c.use(x, xi)
	d := c.result(pc, t, rx, noReg)
	switch {
	case op == opDivU:
		c.shiftImm(w, opShrU, d, rx, log)
	case isImm32(w, n-1):
		c.binopImm(w, opAnd, d, rx, int32(n-1))
	default:
		c.move(t, d, rx)
		c.shiftImm(w, opShl, d, d, 64-log)
		c.shiftImm(w, opShrU, d, d, 64-log)
	}
	return d
}

// fbinop compiles a floating-point operation.
func (c *Compiler) fbinop(pc int, w fwidth, op floatOp) int {
	t := w.typ()
	i := c.drop2(t, t)
	if i < 0 {
		return fail
	}
	x, y := c.v.Op(i), c.v.Op(i+1)
	ry := c.letGo(y)
	rx := c.take(x, i)
	if y.Loc == locSlot && op <= opFDiv {
		d := c.result(pc, t, rx, noReg)
		c.fbinopFrame(w, op, d, rx, c.home(i+1))
		return c.deliver(pc, t, d)
	}
	ry = c.taken(ry, y, i+1)
	if op == opFCopysign {
		sign := c.alloc(allFP)
		c.signOf(w, sign, ry)
		if ry != rx {
			c.locked &^= ry.bit()
		}
		d := c.result(pc, t, rx, noReg)
		c.withSign(w, d, rx, sign)
		return c.deliver(pc, t, d)
	}
	d := c.result(pc, t, rx, noReg)
	if d == ry && d != rx && c.twoAddress() {
		d = c.alloc(allFP)
	}
	if op <= opFDiv {
		c.fbinopReg(w, op, d, rx, ry)
	} else {
		c.minmax(w, op == opFMax, d, rx, ry)
	}
	return c.deliver(pc, t, d)
}

// funop compiles a floating-point operation with one operand.
func (c *Compiler) funop(pc int, w fwidth, op floatUnOp) int {
	t := w.typ()
	i := c.drop1(t)
	if i < 0 {
		return fail
	}
	rx := c.take(c.v.Op(i), i)
	d := c.result(pc, t, rx, noReg)
	if op <= opFNeg {
		c.signop(w, op, d, rx)
	} else {
		c.funopReg(w, op, d, rx)
	}
	return c.deliver(pc, t, d)
}

// scratch gives one more general-purpose register, locked: the scratch
// register of the calling convention if the instruction doesn't use it
// already, else any other.
func (c *Compiler) scratch() reg {
	if !c.locked.has(scratchReg) {
		return c.claim(scratchReg)
	}
	return c.alloc(allGP)
}

// twoAddress reports whether instructions overwrite their first operand, so
// that a result can't be in the register of the second.
func (c *Compiler) twoAddress() bool { return !c.arm }
