package amd64

// Bsf is dst = the index of src's lowest set bit. With src 0 it sets ZF and
// leaves dst undefined.
func (a *Asm) Bsf(s Size, dst, src Reg) { a.rrx(0xbc0f, s.w(), uint8(dst), uint8(src)) }

// Bsr is dst = the index of src's highest set bit. With src 0 it sets ZF and
// leaves dst undefined.
func (a *Asm) Bsr(s Size, dst, src Reg) { a.rrx(0xbd0f, s.w(), uint8(dst), uint8(src)) }

// Tzcnt is dst = the number of trailing zeros of src. Without BMI1 the CPU
// reads it as bsf.
func (a *Asm) Tzcnt(s Size, dst, src Reg) { a.rrx(0xf3000000|0xbc0f, s.w(), uint8(dst), uint8(src)) }

// Lzcnt is dst = the number of leading zeros of src. A CPU without it reads
// bsr, with another result.
func (a *Asm) Lzcnt(s Size, dst, src Reg) { a.rrx(0xf3000000|0xbd0f, s.w(), uint8(dst), uint8(src)) }

// Popcnt is dst = the number of set bits of src. Needs Popcnt.
func (a *Asm) Popcnt(s Size, dst, src Reg) { a.rrx(0xf3000000|0xb80f, s.w(), uint8(dst), uint8(src)) }

// Bswap reverses the bytes of r.
func (a *Asm) Bswap(s Size, r Reg) {
	if r > 15 {
		panic(errReg)
	}
	rex := s.w() | uint64(r>>3)
	f := (rex + 0x7f) >> 7
	a.put((0xc80f|uint64(r&7)<<8)<<(f*8&63)|f<<6|rex, 2+f)
}
