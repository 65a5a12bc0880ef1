package amd64

// scalar is the prefix of a single- or double-precision scalar instruction.
func scalar(double bool) opcode {
	if double {
		return opF20F
	}
	return opF30F
}

// CvtsiXR converts a signed integer of width s to single or double precision.
// It keeps the upper lanes of dst: clear dst first to avoid a false
// dependency.
func (a *Asm) CvtsiXR(double bool, s Size, dst XReg, src Reg) {
	a.rr2(scalar(double)|0x2a<<16, s.w(), uint8(dst), uint8(src))
}

// CvttRX converts single or double precision to a signed integer of width s,
// rounded towards zero; what doesn't fit, or isn't a number, gives the lowest
// integer.
func (a *Asm) CvttRX(double bool, s Size, dst Reg, src XReg) {
	a.rr2(scalar(double)|0x2c<<16, s.w(), uint8(dst), uint8(src))
}

// Rounding modes of RoundRR, with the precision exception suppressed.
const (
	RoundNearest = 8 | iota // ties to even
	RoundDown
	RoundUp
	RoundZero
)

// RoundRR rounds to an integral value. mode is the instruction's immediate, at
// most 15. Needs SSE4.1.
func (a *Asm) RoundRR(double bool, dst, src XReg, mode uint8) {
	if mode > 15 {
		panic(errImm)
	}
	op := uint64(0x0a3a0f)
	if double {
		op = 0x0b3a0f
	}
	a.rr3(op, dst, src)
	a.put(uint64(mode), 1)
}

// BlendvRR copies each single- or double-precision lane of src to dst where
// the sign bit of the lane in xmm0 is set. Needs SSE4.1.
func (a *Asm) BlendvRR(double bool, dst, src XReg) {
	op := uint64(0x14380f)
	if double {
		op = 0x15380f
	}
	a.rr3(op, dst, src)
}

// Predicates of CmpssRR and CmpsdRR. The N forms and CmpUnord hold if an
// operand isn't a number.
const (
	CmpEq uint8 = iota
	CmpLt
	CmpLe
	CmpUnord
	CmpNeq
	CmpNlt
	CmpNle
	CmpOrd
)

// CmpssRR sets the low 32 bits of dst to ones if the predicate holds for dst
// and src, else to zeros.
func (a *Asm) CmpssRR(dst, src XReg, pred uint8) { a.cmp(opF30F|0xc2<<16, dst, src, pred) }

// CmpsdRR sets the low 64 bits of dst to ones if the predicate holds for dst
// and src, else to zeros.
func (a *Asm) CmpsdRR(dst, src XReg, pred uint8) { a.cmp(opF20F|0xc2<<16, dst, src, pred) }

func (a *Asm) cmp(op opcode, dst, src XReg, pred uint8) {
	if pred > 7 {
		panic(errImm)
	}
	a.rr2(op, 0, uint8(dst), uint8(src))
	a.put(uint64(pred), 1)
}

// PsrlImm shifts each lane of width s right by n, with zeros coming in.
func (a *Asm) PsrlImm(s Size, x XReg, n uint8) { a.pshift(s, 2, x, n) }

// PsllImm shifts each lane of width s left by n.
func (a *Asm) PsllImm(s Size, x XReg, n uint8) { a.pshift(s, 6, x, n) }

// PsradImm shifts each 32-bit lane right by n, with copies of the sign coming
// in.
func (a *Asm) PsradImm(x XReg, n uint8) { a.pshift(S32, 4, x, n) }

func (a *Asm) pshift(s Size, ext uint8, x XReg, n uint8) {
	if n >= 32<<s {
		panic(errImm)
	}
	a.rr2(op660F|0x72<<16|opcode(s)<<16, 0, ext, uint8(x))
	a.put(uint64(n), 1)
}

// Movmsk gathers the sign bits of the four single- or two double-precision
// lanes of src, zero-extended.
func (a *Asm) Movmsk(double bool, dst Reg, src XReg) {
	op := op0F
	if double {
		op = op660F
	}
	a.rr2(op|0x50<<16, 0, uint8(dst), uint8(src))
}
