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

	// mod1 in ModRM means a displacement of one byte, twice that one of four.
	mod1 = 0x40

	// Flags of a memory operand. They end up behind the instruction, where
	// the next one overwrites them.
	memSIB  = 1 << 59 // the base takes a SIB byte
	memDisp = 1 << 58 // the base has no form without displacement
	memBad  = 1 << 57 // the register can't be an index
)

// w is REX.W of a width.
func (s Size) w() uint64 { return uint64(s) * rexW }

// rexByte asks for REX where a byte register needs one: numbers 4 to 7 mean
// spl, bpl, sil and dil only with it.
func rexByte(r Reg) uint64 { return uint64(r) << 61 & rexNeed }

// What a register adds to a word, by where it stands. Indexing one of these
// arrays is also the check of the register's number: a panic of our own would
// cost the encoders a stack frame.
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

// scale checks a scale as the arrays above do registers. An index that can't be
// one adds 4, which is out of range.
var scale = [4]uint64{0, 1, 2, 3}

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
	var d uint64 // bytes of displacement
	if m.Index == NoReg {
		t |= base1[m.Base]
		if t&memSIB == 0 {
			// All fits in one word. What follows the instruction doesn't
			// matter, so the displacement needs no mask.
			t |= uint64(uint32(m.Disp)) << 24
			n := uint64(16)
			if uint64(uint32(m.Disp))|t&memDisp != 0 {
				t |= mod1 << 16
				n = 24
			}
			if m.Disp != int32(int8(m.Disp)) {
				t += mod1 << 16
				n = 48
			}
			k := t >> 60
			a.put(t<<k>>8, (n+k)>>3)
			return
		}
	} else {
		x := index1[m.Index]
		t |= x | 4<<16 | scale[uint64(m.Scale)|x>>55&4]<<30
		if m.Base == NoReg {
			t |= 5 << 24
			d = 4
			goto store
		}
		t |= sib1[m.Base]
	}
	if uint64(uint32(m.Disp))|t&memDisp != 0 {
		t |= mod1 << 16
		d = 1
	}
	if m.Disp != int32(int8(m.Disp)) {
		t += mod1 << 16
		d = 4
	}
store:
	k := t >> 60
	n := (24 + k) >> 3
	to := unsafe.Add(a.base, a.pos)
	*(*uint64)(to) = t << k >> 8
	*(*int32)(unsafe.Add(to, n)) = m.Disp
	a.pos += int(n + d)
}

// mem2 encodes an opcode of map 0F with a register and a memory operand.
func (a *Asm) mem2(op opcode, rex uint64, reg uint8, m Mem) {
	o := uint64(op)
	t := o&0xffff00 | rex | reg2[reg]
	n := uint64(32) // bits before the displacement, without REX and prefix
	var d uint64
	if m.Index == NoReg {
		b := base2[m.Base]
		t |= b
		n = 24 + b>>56&8
	} else {
		x := index2[m.Index]
		t |= x | 4<<24 | scale[uint64(m.Scale)|x>>55&4]<<38
		if m.Base == NoReg {
			t |= 5 << 32
			d = 4
			goto store
		}
		t |= sib2[m.Base]
	}
	if uint64(uint32(m.Disp))|t&memDisp != 0 {
		t |= mod1 << 24
		d = 1
	}
	if m.Disp != int32(int8(m.Disp)) {
		t += mod1 << 24
		d = 4
	}
store:
	k, g := t>>60, o>>24&8
	n = (n + k + g) >> 3
	to := unsafe.Add(a.base, a.pos)
	*(*uint64)(to) = t<<k>>8<<g | o&0xff
	*(*int32)(unsafe.Add(to, n)) = m.Disp
	a.pos += int(n + d)
}
