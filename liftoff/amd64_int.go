package liftoff

import (
	"math/bits"

	"github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/decoder"
)

func (w width) size() amd64.Size { return amd64.Size(w) }

// aluOps are the machine's operations for those intOps that have one.
var aluOps = [...]amd64.Alu{opAdd: amd64.ADD, opSub: amd64.SUB, opAnd: amd64.AND, opOr: amd64.OR, opXor: amd64.XOR}

// binopReg emits d = x op y. d may be x; it may be y if op commutes.
func (m *masm) binopReg(w width, op intOp, d, x, y reg) {
	if m.arm {
		m.armBinopReg(w, op, d, x, y)
		return
	}
	s := w.size()
	if d == y && d != x {
		x, y = y, x
	}
	if op == opAdd && d != x {
		m.x.Lea(s, gp(d), amd64.AtIdx(gp(x), gp(y), 0, 0))
		return
	}
	if d != x {
		m.x.MovRR(s, gp(d), gp(x))
	}
	if op == opMul {
		m.x.ImulRR(s, gp(d), gp(y))
		return
	}
	m.x.AluRR(aluOps[op], s, gp(d), gp(y))
}

// binopImm emits d = x op imm.
func (m *masm) binopImm(w width, op intOp, d, x reg, imm int32) {
	if m.arm {
		m.armBinopImm(w, op, d, x, imm)
		return
	}
	s := w.size()
	if d != x {
		switch {
		case op == opAdd:
			m.x.Lea(s, gp(d), amd64.At(gp(x), imm))
			return
		case op == opSub && imm != -1<<31:
			m.x.Lea(s, gp(d), amd64.At(gp(x), -imm))
			return
		case op == opMul:
		default:
			m.x.MovRR(s, gp(d), gp(x))
		}
	}
	if op == opMul {
		if imm > 0 && imm&(imm-1) == 0 {
			if d != x {
				m.x.MovRR(s, gp(d), gp(x))
			}
			m.x.ShiftRI(amd64.SHL, s, gp(d), uint8(bits.TrailingZeros32(uint32(imm))))
			return
		}
		m.x.ImulRRI(s, gp(d), gp(x), imm)
		return
	}
	m.x.AluRI(aluOps[op], s, gp(d), imm)
}

// binopFrame emits d = x op the frame slot at off.
func (m *masm) binopFrame(w width, op intOp, d, x reg, off int32) {
	if m.arm {
		m.armBinopFrame(w, op, d, x, off)
		return
	}
	m.move(w.typ(), d, x)
	if op == opMul {
		m.x.ImulRM(w.size(), gp(d), frameAt(off))
		return
	}
	m.x.AluRM(aluOps[op], w.size(), gp(d), frameAt(off))
}

// unopReg emits d = op x; popcnt only where the CPU has it.
func (c *Compiler) unopReg(w width, op unOp, d, x reg) {
	if c.arm {
		c.armUnopReg(w, op, d, x)
		return
	}
	s := w.size()
	a := &c.x
	switch op {
	case opClz:
		if c.o.CPU.Lzcnt {
			a.Lzcnt(s, gp(d), gp(x))
			return
		}
		// bsr leaves the destination alone for zero on all CPUs, but only one
		// vendor says so: a branch sets the answer's complement instead.
		n := int32(31 | w<<5)
		c.bitScan(w, d, x, a.Bsr, uint32(2*n+1))
		a.AluRI(amd64.XOR, amd64.S32, gp(d), n)
	case opCtz:
		if c.o.CPU.BMI1 {
			a.Tzcnt(s, gp(d), gp(x))
			return
		}
		c.bitScan(w, d, x, a.Bsf, uint32(32<<w))
	case opPopcnt:
		a.Popcnt(s, gp(d), gp(x))
	case opExtend8S:
		a.MovSX8RR(s, gp(d), gp(x))
	case opExtend16S:
		a.MovSX16RR(s, gp(d), gp(x))
	case opExtend32S:
		a.MovSXDRR(gp(d), gp(x))
	}
}

// bitScan emits d = scan x, or zero if x is 0.
func (c *Compiler) bitScan(w width, d, x reg, scan func(amd64.Size, amd64.Reg, amd64.Reg), zero uint32) {
	a := &c.x
	a.TestRR(w.size(), gp(x), gp(x))
	isZero := a.JccShort(amd64.E)
	scan(w.size(), gp(d), gp(x))
	done := a.JmpShort()
	a.PatchShort(isZero)
	a.MovRI32(gp(d), zero)
	a.PatchShort(done)
}

// popcntBits counts bits by pairs, nibbles and bytes (Hacker's Delight,
// figure 5-2). All registers are different but x, which may be tmp's source.
func (m *masm) popcntBits(w width, d, x, tmp, mask reg) {
	s, a := w.size(), &m.x
	load := func(pattern uint64) {
		if w == w32 {
			a.MovRI32(gp(mask), uint32(pattern))
		} else {
			a.MovRI64(gp(mask), pattern)
		}
	}
	a.MovRR(s, gp(d), gp(x))
	a.MovRR(s, gp(tmp), gp(x))
	a.ShiftRI(amd64.SHR, s, gp(tmp), 1)
	load(0x5555555555555555)
	a.AluRR(amd64.AND, s, gp(tmp), gp(mask))
	a.AluRR(amd64.SUB, s, gp(d), gp(tmp))
	load(0x3333333333333333)
	a.MovRR(s, gp(tmp), gp(d))
	a.ShiftRI(amd64.SHR, s, gp(tmp), 2)
	a.AluRR(amd64.AND, s, gp(d), gp(mask))
	a.AluRR(amd64.AND, s, gp(tmp), gp(mask))
	a.AluRR(amd64.ADD, s, gp(d), gp(tmp))
	a.MovRR(s, gp(tmp), gp(d))
	a.ShiftRI(amd64.SHR, s, gp(tmp), 4)
	a.AluRR(amd64.ADD, s, gp(d), gp(tmp))
	load(0x0f0f0f0f0f0f0f0f)
	a.AluRR(amd64.AND, s, gp(d), gp(mask))
	load(0x0101010101010101)
	a.ImulRR(s, gp(d), gp(mask))
	a.ShiftRI(amd64.SHR, s, gp(d), 24|uint8(w)<<5)
}

// shiftOps are the machine's shifts.
var shiftOps = [...]amd64.Shift{opShl: amd64.SHL, opShrS: amd64.SAR, opShrU: amd64.SHR, opRotl: amd64.ROL, opRotr: amd64.ROR}

// shiftImm emits d = x shifted by the constant n, less than the width.
func (m *masm) shiftImm(w width, op shiftOp, d, x reg, n uint8) {
	if m.arm {
		m.armShiftImm(w, op, d, x, n)
		return
	}
	if d != x {
		m.x.MovRR(w.size(), gp(d), gp(x))
	}
	if n != 0 {
		m.x.ShiftRI(shiftOps[op], w.size(), gp(d), n)
	}
}

// addShifted emits d = a + b<<n in 32 bits, n at most 3.
func (m *masm) addShifted(d, a, b reg, n uint8) {
	if m.arm {
		m.armAddShifted(d, a, b, n)
		return
	}
	m.x.Lea(amd64.S32, gp(d), amd64.AtIdx(gp(a), gp(b), n, 0))
}

// shiftVar compiles a shift of x by y and gives the result's register. Without
// BMI2 the count must be in cl.
func (c *Compiler) shiftVar(pc int, w width, op shiftOp, x *decoder.Operand, xi int, y *decoder.Operand, yi int) reg {
	if c.arm {
		return c.armShiftVar(pc, w, op, x, xi, y, yi)
	}
	t, s := w.typ(), w.size()
	if c.o.CPU.BMI2 && op <= opShrU {
		rx, ry := c.use(x, xi), c.use(y, yi)
		d := c.result(pc, t, rx, ry)
		c.x.ShiftX(shiftOps[op], s, gp(d), gp(rx), gp(ry))
		return d
	}
	const count = reg(amd64.RCX)
	rx := c.use(x, xi)
	ry := c.inReg(y)
	if ry != count {
		// Whatever rcx holds moves away; if that is x, x moves first.
		if rx == count {
			rx = c.alloc(allGP &^ count.bit())
			c.move(t, rx, count)
			c.moveOut(count)
		} else {
			c.claim(count)
		}
		c.fill(count, y, yi)
		if ry != noReg && ry != rx {
			c.locked &^= ry.bit()
		}
	}
	d := c.resultAvoiding(pc, t, rx, count)
	c.move(t, d, rx)
	c.x.ShiftCL(shiftOps[op], s, gp(d))
	return d
}

// resultAvoiding is result with one operand register a, never register not.
func (c *Compiler) resultAvoiding(pc int, t decoder.Type, a, not reg) reg {
	if a == not {
		a = noReg
	}
	c.lock(not)
	return c.result(pc, t, a, noReg)
}

// divide compiles a division: dividend in rdx:rax, quotient to rax, remainder
// to rdx. Every change of state happens before the first branch.
func (c *Compiler) divide(pc int, w width, op divOp, x *decoder.Operand, xi int, y *decoder.Operand, yi int) reg {
	if c.arm {
		return c.armDivide(pc, w, op, x, xi, y, yi)
	}
	t, s := w.typ(), w.size()
	const rax, rdx = reg(amd64.RAX), reg(amd64.RDX)
	const pair = 1<<rax | 1<<rdx
	divisor := c.inReg(y)
	if divisor == noReg || regSet(pair).has(divisor) {
		from := divisor
		if c.locked.has(scratchReg) {
			divisor = c.alloc(allGP &^ pair)
		} else {
			divisor = c.claim(scratchReg)
		}
		if from != noReg {
			c.move(t, divisor, from)
		} else {
			c.fill(divisor, y, yi)
		}
	}
	c.vacate(rax)
	if c.inReg(x) != rax {
		c.fill(rax, x, xi)
	}
	c.vacate(rdx)
	a := &c.x
	if y.Loc != locConst || y.Bits == 0 {
		a.TestRR(s, gp(divisor), gp(divisor))
		c.trapIf(amd64.E, TrapDivideByZero)
	}
	if !op.signed() {
		a.AluRR(amd64.XOR, amd64.S32, amd64.RDX, amd64.RDX)
		a.Div(s, gp(divisor))
	} else {
		done := -1
		if minusOne := uint64(1)<<(32<<w) - 1; y.Loc != locConst || y.Bits == minusOne {
			// -1 would make the instruction itself fault on the minimum.
			a.AluRI(amd64.CMP, s, gp(divisor), -1)
			other := a.JccShort(amd64.NE)
			if op == opDivS {
				a.Neg(s, amd64.RAX)
				c.trapIf(amd64.O, TrapIntegerOverflow)
			} else {
				a.AluRR(amd64.XOR, amd64.S32, amd64.RDX, amd64.RDX)
			}
			done = a.JmpShort()
			a.PatchShort(other)
		}
		if w == w32 {
			a.Cdq()
		} else {
			a.Cqo()
		}
		a.Idiv(s, gp(divisor))
		if done >= 0 {
			a.PatchShort(done)
		}
	}
	if op.remainder() {
		return rdx
	}
	return rax
}

// vacate makes r writable for this opcode although an operand of the opcode
// may be in it.
func (c *Compiler) vacate(r reg) {
	if c.locked.has(r) {
		c.moveOut(r)
		return
	}
	c.claim(r)
}
