package arm64

// Access is a load or store; the value is the word of its form with a scaled
// unsigned offset.
type Access uint32

// Loads and stores. The W and X forms of signed loads extend to 32 and 64
// bits; all other loads of general registers are zero-extended.
const (
	STRB   Access = 0x39000000
	LDRB   Access = 0x39400000
	LDRSBX Access = 0x39800000
	LDRSBW Access = 0x39c00000
	STRH   Access = 0x79000000
	LDRH   Access = 0x79400000
	LDRSHX Access = 0x79800000
	LDRSHW Access = 0x79c00000
	STRW   Access = 0xb9000000
	LDRW   Access = 0xb9400000
	LDRSW  Access = 0xb9800000
	STRX   Access = 0xf9000000
	LDRX   Access = 0xf9400000
	// Vector registers: 4, 8 and 16 bytes.
	STRS Access = 0xbd000000
	LDRS Access = 0xbd400000
	STRD Access = 0xfd000000
	LDRD Access = 0xfd400000
	STRQ Access = 0x3d800000
	LDRQ Access = 0x3dc00000
)

// Log2 is the binary logarithm of the access's size in bytes.
func (op Access) Log2() uint8 {
	if op&0x04800000 == 0x04800000 {
		return 4 // a vector register of 16 bytes
	}
	return uint8(op >> 30)
}

// FitsOffset reports whether [Asm.LdSt] has a form for the offset: a multiple
// of the size, up to 4095 times, or -256 to 255.
func (op Access) FitsOffset(off int64) bool {
	n := op.Log2()
	return off >= -256 && off < 256 || off >= 0 && off>>n < 1<<12 && off&(1<<n-1) == 0
}

// LdSt loads or stores register r (the number of a vector register for its
// accesses) at base + off. Base number 31 is the stack pointer.
func (a *Asm) LdSt(op Access, r, base Reg, off int32) {
	n := op.Log2()
	switch {
	case off >= 0 && off>>n < 1<<12 && off&(1<<n-1) == 0:
		a.put(uint32(op) | uint32(off>>n)<<10 | rn[base] | rd[r])
	case off >= -256 && off < 256:
		a.put(uint32(op)&^0x01000000 | uint32(off)&0x1ff<<12 | rn[base] | rd[r])
	default:
		panic(errImm)
	}
}

// LdStIdx loads or stores r at base + index, the index shifted left by the
// logarithm of the size if scaled. Base number 31 is the stack pointer.
func (a *Asm) LdStIdx(op Access, r, base, index Reg, scaled bool) {
	w := uint32(op)&^0x01000000 | 0x00206800
	if scaled {
		w |= 1 << 12
	}
	a.put(w | rn[base] | rm[index] | rd[r])
}

// LdStPre is LdSt with base += off before it, LdStPost after it; off is -256 to
// 255.
func (a *Asm) LdStPre(op Access, r, base Reg, off int32) { a.ldStWriteback(op, r, base, off, 0xc00) }

// LdStPost is LdSt at base, then base += off.
func (a *Asm) LdStPost(op Access, r, base Reg, off int32) { a.ldStWriteback(op, r, base, off, 0x400) }

func (a *Asm) ldStWriteback(op Access, r, base Reg, off int32, mode uint32) {
	if off < -256 || off > 255 {
		panic(errImm)
	}
	a.put(uint32(op)&^0x01000000 | mode | uint32(off)&0x1ff<<12 | rn[base] | rd[r])
}

// Pair is a load or store of two registers; the value is the word of its form
// with an offset.
type Pair uint32

// Loads and stores of two registers: general ones, and vector registers of 8
// and of 16 bytes.
const (
	STPX Pair = 0xa9000000
	LDPX Pair = 0xa9400000
	STPD Pair = 0x6d000000
	LDPD Pair = 0x6d400000
	STPQ Pair = 0xad000000
	LDPQ Pair = 0xad400000
)

func (op Pair) log2() uint8 {
	if op&0xc4000000 == 0x84000000 {
		return 4
	}
	return 3
}

// FitsOffset reports whether off is a multiple of the register's size, -64 to
// 63 times.
func (op Pair) FitsOffset(off int64) bool {
	n := op.log2()
	return off&(1<<n-1) == 0 && off>>n >= -64 && off>>n < 64
}

// LdStPair loads or stores r and s at base + off. Base number 31 is the stack
// pointer.
func (a *Asm) LdStPair(op Pair, r, s, base Reg, off int32) { a.pair(uint32(op), op, r, s, base, off) }

// LdStPairPre is LdStPair with base += off before it.
func (a *Asm) LdStPairPre(op Pair, r, s, base Reg, off int32) {
	a.pair(uint32(op)|0x00800000, op, r, s, base, off)
}

// LdStPairPost is LdStPair at base, then base += off.
func (a *Asm) LdStPairPost(op Pair, r, s, base Reg, off int32) {
	a.pair(uint32(op)&^0x01000000|0x00800000, op, r, s, base, off)
}

func (a *Asm) pair(w uint32, op Pair, r, s, base Reg, off int32) {
	if !op.FitsOffset(int64(off)) {
		panic(errImm)
	}
	a.put(w | uint32(off>>op.log2())&0x7f<<15 | ra[s] | rn[base] | rd[r])
}
