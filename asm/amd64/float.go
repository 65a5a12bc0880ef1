package amd64

// Sse is an SSE instruction of two operands: its opcode in the order of
// memory (bits 0 to 23) and its mandatory prefix (bits 24 to 31).
type Sse uint32

// Scalar arithmetic. SQRT and CVT replace the low lane and keep the others of
// the destination; load the operand into the destination first to avoid a
// false dependency.
const (
	ADDSS    Sse = 0xf3<<24 | 0x580f
	ADDSD    Sse = 0xf2<<24 | 0x580f
	MULSS    Sse = 0xf3<<24 | 0x590f
	MULSD    Sse = 0xf2<<24 | 0x590f
	SUBSS    Sse = 0xf3<<24 | 0x5c0f
	SUBSD    Sse = 0xf2<<24 | 0x5c0f
	MINSS    Sse = 0xf3<<24 | 0x5d0f
	MINSD    Sse = 0xf2<<24 | 0x5d0f
	DIVSS    Sse = 0xf3<<24 | 0x5e0f
	DIVSD    Sse = 0xf2<<24 | 0x5e0f
	MAXSS    Sse = 0xf3<<24 | 0x5f0f
	MAXSD    Sse = 0xf2<<24 | 0x5f0f
	SQRTSS   Sse = 0xf3<<24 | 0x510f
	SQRTSD   Sse = 0xf2<<24 | 0x510f
	UCOMISS  Sse = 0x2e0f
	UCOMISD  Sse = 0x66<<24 | 0x2e0f
	COMISS   Sse = 0x2f0f
	COMISD   Sse = 0x66<<24 | 0x2f0f
	CVTSS2SD Sse = 0xf3<<24 | 0x5a0f
	CVTSD2SS Sse = 0xf2<<24 | 0x5a0f
)

// Moves and bit operations on whole registers. From memory, all but MOVSS,
// MOVSD, MOVUPS, MOVD, MOVQ and the UNPCK group read 16 aligned bytes. MOVSS
// and MOVSD between registers keep the upper lanes of the destination.
const (
	MOVSS    Sse = 0xf3<<24 | 0x100f
	MOVSD    Sse = 0xf2<<24 | 0x100f
	MOVUPS   Sse = 0x100f
	MOVAPS   Sse = 0x280f
	MOVQ     Sse = 0xf3<<24 | 0x7e0f
	UNPCKLPS Sse = 0x140f
	UNPCKLPD Sse = 0x66<<24 | 0x140f
	ANDPS    Sse = 0x540f
	ANDPD    Sse = 0x66<<24 | 0x540f
	ANDNPS   Sse = 0x550f
	ANDNPD   Sse = 0x66<<24 | 0x550f
	ORPS     Sse = 0x560f
	ORPD     Sse = 0x66<<24 | 0x560f
	XORPS    Sse = 0x570f
	XORPD    Sse = 0x66<<24 | 0x570f
	SUBPS    Sse = 0x5c0f
	SUBPD    Sse = 0x66<<24 | 0x5c0f
	PCMPEQD  Sse = 0x66<<24 | 0x760f
	PAND     Sse = 0x66<<24 | 0xdb0f
	PANDN    Sse = 0x66<<24 | 0xdf0f
	POR      Sse = 0x66<<24 | 0xeb0f
	PXOR     Sse = 0x66<<24 | 0xef0f
	// The mask of these two is xmm0. They need SSE4.1.
	BLENDVPS Sse = 0x66<<24 | 0x14380f
	BLENDVPD Sse = 0x66<<24 | 0x15380f
)

// Store forms, with the memory operand first.
const (
	movssMR  Sse = 0xf3<<24 | 0x110f
	movsdMR  Sse = 0xf2<<24 | 0x110f
	movupsMR Sse = 0x110f
	movapsMR Sse = 0x290f
)

// SseRR is op dst, src.
func (a *Asm) SseRR(op Sse, dst, src XReg) { a.rrx(uint32(op), 0, uint8(dst), uint8(src)) }

// SseRM is op dst, [m]. How many bytes it reads and whether they must be
// aligned depends on op.
func (a *Asm) SseRM(op Sse, dst XReg, m Mem) {
	a.mem(opBits(uint32(op))<<32|uint64(op), 0, uint64(dst), m)
}

// sseMR is op [m], src.
func (a *Asm) sseMR(op Sse, m Mem, src XReg) { a.mem(len2|uint64(op), 0, uint64(src), m) }

// MovapsRR copies all 128 bits.
func (a *Asm) MovapsRR(dst, src XReg) { a.rrx(uint32(MOVAPS), 0, uint8(dst), uint8(src)) }

// MovssRM loads 4 bytes and clears the rest of dst.
func (a *Asm) MovssRM(dst XReg, m Mem) { a.mem(len2|uint64(MOVSS), 0, uint64(dst), m) }

// MovsdRM loads 8 bytes and clears the rest of dst.
func (a *Asm) MovsdRM(dst XReg, m Mem) { a.mem(len2|uint64(MOVSD), 0, uint64(dst), m) }

// MovssMR stores the low 4 bytes.
func (a *Asm) MovssMR(m Mem, src XReg) { a.sseMR(movssMR, m, src) }

// MovsdMR stores the low 8 bytes.
func (a *Asm) MovsdMR(m Mem, src XReg) { a.sseMR(movsdMR, m, src) }

// MovupsRM loads 16 bytes.
func (a *Asm) MovupsRM(dst XReg, m Mem) { a.mem(len2|uint64(MOVUPS), 0, uint64(dst), m) }

// MovupsMR stores 16 bytes.
func (a *Asm) MovupsMR(m Mem, src XReg) { a.sseMR(movupsMR, m, src) }

// MovapsRM loads 16 aligned bytes.
func (a *Asm) MovapsRM(dst XReg, m Mem) { a.mem(len2|uint64(MOVAPS), 0, uint64(dst), m) }

// MovapsMR stores 16 aligned bytes.
func (a *Asm) MovapsMR(m Mem, src XReg) { a.sseMR(movapsMR, m, src) }

// MovdXR copies 4 or 8 bytes from a general register and clears the rest of
// dst.
func (a *Asm) MovdXR(s Size, dst XReg, src Reg) {
	a.rrx(0x66<<24|0x6e0f, s.w(), uint8(dst), uint8(src))
}

// MovdRX copies 4 or 8 bytes to a general register, zero-extended.
func (a *Asm) MovdRX(s Size, dst Reg, src XReg) {
	a.rrx(0x66<<24|0x7e0f, s.w(), uint8(src), uint8(dst))
}
