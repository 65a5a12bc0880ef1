package amd64

// Bsf is dst = the index of src's lowest set bit. With src 0 it sets ZF and
// leaves dst undefined.
func (a *Asm) Bsf(s Size, dst, src Reg) { a.rr2(op0F|0xbc<<16, s.w(), uint8(dst), uint8(src)) }

// Bsr is dst = the index of src's highest set bit. With src 0 it sets ZF and
// leaves dst undefined.
func (a *Asm) Bsr(s Size, dst, src Reg) { a.rr2(op0F|0xbd<<16, s.w(), uint8(dst), uint8(src)) }

// Tzcnt is dst = the number of trailing zeros of src. Without BMI1 the CPU
// reads it as bsf.
func (a *Asm) Tzcnt(s Size, dst, src Reg) { a.rr2(opF30F|0xbc<<16, s.w(), uint8(dst), uint8(src)) }

// Lzcnt is dst = the number of leading zeros of src. A CPU without it reads
// bsr, with another result.
func (a *Asm) Lzcnt(s Size, dst, src Reg) { a.rr2(opF30F|0xbd<<16, s.w(), uint8(dst), uint8(src)) }

// Popcnt is dst = the number of set bits of src. Needs Popcnt.
func (a *Asm) Popcnt(s Size, dst, src Reg) { a.rr2(opF30F|0xb8<<16, s.w(), uint8(dst), uint8(src)) }

// Bswap reverses the bytes of r.
func (a *Asm) Bswap(s Size, r Reg) {
	// C8 to CF are the ModRM bytes of reg 1 and register r.
	a.rr(0x0f<<8|s.w(), 1, r)
}
