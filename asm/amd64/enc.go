package amd64

import (
	"encoding/binary"
	"unsafe"
)

// maxCode bounds a buffer, so that every distance within it fits a rel32
// and every position an int32.
const maxCode = 1 << 30

// slack is kept free past the reserved room: an 8-byte store at the last
// reserved byte stays inside the buffer.
const slack = 32

// Asm is a code buffer with a write position. The zero value is ready for
// [Asm.Reset]. It is reused from function to function and isn't safe for
// concurrent use.
//
// Invariant: base is the address of buf[0], and pos <= limit as long as the
// caller reserves before it encodes.
type Asm struct {
	base  unsafe.Pointer
	pos   int
	limit int // len(buf) - slack
	buf   []byte
}

// Reset empties the buffer and puts the position at headroom. The bytes below
// hold whatever was there; the caller moves back with [Asm.SetPos] to write a
// prologue into them once it knows it.
func (a *Asm) Reset(headroom int) {
	a.pos = 0
	a.Reserve(headroom)
	a.pos = headroom
}

// Reserve guarantees room for n more bytes of code. Encoders don't check: an
// instruction written beyond the reserved room corrupts memory. An
// instruction is at most 15 bytes.
func (a *Asm) Reserve(n int) {
	if a.pos+n > a.limit {
		a.grow(n)
	}
}

// grow moves the code to a buffer of at least twice the size.
func (a *Asm) grow(n int) {
	if a.pos > len(a.buf) {
		panic(errRoom)
	}
	if n < 0 || n > maxCode-slack-a.pos {
		panic(errSize)
	}
	need := a.pos + n + slack
	buf := make([]byte, min(max(need, 2*len(a.buf), 4096), maxCode))
	// Code above the position counts too: after SetPos backwards for a
	// prologue, the body lies there.
	copy(buf, a.buf)
	a.buf = buf
	a.base = unsafe.Pointer(unsafe.SliceData(buf))
	a.limit = len(buf) - slack
}

// Pos is the position of the next byte, counted from the buffer's start.
func (a *Asm) Pos() int { return a.pos }

// SetPos moves the position, which must lie in the reserved room.
func (a *Asm) SetPos(pos int) {
	if uint(pos) > uint(len(a.buf)) {
		panic(errRoom)
	}
	a.pos = pos
}

// Bytes is the code from position from up to position to, valid until the
// buffer grows or is reset.
func (a *Asm) Bytes(from, to int) []byte { return a.buf[from:to:to] }

// put appends the n low bytes of v.
func (a *Asm) put(v uint64, n uint64) {
	*(*uint64)(unsafe.Add(a.base, a.pos)) = v
	a.pos += int(n)
}

// put32 appends four bytes.
func (a *Asm) put32(v uint32) {
	*(*uint32)(unsafe.Add(a.base, a.pos)) = v
	a.pos += 4
}

// read32 and write32 are for fields of code already written; unlike put they
// are checked.
func (a *Asm) read32(at int) uint32     { return binary.LittleEndian.Uint32(a.buf[at:]) }
func (a *Asm) write32(at int, v uint32) { binary.LittleEndian.PutUint32(a.buf[at:], v) }

// rexForce asks for a REX prefix even where no bit of it is set: byte
// registers 4 to 7 mean spl, bpl, sil and dil only with one.
const rexForce = 0x40

// w is REX.W of a width.
func (s Size) w() uint64 { return uint64(s) << 3 }

// rexByte forces a REX prefix for a byte register that needs one.
func rexByte(r Reg) uint64 { return uint64(r) << 4 & rexForce }

// The opcode argument of the helpers below packs the opcode's bytes in the
// order of memory (bits 0 to 23), the mandatory prefix (bits 24 to 31, 0 for
// none), which stands before REX, and for mem the number of opcode bits (32
// to 39). rex holds REX.W and rexForce; the register bits are added here.
//
// Adding 0x7f to rex carries into bit 7 exactly when a prefix is needed. That
// makes the prefix free of branches, which would be mispredicted: registers
// are as good as random.

// rr encodes a one-byte opcode with two registers.
func (a *Asm) rr(op, rex uint64, reg, rm Reg) {
	if reg|rm > 15 {
		panic(errReg)
	}
	rex |= uint64(reg>>3)<<2 | uint64(rm>>3)
	f := (rex + 0x7f) >> 7
	v := op | 0xc000 | uint64(reg&7)<<11 | uint64(rm&7)<<8
	a.put(v<<(f*8&63)|f<<6|rex, 2+f)
}

// rrx encodes an opcode of map 0F, 0F38 or 0F3A with two registers.
func (a *Asm) rrx(op uint32, rex uint64, reg, rm uint8) {
	if reg|rm > 15 {
		panic(errReg)
	}
	rex |= uint64(reg>>3)<<2 | uint64(rm>>3)
	f := (rex + 0x7f) >> 7
	v := uint64(op & 0xffffff)
	n := opBits(op)
	v |= (0xc0 | uint64(reg&7)<<3 | uint64(rm&7)) << (n & 63)
	v = v<<(f*8&63) | f<<6 | rex
	p := uint64(op >> 24)
	g := (p + 0xff) >> 8
	v = v<<(g*8&63) | p
	a.put(v, n>>3+1+f+g)
}

// opBits is the length of an 0F opcode: three bytes in maps 0F38 and 0F3A.
func opBits(op uint32) uint64 {
	if op>>8&0xfd == 0x38 {
		return 24
	}
	return 16
}

// Opcode lengths for mem.
const (
	len1 = 8 << 32
	len2 = 16 << 32
)

// mem encodes an opcode with a register and a memory operand.
func (a *Asm) mem(op, rex, reg uint64, m Mem) {
	b := uint64(m.Base)
	// t holds ModRM, SIB and displacement, n their length in bits.
	t := reg & 7 << 3
	n := uint64(8)
	switch {
	case reg|b > 15:
		a.memNoBase(op, rex, reg, m)
		return
	case m.Index != NoReg:
		x := uint64(m.Index)
		if x > 15 || x == uint64(RSP) || m.Scale > 3 {
			panic(errMem)
		}
		rex |= x >> 3 << 1
		t |= 4 | b&7<<8 | x&7<<11 | uint64(m.Scale)<<14
		n = 16
	case b&7 == uint64(RSP):
		t |= 0x2404 // rsp and r12 as a base take a SIB byte
		n = 16
	default:
		t |= b & 7
	}
	rex |= reg>>3<<2 | b>>3
	if d := m.Disp; d == int32(int8(d)) {
		// rbp and r13 have no form without displacement.
		if d != 0 || b&7 == uint64(RBP) {
			t |= 0x40 | uint64(uint8(d))<<(n&63)
			n += 8
		}
	} else {
		t |= 0x80 | uint64(uint32(d))<<(n&63)
		n += 32
	}
	a.head(op, rex, t, n)
}

// memNoBase is mem for an operand without a base register.
func (a *Asm) memNoBase(op, rex, reg uint64, m Mem) {
	x := uint64(m.Index)
	switch {
	case reg > 15:
		panic(errReg)
	case m.Base != NoReg || x > 15 || x == uint64(RSP) || m.Scale > 3:
		panic(errMem)
	}
	t := reg&7<<3 | 4 | 5<<8 | x&7<<11 | uint64(m.Scale)<<14
	a.head(op, rex|reg>>3<<2|x>>3<<1, t|uint64(uint32(m.Disp))<<16, 48)
}

// head writes prefix, REX and opcode before the n bits of t.
func (a *Asm) head(op, rex, t, n uint64) {
	k := op >> 32 // bits before t
	v := op & 0xffffff
	f := (rex + 0x7f) >> 7 << 3
	v = v<<(f&63) | f<<3 | rex
	k += f
	p := op >> 24 & 0xff
	g := (p + 0xff) >> 8 << 3
	v = v<<(g&63) | p
	k += g
	to := unsafe.Add(a.base, a.pos)
	*(*uint64)(to) = v | t<<(k&63)
	if n+k > 64 {
		*(*uint64)(unsafe.Add(to, k>>3)) = t
	}
	a.pos += int((n + k) >> 3)
}
