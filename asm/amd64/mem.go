package amd64

// AluRM is op dst, [m].
func (a *Asm) AluRM(op Alu, s Size, dst Reg, m Mem) {
	a.mem1(uint64(op)<<11|3<<8|s.w(), dst, m)
}

// AluMR is op [m], src.
func (a *Asm) AluMR(op Alu, s Size, m Mem, src Reg) {
	a.mem1(uint64(op)<<11|1<<8|s.w(), src, m)
}

// AluMI is op [m], imm, sign-extended to 64 bits with S64.
func (a *Asm) AluMI(op Alu, s Size, m Mem, imm int32) {
	if imm == int32(int8(imm)) {
		a.mem1(0x83<<8|s.w(), Reg(op), m)
		a.put(uint64(uint8(imm)), 1)
		return
	}
	a.mem1(0x81<<8|s.w(), Reg(op), m)
	a.put32(uint32(imm))
}

// MovRM loads 4 or 8 bytes.
func (a *Asm) MovRM(s Size, dst Reg, m Mem) { a.mem1(0x8b<<8|s.w(), dst, m) }

// MovMR stores 4 or 8 bytes.
func (a *Asm) MovMR(s Size, m Mem, src Reg) { a.mem1(0x89<<8|s.w(), src, m) }

// MovMR8 stores the low byte of src.
func (a *Asm) MovMR8(m Mem, src Reg) { a.mem1(0x88<<8|rexByte(src), src, m) }

// MovMR16 stores the low two bytes of src.
func (a *Asm) MovMR16(m Mem, src Reg) {
	a.put(0x66, 1)
	a.mem1(0x89<<8, src, m)
}

// MovMI stores a constant of 4 bytes, or of 8 bytes sign-extended from imm.
func (a *Asm) MovMI(s Size, m Mem, imm int32) {
	a.mem1(0xc7<<8|s.w(), 0, m)
	a.put32(uint32(imm))
}

// MovMI8 stores a constant byte.
func (a *Asm) MovMI8(m Mem, v uint8) {
	a.mem1(0xc6<<8, 0, m)
	a.put(uint64(v), 1)
}

// MovMI16 stores a constant of two bytes.
func (a *Asm) MovMI16(m Mem, v uint16) {
	a.put(0x66, 1)
	a.mem1(0xc7<<8, 0, m)
	a.put(uint64(v), 2)
}

// LoadZX8 loads a byte, zero-extended to 64 bits.
func (a *Asm) LoadZX8(dst Reg, m Mem) { a.mem2(op0F|0xb6<<16, 0, uint8(dst), m) }

// LoadZX16 loads two bytes, zero-extended to 64 bits.
func (a *Asm) LoadZX16(dst Reg, m Mem) { a.mem2(op0F|0xb7<<16, 0, uint8(dst), m) }

// LoadSX8 loads a byte, sign-extended to s.
func (a *Asm) LoadSX8(s Size, dst Reg, m Mem) { a.mem2(op0F|0xbe<<16, s.w(), uint8(dst), m) }

// LoadSX16 loads two bytes, sign-extended to s.
func (a *Asm) LoadSX16(s Size, dst Reg, m Mem) { a.mem2(op0F|0xbf<<16, s.w(), uint8(dst), m) }

// LoadSXD loads four bytes, sign-extended to 64 bits.
func (a *Asm) LoadSXD(dst Reg, m Mem) { a.mem1(0x63<<8|S64.w(), dst, m) }

// Lea computes the address m; with S32 its low half, zero-extended.
func (a *Asm) Lea(s Size, dst Reg, m Mem) { a.mem1(0x8d<<8|s.w(), dst, m) }

// LeaRIP computes an address relative to the end of this instruction and
// returns the position of its rel32 field, which holds 0 (see
// [Asm.PatchRel32]).
func (a *Asm) LeaRIP(dst Reg) int {
	a.put((0x8d<<8|S64.w()|5<<16|reg1[dst])&^rexNeed, 7)
	return a.pos - 4
}

// CmovM loads dst from m if c holds. The load happens either way.
func (a *Asm) CmovM(c Cond, s Size, dst Reg, m Mem) {
	a.mem2(op0F|0x40<<16|opcode(c)<<16, s.w(), uint8(dst), m)
}
