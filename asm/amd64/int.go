package amd64

// AluRR is op dst, src.
func (a *Asm) AluRR(op Alu, s Size, dst, src Reg) {
	a.rr(uint64(op)<<11|1<<8|s.w(), src, dst)
}

// AluRI is op dst, imm, sign-extended to 64 bits with S64.
func (a *Asm) AluRI(op Alu, s Size, dst Reg, imm int32) {
	t := rexBase | 0x83<<8 | s.w() | (0xc0|uint64(op)<<3)<<16 | rm1[dst] | uint64(uint32(imm))<<24
	n := uint64(24)
	if imm != int32(int8(imm)) {
		if dst == RAX {
			a.opReg(uint64(op)<<11|5<<8|s.w()|uint64(uint32(imm))<<16, RAX, 4)
			return
		}
		t ^= 0x83<<8 ^ 0x81<<8
		n = 48
	}
	k := t >> 60
	a.put(t<<k>>8, (n+k)>>3)
}

// TestRR sets the flags of x & y.
func (a *Asm) TestRR(s Size, x, y Reg) { a.rr(0x85<<8|s.w(), y, x) }

// TestRI sets the flags of x & imm, sign-extended to 64 bits with S64.
func (a *Asm) TestRI(s Size, x Reg, imm int32) {
	if x == RAX {
		a.opReg(0xa9<<8|s.w()|uint64(uint32(imm))<<16, RAX, 4)
		return
	}
	a.rr(0xf7<<8|s.w(), 0, x)
	a.put32(uint32(imm))
}

// MovRR copies src to dst; with S32 it clears the upper half of dst, also
// where the two are the same.
func (a *Asm) MovRR(s Size, dst, src Reg) { a.rr(0x89<<8|s.w(), src, dst) }

// MovRI32 loads a 32-bit constant, zero-extended. It leaves the flags alone,
// as every move does; a caller that can lose them clears with xor instead.
func (a *Asm) MovRI32(dst Reg, v uint32) { a.opReg(0xb8<<8|uint64(v)<<16, dst, 4) }

// MovRI64 loads a 64-bit constant in 5 to 10 bytes.
func (a *Asm) MovRI64(dst Reg, v uint64) {
	switch {
	case v>>32 == 0:
		a.MovRI32(dst, uint32(v))
	case int64(v) == int64(int32(v)):
		a.rr(0xc7<<8|S64.w(), 0, dst)
		a.put32(uint32(v))
	default:
		a.opReg(0xb8<<8|S64.w(), dst, 0)
		a.put(v, 8)
	}
}

// MovZX8RR copies the low byte of src, zero-extended to 64 bits.
func (a *Asm) MovZX8RR(dst, src Reg) { a.rr2(op0F|0xb6<<16, rexByte(src), uint8(dst), uint8(src)) }

// MovZX16RR copies the low 16 bits of src, zero-extended to 64 bits.
func (a *Asm) MovZX16RR(dst, src Reg) { a.rr2(op0F|0xb7<<16, 0, uint8(dst), uint8(src)) }

// MovSX8RR copies the low byte of src, sign-extended to s.
func (a *Asm) MovSX8RR(s Size, dst, src Reg) {
	a.rr2(op0F|0xbe<<16, s.w()|rexByte(src), uint8(dst), uint8(src))
}

// MovSX16RR copies the low 16 bits of src, sign-extended to s.
func (a *Asm) MovSX16RR(s Size, dst, src Reg) { a.rr2(op0F|0xbf<<16, s.w(), uint8(dst), uint8(src)) }

// MovSXDRR copies the low 32 bits of src, sign-extended to 64.
func (a *Asm) MovSXDRR(dst, src Reg) { a.rr(0x63<<8|S64.w(), dst, src) }

// Neg is r = -r.
func (a *Asm) Neg(s Size, r Reg) { a.rr(0xf7<<8|s.w(), 3, r) }

// Not is r = ^r; it leaves the flags alone.
func (a *Asm) Not(s Size, r Reg) { a.rr(0xf7<<8|s.w(), 2, r) }

// Xchg swaps two registers.
func (a *Asm) Xchg(s Size, x, y Reg) {
	switch {
	case x == y || x != RAX && y != RAX:
		// The short form of eax with itself would be nop, which keeps the
		// upper half.
		a.rr(0x87<<8|s.w(), y, x)
	default:
		a.opReg(0x90<<8|s.w(), x|y, 0) // RAX is 0
	}
}

// Setcc sets the low byte of dst to 1 if c holds, else 0; the other bits stay.
func (a *Asm) Setcc(c Cond, dst Reg) {
	a.rr2(op0F|0x90<<16|opcode(c)<<16, rexByte(dst), 0, uint8(dst))
}

// Cmov copies src to dst if c holds; with S32 it clears the upper half of dst
// either way.
func (a *Asm) Cmov(c Cond, s Size, dst, src Reg) {
	a.rr2(op0F|0x40<<16|opcode(c)<<16, s.w(), uint8(dst), uint8(src))
}
