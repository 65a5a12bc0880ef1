package amd64

// Sse is an SSE instruction of two operands with an opcode of map 0F, packed as
// an opcode is.
type Sse uint32

// Scalar arithmetic. SQRT and CVT replace the low lane and keep the others of
// the destination; load the operand into the destination first to avoid a
// false dependency.
const (
	ADDSS    = Sse(opF30F | 0x58<<16)
	ADDSD    = Sse(opF20F | 0x58<<16)
	MULSS    = Sse(opF30F | 0x59<<16)
	MULSD    = Sse(opF20F | 0x59<<16)
	SUBSS    = Sse(opF30F | 0x5c<<16)
	SUBSD    = Sse(opF20F | 0x5c<<16)
	MINSS    = Sse(opF30F | 0x5d<<16)
	MINSD    = Sse(opF20F | 0x5d<<16)
	DIVSS    = Sse(opF30F | 0x5e<<16)
	DIVSD    = Sse(opF20F | 0x5e<<16)
	MAXSS    = Sse(opF30F | 0x5f<<16)
	MAXSD    = Sse(opF20F | 0x5f<<16)
	SQRTSS   = Sse(opF30F | 0x51<<16)
	SQRTSD   = Sse(opF20F | 0x51<<16)
	UCOMISS  = Sse(op0F | 0x2e<<16)
	UCOMISD  = Sse(op660F | 0x2e<<16)
	COMISS   = Sse(op0F | 0x2f<<16)
	COMISD   = Sse(op660F | 0x2f<<16)
	CVTSS2SD = Sse(opF30F | 0x5a<<16)
	CVTSD2SS = Sse(opF20F | 0x5a<<16)
)

// Moves and bit operations on whole registers. From memory, all but MOVSS,
// MOVSD, MOVUPS and MOVQ read 16 aligned bytes. MOVSS
// and MOVSD between registers keep the upper lanes of the destination.
const (
	MOVSS    = Sse(opF30F | 0x10<<16)
	MOVSD    = Sse(opF20F | 0x10<<16)
	MOVUPS   = Sse(op0F | 0x10<<16)
	MOVAPS   = Sse(op0F | 0x28<<16)
	MOVQ     = Sse(opF30F | 0x7e<<16)
	UNPCKLPS = Sse(op0F | 0x14<<16)
	UNPCKLPD = Sse(op660F | 0x14<<16)
	ANDPS    = Sse(op0F | 0x54<<16)
	ANDPD    = Sse(op660F | 0x54<<16)
	ANDNPS   = Sse(op0F | 0x55<<16)
	ANDNPD   = Sse(op660F | 0x55<<16)
	ORPS     = Sse(op0F | 0x56<<16)
	ORPD     = Sse(op660F | 0x56<<16)
	XORPS    = Sse(op0F | 0x57<<16)
	XORPD    = Sse(op660F | 0x57<<16)
	SUBPS    = Sse(op0F | 0x5c<<16)
	SUBPD    = Sse(op660F | 0x5c<<16)
	PCMPEQD  = Sse(op660F | 0x76<<16)
	PAND     = Sse(op660F | 0xdb<<16)
	PANDN    = Sse(op660F | 0xdf<<16)
	POR      = Sse(op660F | 0xeb<<16)
	PXOR     = Sse(op660F | 0xef<<16)
)

// Store forms, with the memory operand first.
const (
	movssMR  = Sse(opF30F | 0x11<<16)
	movsdMR  = Sse(opF20F | 0x11<<16)
	movupsMR = Sse(op0F | 0x11<<16)
	movapsMR = Sse(op0F | 0x29<<16)
)

// SseRR is op dst, src.
func (a *Asm) SseRR(op Sse, dst, src XReg) { a.rr2(opcode(op), 0, uint8(dst), uint8(src)) }

// SseRM is op dst, [m]. How many bytes it reads and whether they must be
// aligned depends on op.
func (a *Asm) SseRM(op Sse, dst XReg, m Mem) { a.mem2(opcode(op), 0, uint8(dst), m) }

// sseMR is op [m], src.
func (a *Asm) sseMR(op Sse, m Mem, src XReg) { a.mem2(opcode(op), 0, uint8(src), m) }

// MovapsRR copies all 128 bits.
func (a *Asm) MovapsRR(dst, src XReg) { a.rr2(opcode(MOVAPS), 0, uint8(dst), uint8(src)) }

// MovssRM loads 4 bytes and clears the rest of dst.
func (a *Asm) MovssRM(dst XReg, m Mem) { a.mem2(opcode(MOVSS), 0, uint8(dst), m) }

// MovsdRM loads 8 bytes and clears the rest of dst.
func (a *Asm) MovsdRM(dst XReg, m Mem) { a.mem2(opcode(MOVSD), 0, uint8(dst), m) }

// MovssMR stores the low 4 bytes.
func (a *Asm) MovssMR(m Mem, src XReg) { a.sseMR(movssMR, m, src) }

// MovsdMR stores the low 8 bytes.
func (a *Asm) MovsdMR(m Mem, src XReg) { a.sseMR(movsdMR, m, src) }

// MovupsRM loads 16 bytes.
func (a *Asm) MovupsRM(dst XReg, m Mem) { a.mem2(opcode(MOVUPS), 0, uint8(dst), m) }

// MovupsMR stores 16 bytes.
func (a *Asm) MovupsMR(m Mem, src XReg) { a.sseMR(movupsMR, m, src) }

// MovapsRM loads 16 aligned bytes.
func (a *Asm) MovapsRM(dst XReg, m Mem) { a.mem2(opcode(MOVAPS), 0, uint8(dst), m) }

// MovapsMR stores 16 aligned bytes.
func (a *Asm) MovapsMR(m Mem, src XReg) { a.sseMR(movapsMR, m, src) }

// MovdXR copies 4 or 8 bytes from a general register and clears the rest of
// dst.
func (a *Asm) MovdXR(s Size, dst XReg, src Reg) {
	a.rr2(op660F|0x6e<<16, s.w(), uint8(dst), uint8(src))
}

// MovdRX copies 4 or 8 bytes to a general register, zero-extended.
func (a *Asm) MovdRX(s Size, dst Reg, src XReg) {
	a.rr2(op660F|0x7e<<16, s.w(), uint8(src), uint8(dst))
}
