package arm64

// Udf raises an undefined-instruction exception; imm is for the reader.
func (a *Asm) Udf(imm uint16) { a.put(uint32(imm)) }

// Brk is the breakpoint instruction.
func (a *Asm) Brk(imm uint16) { a.put(0xd4200000 | uint32(imm)<<5) }

// Nop does nothing.
func (a *Asm) Nop() { a.put(0xd503201f) }

// SysReg is a system register; the value is its field in MRS and MSR.
type SysReg uint32

// System registers of user code.
const (
	NZCV SysReg = 0xb4200
	FPCR SysReg = 0xb4400
	FPSR SysReg = 0xb4420
)

// Mrs reads a system register.
func (a *Asm) Mrs(d Reg, r SysReg) { a.put(0xd5300000 | uint32(r) | rd[d]) }

// Msr writes a system register.
func (a *Asm) Msr(r SysReg, n Reg) { a.put(0xd5100000 | uint32(r) | rd[n]) }
