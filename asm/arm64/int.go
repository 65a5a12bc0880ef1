package arm64

// Alu is an integer operation on two registers; the value is its word.
type Alu uint32

// Integer operations. ADDS, SUBS, ANDS and BICS also set the flags.
const (
	ADD  Alu = 0x0b000000
	ADDS Alu = 0x2b000000
	SUB  Alu = 0x4b000000
	SUBS Alu = 0x6b000000
	AND  Alu = 0x0a000000
	BIC  Alu = 0x0a200000
	ORR  Alu = 0x2a000000
	ORN  Alu = 0x2a200000
	EOR  Alu = 0x4a000000
	EON  Alu = 0x4a200000
	ANDS Alu = 0x6a000000
	BICS Alu = 0x6a200000
)

// arith tells whether op is an addition or subtraction.
func (op Alu) arith() bool { return op&0x01000000 != 0 }

// Shift is how a register operand is shifted; the value is its field.
type Shift uint32

// Shifts. ROR is for logical operations only.
const (
	LSL Shift = 0 << 22
	LSR Shift = 1 << 22
	ASR Shift = 2 << 22
	ROR Shift = 3 << 22
)

// AluRR is d = n op m. Number 31 is the zero register.
func (a *Asm) AluRR(op Alu, s Size, d, n, m Reg) {
	a.put(uint32(op) | s.sf() | rd[d] | rn[n] | rm[m])
}

// AluShift is d = n op (m shifted by amount). Number 31 is the zero register.
func (a *Asm) AluShift(op Alu, s Size, d, n, m Reg, sh Shift, amount uint8) {
	if amount >= s.bits() || sh == ROR && op.arith() {
		panic(errImm)
	}
	a.put(uint32(op) | s.sf() | uint32(sh) | uint32(amount)<<10 | rd[d] | rn[n] | rm[m])
}

// Extend is how a register operand is extended; the value is its field.
type Extend uint32

// Extensions of an operand's low 8, 16, 32 or all 64 bits.
const (
	UXTB Extend = iota << 13
	UXTH
	UXTW
	UXTX
	SXTB
	SXTH
	SXTW
	SXTX
)

// AluExt is d = n op (m extended, shifted left by amount) for an addition or
// subtraction. For n, and for d if op sets no flags, number 31 is the stack
// pointer.
func (a *Asm) AluExt(op Alu, s Size, d, n, m Reg, x Extend, amount uint8) {
	if !op.arith() || amount > 4 {
		panic(errOp)
	}
	a.put(uint32(op) | 1<<21 | s.sf() | uint32(x) | uint32(amount)<<10 | rd[d] | rn[n] | rm[m])
}

// AddI is d = n op imm for an addition or subtraction; [FitsArith] tells which
// values there are. For n, and for d if op sets no flags, number 31 is the
// stack pointer.
func (a *Asm) AddI(op Alu, s Size, d, n Reg, imm uint32) {
	if !op.arith() {
		panic(errOp)
	}
	w := uint32(op) ^ 0x0b000000 ^ 0x11000000 | s.sf() | rd[d] | rn[n]
	switch {
	case imm < 1<<12:
		a.put(w | imm<<10)
	case imm&0xfff == 0 && imm < 1<<24:
		a.put(w | 1<<22 | imm>>2)
	default:
		panic(errImm)
	}
}

// LogicI is d = n op imm for AND, ORR, EOR and ANDS; [FitsLogical] tells which
// values there are. For d, if op sets no flags, number 31 is the stack pointer.
func (a *Asm) LogicI(op Alu, s Size, d, n Reg, imm uint64) {
	f, ok := logicalField(s, imm)
	if !ok {
		panic(errImm)
	}
	if op.arith() || op&0x00200000 != 0 {
		panic(errOp)
	}
	a.put(uint32(op) ^ 0x0a000000 ^ 0x12000000 | s.sf() | f | rd[d] | rn[n])
}

// MovRR is d = n; number 31 is the zero register.
func (a *Asm) MovRR(s Size, d, n Reg) { a.AluRR(ORR, s, d, ZR, n) }

// MovSP is d = n, where number 31 is the stack pointer.
func (a *Asm) MovSP(d, n Reg) { a.AddI(ADD, S64, d, n, 0) }

// MovWide is a move of 16 bits; the value is its word.
type MovWide uint32

// Moves of 16 bits: MOVZ clears all others, MOVN is MOVZ inverted, MOVK keeps
// the others.
const (
	MOVN MovWide = 0x12800000
	MOVZ MovWide = 0x52800000
	MOVK MovWide = 0x72800000
)

// MovI moves imm, shifted left by 16 times lane, into d.
func (a *Asm) MovI(op MovWide, s Size, d Reg, imm uint16, lane uint8) {
	if lane >= 2<<s {
		panic(errImm)
	}
	a.put(uint32(op) | s.sf() | uint32(lane)<<21 | uint32(imm)<<5 | rd[d])
}

// Bits2 is an operation with a register and a count of bits, or a division;
// the value is its word.
type Bits2 uint32

// Operations with two source registers. Shifts count modulo the width.
const (
	UDIV Bits2 = 0x1ac00800
	SDIV Bits2 = 0x1ac00c00
	LSLV Bits2 = 0x1ac02000
	LSRV Bits2 = 0x1ac02400
	ASRV Bits2 = 0x1ac02800
	RORV Bits2 = 0x1ac02c00
)

// BitsRR is d = n op m.
func (a *Asm) BitsRR(op Bits2, s Size, d, n, m Reg) {
	a.put(uint32(op) | s.sf() | rd[d] | rn[n] | rm[m])
}

// Bits1 is an operation with one source register; the value is its word.
type Bits1 uint32

// Operations with one source register.
const (
	RBIT Bits1 = 0x5ac00000
	CLZ  Bits1 = 0x5ac01000
)

// BitsR is d = op n.
func (a *Asm) BitsR(op Bits1, s Size, d, n Reg) { a.put(uint32(op) | s.sf() | rd[d] | rn[n]) }

// bitfield is SBFM or UBFM; N equals sf.
func (a *Asm) bitfield(w uint32, s Size, d, n Reg, immr, imms uint8) {
	a.put(w | s.sf() | uint32(s)<<22 | uint32(immr)<<16 | uint32(imms)<<10 | rd[d] | rn[n])
}

const (
	sbfm = 0x13000000
	ubfm = 0x53000000
)

// ShiftI is d = n shifted by amount, less than the width.
func (a *Asm) ShiftI(sh Shift, s Size, d, n Reg, amount uint8) {
	top := s.bits() - 1
	if amount > top {
		panic(errImm)
	}
	switch sh {
	case LSL:
		a.bitfield(ubfm, s, d, n, -amount&top, top-amount)
	case LSR:
		a.bitfield(ubfm, s, d, n, amount, top)
	case ASR:
		a.bitfield(sbfm, s, d, n, amount, top)
	case ROR:
		a.put(0x13800000 | s.sf() | uint32(s)<<22 | uint32(amount)<<10 | rd[d] | rn[n] | rm[n])
	default:
		panic(errOp)
	}
}

// SignExt is d = the low bits (8, 16 or 32) of n, sign-extended to s.
func (a *Asm) SignExt(s Size, d, n Reg, bits uint8) {
	if bits != 8 && bits != 16 && (bits != 32 || s != S64) {
		panic(errImm)
	}
	a.bitfield(sbfm, s, d, n, 0, bits-1)
}

// Madd is d = x + n*m.
func (a *Asm) Madd(s Size, d, n, m, x Reg) {
	a.put(0x1b000000 | s.sf() | rd[d] | rn[n] | rm[m] | ra[x])
}

// Msub is d = x - n*m.
func (a *Asm) Msub(s Size, d, n, m, x Reg) {
	a.put(0x1b008000 | s.sf() | rd[d] | rn[n] | rm[m] | ra[x])
}

// Csel is d = n if c holds, else m.
func (a *Asm) Csel(c Cond, s Size, d, n, m Reg) {
	a.put(0x1a800000 | s.sf() | uint32(c)<<12 | rd[d] | rn[n] | rm[m])
}

// Cset is d = 1 if c holds, else 0.
func (a *Asm) Cset(c Cond, s Size, d Reg) {
	if c == AL {
		panic(errOp)
	}
	a.put(0x1a9f07e0 | s.sf() | uint32(c.Not())<<12 | rd[d])
}

// CcmpI compares n with imm, at most 31, if c holds; else the flags become
// nzcv.
func (a *Asm) CcmpI(c Cond, s Size, n Reg, imm, nzcv uint8) {
	if imm > 31 || nzcv > 15 {
		panic(errImm)
	}
	a.put(0x7a400800 | s.sf() | uint32(imm)<<16 | uint32(c)<<12 | rn[n] | uint32(nzcv))
}
