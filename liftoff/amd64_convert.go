package liftoff

import (
	"math"

	"github.com/wasmjit/wasmjit/asm/amd64"
)

// ucomis compares two floating-point registers.
func (m *masm) ucomis(w fwidth, x, y reg) {
	m.x.SseRR(w.sse(amd64.UCOMISS, amd64.UCOMISD), fp(x), fp(y))
}

// truncate emits the truncation of x to an integer in d. The machine answers the minimum of the width it converts to
// when the number doesn't fit; 32-bit results are converted to 64 bits, where
// a result that doesn't fit shows as bits beyond the low half.
func (c *Compiler) truncate(t truncation, d, x reg) {
	if c.arm {
		c.armTruncate(t, d, x)
		return
	}
	tmp, ftmp := c.alloc(allGP), c.alloc(allFP)
	switch {
	case t.to == w32:
		c.truncate32(t, d, x, tmp, ftmp)
	case t.signed:
		c.truncate64S(t, d, x, tmp, ftmp)
	default:
		c.truncate64U(t, d, x, tmp, ftmp)
	}
}

// outOfRange emits what happens to a number that doesn't fit: a trap, or the
// nearest integer. The number is a NaN if it is unordered with itself,
// negative if it is below zero. Control goes on behind it only when saturating.
func (c *Compiler) outOfRange(t truncation, d, x, ftmp reg, low, high uint64) {
	a := &c.x
	if !t.saturate {
		c.ucomis(t.from, x, x)
		c.trapIf(amd64.P, TrapInvalidConversion)
		c.trapHere(TrapIntegerOverflow)
		return
	}
	// 0 for NaN. Zeroing before the comparison keeps its flags.
	a.AluRR(amd64.XOR, amd64.S32, gp(d), gp(d))
	a.SseRR(amd64.XORPS, fp(ftmp), fp(ftmp))
	c.ucomis(t.from, x, ftmp)
	nan := a.JccShort(amd64.P)
	a.MovRI64(gp(d), high)
	above := a.JccShort(amd64.A)
	a.MovRI64(gp(d), low)
	a.PatchShort(nan)
	a.PatchShort(above)
}

func (c *Compiler) truncate32(t truncation, d, x, tmp, ftmp reg) {
	a := &c.x
	a.CvttRX(t.from.double(), amd64.S64, gp(d), fp(x))
	low, high := uint64(0), uint64(math.MaxUint32)
	if t.signed {
		low, high = 1<<31, math.MaxInt32
		a.MovSXDRR(gp(tmp), gp(d))
	} else {
		a.MovRR(amd64.S32, gp(tmp), gp(d))
	}
	a.AluRR(amd64.CMP, amd64.S64, gp(tmp), gp(d))
	// The answer is zero-extended from here on.
	a.MovRR(amd64.S32, gp(d), gp(d))
	fits := a.JccShort(amd64.E)
	c.outOfRange(t, d, x, ftmp, low, high)
	a.PatchShort(fits)
}

func (c *Compiler) truncate64S(t truncation, d, x, tmp, ftmp reg) {
	a := &c.x
	a.CvttRX(t.from.double(), amd64.S64, gp(d), fp(x))
	// Only the minimum overflows when 1 is subtracted.
	a.AluRI(amd64.CMP, amd64.S64, gp(d), 1)
	fits := a.JccShort(amd64.NO)
	exact := -1
	if !t.saturate {
		// -2^63 itself is in range.
		c.floatConst(t.from, ftmp, tmp, -0x1p63)
		c.ucomis(t.from, x, ftmp)
		nan := a.JccShort(amd64.P)
		exact = a.JccShort(amd64.E)
		a.PatchShort(nan)
	}
	c.outOfRange(t, d, x, ftmp, 1<<63, math.MaxInt64)
	a.PatchShort(fits)
	if exact >= 0 {
		a.PatchShort(exact)
	}
}

func (c *Compiler) truncate64U(t truncation, d, x, tmp, ftmp reg) {
	a := &c.x
	c.floatConst(t.from, ftmp, tmp, 0x1p63)
	c.ucomis(t.from, x, ftmp)
	big := a.JccShort(amd64.AE) // not on NaN, which is "below"
	a.CvttRX(t.from.double(), amd64.S64, gp(d), fp(x))
	a.TestRR(amd64.S64, gp(d), gp(d))
	fits := a.JccShort(amd64.NS)
	bad := a.JmpShort()
	a.PatchShort(big)
	// 2^63 - x is the negated excess, exact in this range; only an excess of
	// 2^63 or more converts to the minimum, whose negation overflows.
	a.SseRR(t.from.sse(amd64.SUBSS, amd64.SUBSD), fp(ftmp), fp(x))
	a.CvttRX(t.from.double(), amd64.S64, gp(d), fp(ftmp))
	a.MovRI64(gp(tmp), 1<<63)
	a.Neg(amd64.S64, gp(d))
	over := a.JccShort(amd64.O)
	a.AluRR(amd64.XOR, amd64.S64, gp(d), gp(tmp))
	fitsBig := a.JmpShort()
	a.PatchShort(bad)
	a.PatchShort(over)
	c.outOfRange(t, d, x, ftmp, 0, math.MaxUint64)
	a.PatchShort(fits)
	a.PatchShort(fitsBig)
}

// floatConst loads the number v into d through tmp.
func (m *masm) floatConst(w fwidth, d, tmp reg, v float64) {
	if w == f32 {
		m.x.MovRI32(gp(tmp), math.Float32bits(float32(v)))
	} else {
		m.x.MovRI64(gp(tmp), math.Float64bits(v))
	}
	m.x.MovdXR(w.size(), fp(d), gp(tmp))
}

// toFloat emits d = x, a signed integer of width w, or an unsigned one of 32
// bits as a signed one of 64.
func (m *masm) toFloat(to fwidth, w width, d, x reg) {
	if m.arm {
		m.armToFloat(to, w, d, x)
		return
	}
	// The conversion writes the low lane only: zeroing ends the dependency on
	// the old value.
	m.x.SseRR(amd64.XORPS, fp(d), fp(d))
	m.x.CvtsiXR(to.double(), w.size(), fp(d), gp(x))
}

// unsignedToFloat emits d = x, an unsigned 64-bit integer. A number with the top bit set is halved, its lost bit or'ed back
// for rounding, and doubled.
func (c *Compiler) unsignedToFloat(to fwidth, d, x reg) {
	if c.arm {
		c.armUnsignedToFloat(to, d, x)
		return
	}
	a, tmp := &c.x, c.alloc(allGP)
	a.SseRR(amd64.XORPS, fp(d), fp(d))
	a.TestRR(amd64.S64, gp(x), gp(x))
	big := a.JccShort(amd64.S)
	a.CvtsiXR(to.double(), amd64.S64, fp(d), gp(x))
	done := a.JmpShort()
	a.PatchShort(big)
	a.MovRR(amd64.S64, gp(tmp), gp(x))
	a.ShiftRI(amd64.SHR, amd64.S64, gp(tmp), 1)
	odd := a.JccShort(amd64.AE) // the bit shifted out is in the carry flag
	a.AluRI(amd64.OR, amd64.S64, gp(tmp), 1)
	a.PatchShort(odd)
	a.CvtsiXR(to.double(), amd64.S64, fp(d), gp(tmp))
	a.SseRR(to.sse(amd64.ADDSS, amd64.ADDSD), fp(d), fp(d))
	a.PatchShort(done)
}

// demote, promote and reinterpretations.

func (m *masm) demote(d, x reg) {
	if m.arm {
		m.armDemote(d, x)
		return
	}
	m.x.SseRR(amd64.CVTSD2SS, fp(d), fp(x))
}
func (m *masm) promote(d, x reg) {
	if m.arm {
		m.armPromote(d, x)
		return
	}
	m.x.SseRR(amd64.CVTSS2SD, fp(d), fp(x))
}

func (m *masm) bitsToFloat(w fwidth, d, x reg) {
	if m.arm {
		m.armBitsToFloat(w, d, x)
		return
	}
	m.x.MovdXR(w.size(), fp(d), gp(x))
}
func (m *masm) floatToBits(w fwidth, d, x reg) {
	if m.arm {
		m.armFloatToBits(w, d, x)
		return
	}
	m.x.MovdRX(w.size(), gp(d), fp(x))
}
