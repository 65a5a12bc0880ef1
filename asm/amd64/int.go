package amd64

// AluRR is op dst, src.
func (a *Asm) AluRR(op Alu, s Size, dst, src Reg) {
	a.rr(uint64(op)<<3|1, s.w(), src, dst)
}

// AluRI is op dst, imm, sign-extended to 64 bits with S64.
func (a *Asm) AluRI(op Alu, s Size, dst Reg, imm int32) {
	if dst > 15 {
		panic(errReg)
	}
	rex := s.w() | uint64(dst>>3)
	f := (rex + 0x7f) >> 7
	v := 0xc083 | uint64(op)<<11 | uint64(dst&7)<<8 | uint64(uint32(imm))<<16
	n := 3 + f
	switch {
	case imm == int32(int8(imm)):
	case dst == RAX:
		v = uint64(op)<<3 | 5 | uint64(uint32(imm))<<8
		n = 5 + f
	default:
		v ^= 0x83 ^ 0x81
		n = 6 + f
	}
	a.put(v<<(f*8&63)|f<<6|rex, n)
}

// TestRR sets the flags of x & y.
func (a *Asm) TestRR(s Size, x, y Reg) { a.rr(0x85, s.w(), y, x) }

// TestRI sets the flags of x & imm, sign-extended to 64 bits with S64.
func (a *Asm) TestRI(s Size, x Reg, imm int32) {
	if x == RAX {
		rex := s.w()
		f := (rex + 0x7f) >> 7
		a.put((0xa9|uint64(uint32(imm))<<8)<<(f*8&63)|f<<6|rex, 5+f)
		return
	}
	a.rr(0xf7, s.w(), 0, x)
	a.put32(uint32(imm))
}

// MovRR copies src to dst; with S32 it clears the upper half of dst, also
// where the two are the same.
func (a *Asm) MovRR(s Size, dst, src Reg) { a.rr(0x89, s.w(), src, dst) }

// MovRI32 loads a 32-bit constant, zero-extended. It leaves the flags alone,
// as every move does; a caller that can lose them clears with xor instead.
func (a *Asm) MovRI32(dst Reg, v uint32) {
	if dst > 15 {
		panic(errReg)
	}
	f := uint64(dst >> 3)
	a.put((0xb8|uint64(dst&7)|uint64(v)<<8)<<(f*8&63)|f<<6|f, 5+f)
}

// MovRI64 loads a 64-bit constant in 5 to 10 bytes.
func (a *Asm) MovRI64(dst Reg, v uint64) {
	switch {
	case v>>32 == 0:
		a.MovRI32(dst, uint32(v))
	case int64(v) == int64(int32(v)):
		a.rr(0xc7, S64.w(), 0, dst)
		a.put32(uint32(v))
	default:
		if dst > 15 {
			panic(errReg)
		}
		a.put(0xb848|uint64(dst>>3)|uint64(dst&7)<<8, 2)
		a.put(v, 8)
	}
}

// MovZX8RR copies the low byte of src, zero-extended to 64 bits.
func (a *Asm) MovZX8RR(dst, src Reg) { a.rrx(0xb60f, rexByte(src), uint8(dst), uint8(src)) }

// MovZX16RR copies the low 16 bits of src, zero-extended to 64 bits.
func (a *Asm) MovZX16RR(dst, src Reg) { a.rrx(0xb70f, 0, uint8(dst), uint8(src)) }

// MovSX8RR copies the low byte of src, sign-extended to s.
func (a *Asm) MovSX8RR(s Size, dst, src Reg) {
	a.rrx(0xbe0f, s.w()|rexByte(src), uint8(dst), uint8(src))
}

// MovSX16RR copies the low 16 bits of src, sign-extended to s.
func (a *Asm) MovSX16RR(s Size, dst, src Reg) { a.rrx(0xbf0f, s.w(), uint8(dst), uint8(src)) }

// MovSXDRR copies the low 32 bits of src, sign-extended to 64.
func (a *Asm) MovSXDRR(dst, src Reg) { a.rr(0x63, S64.w(), dst, src) }

// Neg is r = -r.
func (a *Asm) Neg(s Size, r Reg) { a.rr(0xf7, s.w(), 3, r) }

// Not is r = ^r; it leaves the flags alone.
func (a *Asm) Not(s Size, r Reg) { a.rr(0xf7, s.w(), 2, r) }

// Xchg swaps two registers.
func (a *Asm) Xchg(s Size, x, y Reg) {
	// The short form of eax with itself would be nop, which keeps the upper
	// half.
	if (x == RAX) != (y == RAX) {
		r := x | y // RAX is 0
		if r > 15 {
			panic(errReg)
		}
		rex := s.w() | uint64(r>>3)
		f := (rex + 0x7f) >> 7
		a.put((0x90|uint64(r&7))<<(f*8&63)|f<<6|rex, 1+f)
		return
	}
	a.rr(0x87, s.w(), y, x)
}

// Setcc sets the low byte of dst to 1 if c holds, else 0; the other bits stay.
func (a *Asm) Setcc(c Cond, dst Reg) {
	a.rrx(0x900f|uint32(c)<<8, rexByte(dst), 0, uint8(dst))
}

// Cmov copies src to dst if c holds; with S32 it clears the upper half of dst
// either way.
func (a *Asm) Cmov(c Cond, s Size, dst, src Reg) {
	a.rrx(0x400f|uint32(c)<<8, s.w(), uint8(dst), uint8(src))
}
