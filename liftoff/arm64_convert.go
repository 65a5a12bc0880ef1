package liftoff

import (
	"math"

	"github.com/wasmjit/wasmjit/asm/arm64"
	"github.com/wasmjit/wasmjit/decoder"
)

// armTruncate emits the truncation of x to an integer in d. The machine's own
// conversion saturates as the saturating instructions must; the trapping ones
// compare with the numbers just out of range first.
func (c *Compiler) armTruncate(t truncation, d, x reg) {
	if !t.saturate {
		c.armCheckRange(t, x)
	}
	c.a.CvtToInt(t.signed, t.from.double(), t.to.arm(), xr(d), vr(x))
}

// armCheckRange traps unless x, truncated, fits. The lower limit of a signed
// type is in range; where the number below it by one can't be told from it
// (all but i32 from f64), so is all that compares as not less.
func (c *Compiler) armCheckRange(t truncation, x reg) {
	bits := 32 << t.to
	low, above := -1.0, arm64.GT
	if t.signed {
		bits--
		low = -math.Ldexp(1, bits)
		if t.to == w32 && t.from == f64 {
			low--
		} else {
			above = arm64.GE
		}
	}
	double := t.from.double()
	c.armFloatConst(t.from, low)
	c.a.Fcmp(double, vr(x), armTmpV)
	c.armFloatConst(t.from, math.Ldexp(1, bits))
	c.a.Fccmp(above, double, vr(x), armTmpV, 0)
	fits := c.a.BCond(arm64.MI)
	c.a.Fcmp(double, vr(x), vr(x))
	c.armTrapIf(arm64.VS, TrapInvalidConversion)
	c.armTrapHere(TrapIntegerOverflow)
	c.a.PatchHere(fits)
}

// armFloatConst loads the number v into v16.
func (m *masm) armFloatConst(w fwidth, v float64) {
	bits := math.Float64bits(v)
	if w == f32 {
		bits = uint64(math.Float32bits(float32(v)))
	}
	if arm64.FitsFloat(w.double(), bits) {
		m.a.FmovI(w.double(), armTmpV, bits)
		return
	}
	m.a.FmovVR(arm64.Size(w), armTmpV, m.armConstReg(arm64.Size(w), bits))
}

func (m *masm) armToFloat(to fwidth, w width, d, x reg) {
	m.a.CvtToFloat(true, to.double(), w.arm(), vr(d), xr(x))
}

func (c *Compiler) armUnsignedToFloat(to fwidth, d, x reg) {
	c.a.CvtToFloat(false, to.double(), arm64.S64, vr(d), xr(x))
}

func (m *masm) armDemote(d, x reg)  { m.a.Fcvt(true, vr(d), vr(x)) }
func (m *masm) armPromote(d, x reg) { m.a.Fcvt(false, vr(d), vr(x)) }

func (m *masm) armBitsToFloat(w fwidth, d, x reg) { m.a.FmovVR(arm64.Size(w), vr(d), xr(x)) }
func (m *masm) armFloatToBits(w fwidth, d, x reg) { m.a.FmovRV(arm64.Size(w), xr(d), vr(x)) }

var armFloatOps = [...]arm64.Float2{opFAdd: arm64.FADD, opFSub: arm64.FSUB, opFMul: arm64.FMUL, opFDiv: arm64.FDIV}

func (m *masm) armFbinopReg(w fwidth, op floatOp, d, x, y reg) {
	m.a.FloatRR(armFloatOps[op], w.double(), vr(d), vr(x), vr(y))
}

func (m *masm) armFbinopFrame(w fwidth, op floatOp, d, x reg, off int32) {
	m.ldst(armLoads[decoder.F32+decoder.Type(w)], arm64.Reg(armTmpV), arm64.FP, off)
	m.a.FloatRR(armFloatOps[op], w.double(), vr(d), vr(x), armTmpV)
}

// armMinmax needs one instruction: the machine's minimum and maximum are
// those of the specification.
func (m *masm) armMinmax(w fwidth, max bool, d, x, y reg) {
	op := arm64.FMIN
	if max {
		op = arm64.FMAX
	}
	m.a.FloatRR(op, w.double(), vr(d), vr(x), vr(y))
}

// armSignOf keeps all of x: withSign takes the sign alone.
func (m *masm) armSignOf(_ fwidth, d, x reg) { m.armMove(decoder.F64, d, x) }

func (m *masm) armWithSign(w fwidth, d, x, sign reg) {
	m.armMove(decoder.F64, d, x)
	if w == f32 {
		m.a.SignsV(armTmpV)
	} else {
		// The sign of minus zero, in lanes of 8 bytes.
		m.a.ZeroV(armTmpV)
		m.a.NegV2D(armTmpV, armTmpV)
	}
	m.a.Bit(vr(d), vr(sign), armTmpV)
}

func (c *Compiler) armSignop(w fwidth, op floatUnOp, d, x reg) {
	f := arm64.FABS
	if op == opFNeg {
		f = arm64.FNEG
	}
	c.a.FloatR(f, w.double(), vr(d), vr(x))
}

var armFloatUnOps = [...]arm64.Float1{opFCeil: arm64.FRINTP, opFFloor: arm64.FRINTM, opFTrunc: arm64.FRINTZ, opFNearest: arm64.FRINTN, opFSqrt: arm64.FSQRT}

func (m *masm) armFunopReg(w fwidth, op floatUnOp, d, x reg) {
	m.a.FloatR(armFloatUnOps[op], w.double(), vr(d), vr(x))
}
