package arm64

// Instructions that name a place relative to themselves. Encoders give the
// position of the instruction, whose field then holds 0; PatchBranch fills it.

// B is a jump.
func (a *Asm) B() int { return a.branch(0x14000000) }

// BL is a direct call whose field holds value, at most 26 bits: what a linker
// replaces by the distance (see [CallTarget] and [LinkCall]).
func (a *Asm) BL(value uint32) int {
	if value >= 1<<26 {
		panic(errImm)
	}
	return a.branch(0x94000000 | value)
}

// BCond is a conditional jump.
func (a *Asm) BCond(c Cond) int { return a.branch(0x54000000 | uint32(c)) }

// Cbz jumps if r is zero, or if it isn't with nonzero.
func (a *Asm) Cbz(nonzero bool, s Size, r Reg) int {
	return a.branch(cbz(nonzero, s) | rd[r])
}

// Tbz jumps if a bit of r is zero, or if it isn't with nonzero. It reaches 32
// KiB.
func (a *Asm) Tbz(nonzero bool, r Reg, bit uint8) int {
	return a.branch(tbz(nonzero, bit) | rd[r])
}

func cbz(nonzero bool, s Size) uint32 {
	w := 0x34000000 | s.sf()
	if nonzero {
		w |= inverted
	}
	return w
}

func tbz(nonzero bool, bit uint8) uint32 {
	if bit > 63 {
		panic(errImm)
	}
	w := 0x36000000 | uint32(bit)>>5<<31 | uint32(bit)&31<<19
	if nonzero {
		w |= inverted
	}
	return w
}

// inverted is the bit that turns cbz into cbnz and tbz into tbnz.
const inverted = 1 << 24

// Adr is d = the address of a place within 1 MiB.
func (a *Asm) Adr(d Reg) int { return a.branch(0x10000000 | rd[d]) }

func (a *Asm) branch(w uint32) int {
	a.put(w)
	return a.pos - 4
}

// Br jumps to the address in r.
func (a *Asm) Br(r Reg) { a.put(0xd61f0000 | rn[r]) }

// Blr calls the address in r.
func (a *Asm) Blr(r Reg) { a.put(0xd63f0000 | rn[r]) }

// Ret jumps to the address in the link register, as a return.
func (a *Asm) Ret() { a.put(0xd65f0000 | rn[LR]) }

// Adrp is d = the page of 4 KiB that is so many away from this instruction's,
// -2^20 to 2^20-1.
func (a *Asm) Adrp(d Reg, pages int32) {
	if pages < -1<<20 || pages >= 1<<20 {
		panic(errImm)
	}
	a.put(adrpField(uint32(pages)) | rd[d])
}

// adrpField is ADRP with the low 21 bits of n.
func adrpField(n uint32) uint32 { return 0x90000000 | n&3<<29 | n>>2&(1<<19-1)<<5 }

// CallTarget gives the value that [Asm.BL] left in a word, and whether the word
// is a direct call at all.
func CallTarget(word uint32) (value uint32, ok bool) {
	return word & (1<<26 - 1), word&0xfc000000 == 0x94000000
}

// LinkCall gives the direct call that reaches d bytes from itself; ok is false
// beyond 128 MiB.
func LinkCall(d int64) (word uint32, ok bool) {
	if d&3 != 0 || d < -1<<27 || d >= 1<<27 {
		return 0, false
	}
	return 0x94000000 | uint32(d>>2)&(1<<26-1), true
}

// A far call is adrp and add, which make the callee's address in a register,
// and blr. Before it is linked, value stands in the two immediates, the low 12
// bits in the second.

// CallFar emits a far call by way of r. It returns the position of its first
// two words, which [LinkFarCall] replaces.
func (a *Asm) CallFar(r Reg, value uint32) int {
	at := a.pos
	a.Adrp(r, int32(value>>12)) // 20 bits
	a.AddI(ADD, S64, r, r, value&0xfff)
	a.Blr(r)
	return at
}

// FarCallTarget gives the value that [Asm.CallFar] left in two words, and
// whether they begin a far call at all.
func FarCallTarget(adrp, add uint32) (value uint32, ok bool) {
	page := adrp>>29&3 | adrp>>5&(1<<19-1)<<2
	return page<<12 | add>>10&0xfff, adrp&0x9f000000 == 0x90000000 && add&0xffc00000 == 0x91000000
}

// LinkFarCall aims the two words of the far call at an address at another one;
// ok is false beyond 4 GiB.
func LinkFarCall(adrp, add uint32, at, target uint64) (newADRP, newAdd uint32, ok bool) {
	pages := int64(target>>12) - int64(at>>12)
	if pages < -1<<20 || pages >= 1<<20 {
		return 0, 0, false
	}
	return adrpField(uint32(pages)) | adrp&31, add&^(0xfff<<10) | uint32(target)&0xfff<<10, true
}
