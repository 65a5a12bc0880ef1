package arm64

// ftype is the field for singles and doubles.
func ftype(double bool) uint32 {
	if double {
		return 1 << 22
	}
	return 0
}

// Float2 is a floating-point operation on two registers; the value is its
// word.
type Float2 uint32

// Operations on two registers. FMIN and FMAX give a NaN for a NaN and order
// the zeros by sign.
const (
	FMUL Float2 = 0x1e200800
	FDIV Float2 = 0x1e201800
	FADD Float2 = 0x1e202800
	FSUB Float2 = 0x1e203800
	FMAX Float2 = 0x1e204800
	FMIN Float2 = 0x1e205800
)

// FloatRR is d = n op m.
func (a *Asm) FloatRR(op Float2, double bool, d, n, m VReg) {
	a.put(uint32(op) | ftype(double) | rd[d] | rn[n] | rm[m])
}

// Float1 is a floating-point operation on one register; the value is its word.
type Float1 uint32

// Operations on one register. FRINTN, P, M and Z round to nearest even, up,
// down and towards zero.
const (
	FMOV   Float1 = 0x1e204000
	FABS   Float1 = 0x1e20c000
	FNEG   Float1 = 0x1e214000
	FSQRT  Float1 = 0x1e21c000
	FRINTN Float1 = 0x1e244000
	FRINTP Float1 = 0x1e24c000
	FRINTM Float1 = 0x1e254000
	FRINTZ Float1 = 0x1e25c000
)

// FloatR is d = op n. FMOV clears the rest of the register.
func (a *Asm) FloatR(op Float1, double bool, d, n VReg) {
	a.put(uint32(op) | ftype(double) | rd[d] | rn[n])
}

// Fcvt is d = n converted from a single to a double, or from a double to a
// single if narrow.
func (a *Asm) Fcvt(narrow bool, d, n VReg) {
	if narrow {
		a.put(0x1e624000 | rd[d] | rn[n])
		return
	}
	a.put(0x1e22c000 | rd[d] | rn[n])
}

// Fcmp compares n with m; a NaN raises no exception but a signaling one.
func (a *Asm) Fcmp(double bool, n, m VReg) { a.put(0x1e202000 | ftype(double) | rn[n] | rm[m]) }

// Fccmp compares n with m if c holds; else the flags become nzcv.
func (a *Asm) Fccmp(c Cond, double bool, n, m VReg, nzcv uint8) {
	if nzcv > 15 {
		panic(errImm)
	}
	a.put(0x1e200400 | ftype(double) | uint32(c)<<12 | rn[n] | rm[m] | uint32(nzcv))
}

// Fcsel is d = n if c holds, else m.
func (a *Asm) Fcsel(c Cond, double bool, d, n, m VReg) {
	a.put(0x1e200c00 | ftype(double) | uint32(c)<<12 | rd[d] | rn[n] | rm[m])
}

// FmovI is d = the number with these bits; [FitsFloat] tells which there are.
func (a *Asm) FmovI(double bool, d VReg, bits uint64) {
	f, ok := fitsFloat(double, bits)
	if !ok {
		panic(errImm)
	}
	a.put(0x1e201000 | ftype(double) | f<<13 | rd[d])
}

// FmovVR is d = the bits of n, 4 or 8 bytes by width; the rest is cleared.
func (a *Asm) FmovVR(s Size, d VReg, n Reg) {
	a.put(0x1e270000 | s.sf() | uint32(s)<<22 | rd[d] | rn[n])
}

// FmovRV is d = the bits of n.
func (a *Asm) FmovRV(s Size, d Reg, n VReg) {
	a.put(0x1e260000 | s.sf() | uint32(s)<<22 | rd[d] | rn[n])
}

// CvtToFloat is d = the integer n of width s.
func (a *Asm) CvtToFloat(signed, double bool, s Size, d VReg, n Reg) {
	w := uint32(0x1e230000)
	if signed {
		w = 0x1e220000
	}
	a.put(w | s.sf() | ftype(double) | rd[d] | rn[n])
}

// CvtToInt is d = n rounded towards zero, an integer of width s: the nearest
// there is, and 0 for a NaN.
func (a *Asm) CvtToInt(signed, double bool, s Size, d Reg, n VReg) {
	w := uint32(0x1e390000)
	if signed {
		w = 0x1e380000
	}
	a.put(w | s.sf() | ftype(double) | rd[d] | rn[n])
}

// Instructions on whole vectors, as far as scalar code needs them.

// MovV is d = n, all 16 bytes.
func (a *Asm) MovV(d, n VReg) { a.put(0x4ea01c00 | rd[d] | rn[n] | rm[n]) }

// ZeroV clears all 16 bytes of d.
func (a *Asm) ZeroV(d VReg) { a.put(0x6f00e400 | rd[d]) }

// SignsV is d = the sign bit in each of its lanes, 4 or 8 bytes by width,
// nothing else. It is for 8 bytes two instructions' work; see [Asm.NegV2D].
func (a *Asm) SignsV(d VReg) { a.put(0x4f046400 | rd[d]) }

// NegV2D negates the two doubles of n.
func (a *Asm) NegV2D(d, n VReg) { a.put(0x6ee0f800 | rd[d] | rn[n]) }

// Bit inserts into d the bits of n where m has ones.
func (a *Asm) Bit(d, n, m VReg) { a.put(0x6ea01c00 | rd[d] | rn[n] | rm[m]) }

// Cnt8B counts the bits of each of the low 8 bytes of n.
func (a *Asm) Cnt8B(d, n VReg) { a.put(0x0e205800 | rd[d] | rn[n]) }

// Addv8B is d = the sum of the low 8 bytes of n, modulo 256.
func (a *Asm) Addv8B(d, n VReg) { a.put(0x0e31b800 | rd[d] | rn[n]) }

// DupB copies the low byte of n to all 16 lanes of d.
func (a *Asm) DupB(d VReg, n Reg) { a.put(0x4e010c00 | rd[d] | rn[n]) }
