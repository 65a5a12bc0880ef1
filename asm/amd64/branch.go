package amd64

// CallRel is a direct call. It returns the position of its rel32 field, which
// holds 0.
func (a *Asm) CallRel() int {
	a.put(0xe8, 5)
	return a.pos - 4
}

// JmpRel is a direct jump. It returns the position of its rel32 field, which
// holds 0.
func (a *Asm) JmpRel() int {
	a.put(0xe9, 5)
	return a.pos - 4
}

// Jcc is a conditional jump. It returns the position of its rel32 field, which
// holds 0.
func (a *Asm) Jcc(c Cond) int {
	a.put(0x800f|uint64(c)<<8, 6)
	return a.pos - 4
}

// JmpShort is a jump of two bytes. It returns the position of its rel8 field,
// which holds 0.
func (a *Asm) JmpShort() int {
	a.put(0xeb, 2)
	return a.pos - 1
}

// JccShort is a conditional jump of two bytes. It returns the position of its
// rel8 field, which holds 0.
func (a *Asm) JccShort(c Cond) int {
	a.put(0x70|uint64(c), 2)
	return a.pos - 1
}

// PatchShort makes the rel8 field at reach the current position, and panics
// if it can't.
func (a *Asm) PatchShort(at int) {
	d := a.pos - (at + 1)
	if d != int(int8(d)) {
		panic(errReach)
	}
	a.buf[at] = byte(d)
}

// PatchRel32 makes the rel32 field at reach the position target, which may lie
// outside the buffer, and panics if it can't. The field is the last of its
// instruction.
func (a *Asm) PatchRel32(at, target int) {
	d := target - (at + 4)
	if d != int(int32(d)) {
		panic(errReach)
	}
	a.write32(at, uint32(d))
}

// JmpBack jumps to a known position, in two bytes if it is near enough.
func (a *Asm) JmpBack(target int) {
	d := target - (a.pos + 2)
	if d == int(int8(d)) {
		a.put(0xeb|uint64(uint8(d))<<8, 2)
		return
	}
	d -= 3
	if d != int(int32(d)) {
		panic(errReach)
	}
	a.put(0xe9|uint64(uint32(d))<<8, 5)
}

// JccBack jumps to a known position if c holds, in two bytes if it is near
// enough.
func (a *Asm) JccBack(c Cond, target int) {
	d := target - (a.pos + 2)
	if d == int(int8(d)) {
		a.put(0x70|uint64(c)|uint64(uint8(d))<<8, 2)
		return
	}
	d -= 4
	if d != int(int32(d)) {
		panic(errReach)
	}
	a.put(0x800f|uint64(c)<<8|uint64(uint32(d))<<16, 6)
}

// CallR calls the address in r.
func (a *Asm) CallR(r Reg) { a.rr(0xff<<8, 2, r) }

// CallM calls the address stored at m.
func (a *Asm) CallM(m Mem) { a.mem1(0xff<<8, 2, m) }

// JmpR jumps to the address in r.
func (a *Asm) JmpR(r Reg) { a.rr(0xff<<8, 4, r) }

// JmpM jumps to the address stored at m.
func (a *Asm) JmpM(m Mem) { a.mem1(0xff<<8, 4, m) }

// Push pushes 8 bytes.
func (a *Asm) Push(r Reg) { a.opReg(0x50<<8, r, 0) }

// Pop pops 8 bytes.
func (a *Asm) Pop(r Reg) { a.opReg(0x58<<8, r, 0) }

// Leave is rsp = rbp, then pop rbp.
func (a *Asm) Leave() { a.put(0xc9, 1) }

// Ret returns.
func (a *Asm) Ret() { a.put(0xc3, 1) }
