package liftoff

import (
	"github.com/wasmjit/wasmjit/asm/amd64"
)

// sse picks the single or double form of an instruction.
func (w fwidth) sse(single, double amd64.Sse) amd64.Sse {
	if w == f64 {
		return double
	}
	return single
}

func (w fwidth) double() bool { return w == f64 }

// size is the size of the integer with the same bits.
func (w fwidth) size() amd64.Size { return amd64.Size(w) }

// signShift is the distance of the sign bit from bit 0.
func (w fwidth) signShift() uint8 { return 31 | uint8(w)<<5 }

var floatOps = [...][2]amd64.Sse{
	opFAdd: {amd64.ADDSS, amd64.ADDSD},
	opFSub: {amd64.SUBSS, amd64.SUBSD},
	opFMul: {amd64.MULSS, amd64.MULSD},
	opFDiv: {amd64.DIVSS, amd64.DIVSD},
}

// fbinopReg emits d = x op y; d isn't y unless it is x.
func (m *masm) fbinopReg(w fwidth, op floatOp, d, x, y reg) {
	if m.arm {
		m.armFbinopReg(w, op, d, x, y)
		return
	}
	if d != x {
		m.x.MovapsRR(fp(d), fp(x))
	}
	m.x.SseRR(floatOps[op][w], fp(d), fp(y))
}

// fbinopFrame emits d = x op the frame slot at off.
func (m *masm) fbinopFrame(w fwidth, op floatOp, d, x reg, off int32) {
	if m.arm {
		m.armFbinopFrame(w, op, d, x, off)
		return
	}
	m.move(w.typ(), d, x)
	m.x.SseRM(floatOps[op][w], fp(d), frameAt(off))
}

// minmax emits d = min or max of x and y (spec 4.3.3): a NaN wins, and zeros
// are told apart by sign. The machine's own instructions do neither. d isn't y
// unless it is x.
func (m *masm) minmax(w fwidth, max bool, d, x, y reg) {
	if m.arm {
		m.armMinmax(w, max, d, x, y)
		return
	}
	a := &m.x
	if d != x {
		a.MovapsRR(fp(d), fp(x))
	}
	op, zeros := w.sse(amd64.MINSS, amd64.MINSD), amd64.ORPS
	if max {
		op, zeros = w.sse(amd64.MAXSS, amd64.MAXSD), amd64.ANDPS
	}
	a.SseRR(w.sse(amd64.UCOMISS, amd64.UCOMISD), fp(d), fp(y))
	differ := a.JccShort(amd64.NE)
	nan := a.JccShort(amd64.P)
	a.SseRR(zeros, fp(d), fp(y))
	done1 := a.JmpShort()
	a.PatchShort(nan)
	a.SseRR(w.sse(amd64.ADDSS, amd64.ADDSD), fp(d), fp(y))
	done2 := a.JmpShort()
	a.PatchShort(differ)
	a.SseRR(op, fp(d), fp(y))
	a.PatchShort(done1)
	a.PatchShort(done2)
}

// signOf emits d = the sign bit of x alone.
func (m *masm) signOf(w fwidth, d, x reg) {
	if m.arm {
		m.armSignOf(w, d, x)
		return
	}
	m.x.MovapsRR(fp(d), fp(x))
	m.x.PsrlImm(w.size(), fp(d), w.signShift())
	m.x.PsllImm(w.size(), fp(d), w.signShift())
}

// withSign emits d = |x| with the sign bit that is in sign.
func (m *masm) withSign(w fwidth, d, x, sign reg) {
	if m.arm {
		m.armWithSign(w, d, x, sign)
		return
	}
	if d != x {
		m.x.MovapsRR(fp(d), fp(x))
	}
	m.clearSign(w, d)
	m.x.SseRR(amd64.ORPS, fp(d), fp(sign))
}

// signop emits d = |x| or -x, which touch the sign bit alone, of NaNs too.
func (c *Compiler) signop(w fwidth, op floatUnOp, d, x reg) {
	if c.arm {
		c.armSignop(w, op, d, x)
		return
	}
	a, tmp := &c.x, c.alloc(allFP)
	if d != x {
		a.MovapsRR(fp(d), fp(x))
	}
	if op == opFAbs {
		c.clearSign(w, d)
		return
	}
	a.SseRR(amd64.PCMPEQD, fp(tmp), fp(tmp))
	a.PsllImm(w.size(), fp(tmp), w.signShift())
	a.SseRR(amd64.XORPS, fp(d), fp(tmp))
}

// clearSign clears the sign bit of d.
func (m *masm) clearSign(w fwidth, d reg) {
	m.x.PsllImm(w.size(), fp(d), 1)
	m.x.PsrlImm(w.size(), fp(d), 1)
}

// roundModes are the rounding modes of roundss with precision exceptions
// suppressed.
var roundModes = [...]uint8{opFCeil: 8 | 2, opFFloor: 8 | 1, opFTrunc: 8 | 3, opFNearest: 8}

// funopReg emits d = op x for square root and rounding.
func (m *masm) funopReg(w fwidth, op floatUnOp, d, x reg) {
	if m.arm {
		m.armFunopReg(w, op, d, x)
		return
	}
	if op == opFSqrt {
		m.x.SseRR(w.sse(amd64.SQRTSS, amd64.SQRTSD), fp(d), fp(x))
		return
	}
	m.x.RoundRR(w.double(), fp(d), fp(x), roundModes[op])
}
