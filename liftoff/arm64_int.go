package liftoff

import (
	"math/bits"

	"github.com/wasmjit/wasmjit/asm/arm64"
	"github.com/wasmjit/wasmjit/decoder"
)

var armOps = [...]arm64.Alu{opAdd: arm64.ADD, opSub: arm64.SUB, opAnd: arm64.AND, opOr: arm64.ORR, opXor: arm64.EOR}

func (m *masm) armBinopReg(w width, op intOp, d, x, y reg) { m.armOp(w, op, xr(d), xr(x), xr(y)) }

func (m *masm) armOp(w width, op intOp, d, x, y arm64.Reg) {
	if op == opMul {
		m.a.Madd(w.arm(), d, x, y, arm64.ZR)
		return
	}
	m.a.AluRR(armOps[op], w.arm(), d, x, y)
}

func (m *masm) armBinopImm(w width, op intOp, d, x reg, imm int32) {
	s := w.arm()
	v := uint64(int64(imm))
	if w == w32 {
		v = uint64(uint32(imm))
	}
	switch op {
	case opAdd, opSub:
		alu, n := armOps[op], int64(imm)
		if n < 0 {
			// The opposite of the opposite; the flags don't matter.
			alu, n = armOps[opAdd+opSub-op], -n
		}
		if arm64.FitsArith(uint64(n)) {
			m.a.AddI(alu, s, xr(d), xr(x), uint32(n))
			return
		}
	case opMul:
		if imm > 0 && imm&(imm-1) == 0 {
			m.a.ShiftI(arm64.LSL, s, xr(d), xr(x), uint8(bits.TrailingZeros32(uint32(imm))))
			return
		}
	case opXor:
		if imm == -1 {
			m.a.AluRR(arm64.ORN, s, xr(d), arm64.ZR, xr(x))
			return
		}
		fallthrough
	default:
		if arm64.FitsLogical(s, v) {
			m.a.LogicI(armOps[op], s, xr(d), xr(x), v)
			return
		}
	}
	m.armOp(w, op, xr(d), xr(x), m.armConstReg(s, v))
}

func (m *masm) armBinopFrame(w width, op intOp, d, x reg, off int32) {
	m.ldst(armLoads[w.typ()], armData, arm64.FP, off)
	m.armOp(w, op, xr(d), xr(x), armData)
}

func (c *Compiler) armUnopReg(w width, op unOp, d, x reg) {
	a, s := &c.a, w.arm()
	switch op {
	case opClz:
		a.BitsR(arm64.CLZ, s, xr(d), xr(x))
	case opCtz:
		a.BitsR(arm64.RBIT, s, xr(d), xr(x))
		a.BitsR(arm64.CLZ, s, xr(d), xr(d))
	case opPopcnt:
		// Only vectors count bits. The sum of eight counts fits a byte.
		a.FmovVR(s, armTmpV, xr(x))
		a.Cnt8B(armTmpV, armTmpV)
		a.Addv8B(armTmpV, armTmpV)
		a.FmovRV(arm64.S32, xr(d), armTmpV)
	case opExtend8S:
		a.SignExt(s, xr(d), xr(x), 8)
	case opExtend16S:
		a.SignExt(s, xr(d), xr(x), 16)
	case opExtend32S:
		a.SignExt(s, xr(d), xr(x), 32)
	}
}

var (
	armShifts = [...]arm64.Shift{opShl: arm64.LSL, opShrS: arm64.ASR, opShrU: arm64.LSR, opRotl: arm64.ROR, opRotr: arm64.ROR}
	armCounts = [...]arm64.Bits2{opShl: arm64.LSLV, opShrS: arm64.ASRV, opShrU: arm64.LSRV, opRotl: arm64.RORV, opRotr: arm64.RORV}
)

func (m *masm) armShiftImm(w width, op shiftOp, d, x reg, n uint8) {
	if n == 0 {
		m.armMove(w.typ(), d, x)
		return
	}
	if op == opRotl {
		n = 32<<w - n
	}
	m.a.ShiftI(armShifts[op], w.arm(), xr(d), xr(x), n)
}

func (m *masm) armAddShifted(d, a, b reg, n uint8) {
	m.a.AluShift(arm64.ADD, arm64.S32, xr(d), xr(a), xr(b), arm64.LSL, n)
}

// armShiftVar counts modulo the width, as the machine does; a rotation to the
// left is one to the right by the opposite count.
func (c *Compiler) armShiftVar(pc int, w width, op shiftOp, x *decoder.Operand, xi int, y *decoder.Operand, yi int) reg {
	rx, ry := c.use(x, xi), c.use(y, yi)
	d := c.result(pc, w.typ(), rx, ry)
	count := xr(ry)
	if op == opRotl {
		c.a.AluRR(arm64.SUB, w.arm(), armData, arm64.ZR, count)
		count = armData
	}
	c.a.BitsRR(armCounts[op], w.arm(), xr(d), xr(rx), count)
	return d
}

// armDivide compiles a division. The instruction gives 0 for a divisor of 0 and
// the minimum for the minimum by -1, so only divisions need to look for the
// latter: the remainder is right as it is.
func (c *Compiler) armDivide(pc int, w width, op divOp, x *decoder.Operand, xi int, y *decoder.Operand, yi int) reg {
	t, s := w.typ(), w.arm()
	rx, ry := c.use(x, xi), c.use(y, yi)
	d := c.result(pc, t, rx, ry)
	if y.Loc != locConst || y.Bits == 0 {
		c.armTrapZero(s, xr(ry), TrapDivideByZero)
	}
	minusOne := uint64(1)<<(32<<w) - 1
	if op == opDivS && (y.Loc != locConst || y.Bits == minusOne) {
		// x - 1 overflows for the minimum alone; it is compared only if y + 1
		// is zero.
		c.a.AddI(arm64.ADDS, s, arm64.ZR, xr(ry), 1)
		c.a.CcmpI(arm64.EQ, s, xr(rx), 1, 0)
		c.armTrapIf(arm64.VS, TrapIntegerOverflow)
	}
	div := arm64.UDIV
	if op.signed() {
		div = arm64.SDIV
	}
	if !op.remainder() {
		c.a.BitsRR(div, s, xr(d), xr(rx), xr(ry))
		return d
	}
	c.a.BitsRR(div, s, armKeep, xr(rx), xr(ry))
	c.a.Msub(s, xr(d), armKeep, xr(ry), xr(rx))
	return d
}
