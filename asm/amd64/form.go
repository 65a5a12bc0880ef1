package amd64

import "unsafe"

// The encoders of each operand form. They put an instruction together by
// or-ing words in which every part has its place already:
//
//	bits 0-7   REX
//	bits 8-    opcode, ModRM and what follows
//	bit 63     set if REX is needed
//
// so k := t>>60 is 8 with REX and 0 without, and t<<k>>8 has the bytes in
// order. No branch depends on a register number: those are as good as random,
// and such a branch would be mispredicted.

const (
	rexNeed = 1 << 63
	rexBase = 0x40 // what makes a byte a REX prefix
	rexW    = rexNeed | 8
	rexR    = rexNeed | 4
	rexX    = rexNeed | 2
	rexB    = rexNeed | 1

	// Flags of a memory operand, beyond the bytes before the displacement.
	memSIB  = 1 << 59 // the base takes a SIB byte
	memDisp = 1 << 58 // the base has no form without displacement
	memBad  = 1 << 57 // can't be encoded
)

// w is REX.W of a width.
func (s Size) w() uint64 { return uint64(s) * rexW }

// rexByte asks for REX where a byte register needs one: numbers 4 to 7 mean
// spl, bpl, sil and dil only with it.
func rexByte(r Reg) uint64 { return uint64(r) << 61 & rexNeed }

// What a register adds to a word, by where it stands. Indexing one of these
// arrays also checks the register's number.
var (
	opReg1 = withREX(fields(8, rexB))  // in the low bits of a one-byte opcode
	reg1   = withREX(fields(19, rexR)) // ModRM.reg after a one-byte opcode
	rm1    = fields(16, rexB)          // ModRM.rm after a one-byte opcode
	reg2   = withREX(fields(27, rexR)) // ModRM.reg after a two-byte opcode
	rm2    = fields(24, rexB)          // ModRM.rm after a two-byte opcode

	base1  = bases(rm1, 24)               // base without index, ModRM at 16
	base2  = bases(rm2, 32)               // the same, ModRM at 24
	sib1   = indexBases(fields(24, rexB)) // base with index, SIB at 24
	sib2   = indexBases(fields(32, rexB)) // the same, SIB at 32
	index1 = indexes(fields(27, rexX))    // index, SIB at 24
	index2 = indexes(fields(35, rexX))    // the same, SIB at 32
)

// fields gives the low three bits of each register number at bit pos, and rex
// for the upper eight.
func fields(pos int, rex uint64) (t [16]uint64) {
	for r := range t {
		t[r] = uint64(r&7) << pos
		if r > 7 {
			t[r] |= rex
		}
	}
	return t
}

// withREX adds what makes the low byte a REX prefix. Each word has one register
// from such a table.
func withREX(t [16]uint64) [16]uint64 {
	for r := range t {
		t[r] |= rexBase
	}
	return t
}

// bases adds to ModRM.rm the SIB byte that rsp and r12 take as a base, at bit
// sib, and marks rbp and r13.
func bases(t [16]uint64, sib int) [16]uint64 {
	t[RSP] |= memSIB | 0x24<<sib
	t[R12] |= memSIB | 0x24<<sib
	return indexBases(t)
}

// indexBases marks rbp and r13, which without displacement mean "no base".
func indexBases(t [16]uint64) [16]uint64 {
	t[RBP] |= memDisp
	t[R13] |= memDisp
	return t
}

// indexes marks rsp, which as an index means "none".
func indexes(t [16]uint64) [16]uint64 {
	t[RSP] |= memBad
	return t
}

// rr encodes a one-byte opcode with two registers. t holds the opcode and
// REX.W.
func (a *Asm) rr(t uint64, reg, rm Reg) {
	t |= 0xc0<<16 | reg1[reg] | rm1[rm]
	k := t >> 60
	a.put(t<<k>>8, (16+k)>>3)
}

// opReg encodes a one-byte opcode with a register in its low bits and n bytes
// of immediate. t holds opcode, immediate and REX.W.
func (a *Asm) opReg(t uint64, r Reg, n uint64) {
	t |= opReg1[r]
	k := t >> 60
	a.put(t<<k>>8, k>>3+1+n)
}

// opcode packs an opcode for rr2 and mem2: its mandatory prefix, which stands
// before REX (bits 0 to 7), its two bytes (8 to 23), and 8 if there is a prefix
// (24 to 31).
type opcode uint32

// The maps with their prefixes.
const (
	op0F   opcode = 0x0f << 8
	op660F opcode = 8<<24 | 0x0f<<8 | 0x66
	opF20F opcode = 8<<24 | 0x0f<<8 | 0xf2
	opF30F opcode = 8<<24 | 0x0f<<8 | 0xf3
)

// rr2 encodes an opcode of map 0F with two registers.
func (a *Asm) rr2(op opcode, rex uint64, reg, rm uint8) {
	o := uint64(op)
	t := o&0xffff00 | 0xc0<<24 | rex | reg2[reg] | rm2[rm]
	k, g := t>>60, o>>24&8
	a.put(t<<k>>8<<g|o&0xff, (24+k+g)>>3)
}

// rr3 encodes an opcode of map 660F38 or 660F3A with two registers. op holds
// the three opcode bytes in the order of memory.
func (a *Asm) rr3(op uint64, reg, rm XReg) {
	e := 0xc0<<24 | reg2[reg] | rm2[rm]
	k := e >> 60
	t := op<<8 | e&0xff | e>>24&0xff<<32
	a.put(t<<k>>8<<8|0x66, (40+k)>>3)
}

// mem1 encodes a one-byte opcode with a register and a memory operand. t holds
// the opcode and REX.W.
func (a *Asm) mem1(t uint64, reg Reg, m Mem) {
	t |= reg1[reg]
	// ModRM.mod is 1 for a displacement of one byte and 2 for one of four.
	// Bits that follow the instruction don't matter.
	if m.Index == NoReg {
		t |= base1[m.Base]
		if t&memSIB == 0 {
			n := uint64(16)
			if uint64(uint32(m.Disp))|t&memDisp != 0 {
				n = 24
			}
			t += n<<19 - 16<<19 | uint64(uint32(m.Disp))<<24
			if m.Disp != int32(int8(m.Disp)) {
				t += 1 << 22
				n = 48
			}
			k := t >> 60
			a.put(t<<k>>8, (n+k)>>3)
			return
		}
	} else {
		if m.Base == NoReg {
			a.noBase(t|4<<16|5<<24|index1[m.Index]|uint64(m.Scale&3)<<30, 24, 0, m)
			return
		}
		t |= 4<<16 | sib1[m.Base] | index1[m.Index] | uint64(m.Scale&3)<<30
		if t&memBad != 0 || m.Scale > 3 {
			panic(errMem)
		}
	}
	var d uint64
	if uint64(uint32(m.Disp))|t&memDisp != 0 {
		d = 1
	}
	t += d << 22
	if m.Disp != int32(int8(m.Disp)) {
		t += 1 << 22
		d = 4
	}
	k := t >> 60
	n := (24 + k) >> 3
	to := unsafe.Add(a.base, a.pos)
	*(*uint64)(to) = t << k >> 8
	*(*int32)(unsafe.Add(to, n)) = m.Disp
	a.pos += int(n + d)
}

// mem2 encodes an opcode of map 0F, or with a prefix, with a register and a
// memory operand.
func (a *Asm) mem2(op opcode, rex uint64, reg uint8, m Mem) {
	o := uint64(op)
	t := o&0xffff00 | rex | reg2[reg]
	n := uint64(32)
	switch {
	case m.Index == NoReg:
		b := base2[m.Base]
		t |= b
		n = 24 + b>>56&8
	case m.Base == NoReg:
		a.noBase(t|4<<24|5<<32|index2[m.Index]|uint64(m.Scale&3)<<38, 32, o, m)
		return
	default:
		t |= 4<<24 | sib2[m.Base] | index2[m.Index] | uint64(m.Scale&3)<<38
		if t&memBad != 0 || m.Scale > 3 {
			panic(errMem)
		}
	}
	var d uint64
	if uint64(uint32(m.Disp))|t&memDisp != 0 {
		d = 1
	}
	t |= d << 30
	if m.Disp != int32(int8(m.Disp)) {
		t += 1 << 30
		d = 4
	}
	k, g := t>>60, o>>24&8
	n = (n + k + g) >> 3
	to := unsafe.Add(a.base, a.pos)
	*(*uint64)(to) = t<<k>>8<<g | o&0xff
	*(*int32)(unsafe.Add(to, n)) = m.Disp
	a.pos += int(n + d)
}

// noBase finishes an instruction with a memory operand without base, of which t
// holds all n bits but REX, prefix and displacement.
func (a *Asm) noBase(t, n, op uint64, m Mem) {
	if t&memBad != 0 || m.Scale > 3 {
		panic(errMem)
	}
	k, g := t>>60&8, op>>24&8
	a.put(t<<k>>8<<g|op&0xff, (n+k+g)>>3)
	a.put32(uint32(m.Disp))
}
