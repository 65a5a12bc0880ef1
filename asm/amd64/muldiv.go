package amd64

// ImulRR is dst *= src.
func (a *Asm) ImulRR(s Size, dst, src Reg) { a.rr2(op0F|0xaf<<16, s.w(), uint8(dst), uint8(src)) }

// ImulRM is dst *= [m].
func (a *Asm) ImulRM(s Size, dst Reg, m Mem) { a.mem2(op0F|0xaf<<16, s.w(), uint8(dst), m) }

// ImulRRI is dst = src * imm, sign-extended to 64 bits with S64.
func (a *Asm) ImulRRI(s Size, dst, src Reg, imm int32) {
	if imm == int32(int8(imm)) {
		a.rr(0x6b<<8|s.w(), dst, src)
		a.put(uint64(uint8(imm)), 1)
		return
	}
	a.rr(0x69<<8|s.w(), dst, src)
	a.put32(uint32(imm))
}

// Mul is rdx:rax = rax * r, unsigned (edx:eax with S32).
func (a *Asm) Mul(s Size, r Reg) { a.rr(0xf7<<8|s.w(), 4, r) }

// Div divides rdx:rax by r, unsigned: quotient in rax, remainder in rdx
// (edx:eax with S32).
func (a *Asm) Div(s Size, r Reg) { a.rr(0xf7<<8|s.w(), 6, r) }

// Idiv is Div for signed numbers.
func (a *Asm) Idiv(s Size, r Reg) { a.rr(0xf7<<8|s.w(), 7, r) }

// Cdq spreads the sign of eax over edx.
func (a *Asm) Cdq() { a.put(0x99, 1) }

// Cqo spreads the sign of rax over rdx.
func (a *Asm) Cqo() { a.put(0x9948, 2) }
