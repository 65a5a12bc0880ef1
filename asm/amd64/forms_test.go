package amd64

import (
	"fmt"
	"slices"
)

// form is an encoder under test: emit draws operands, encodes one instruction
// and returns its text. method is the encoder's name, with a suffix after a
// dot where it has several forms.
type form struct {
	method string
	rows   int // in the golden file
	emit   func(a *Asm, p *picker) string
}

// Rows that let every deck be dealt out: 16 registers, and 15 index registers
// of which half of the rows use one.
const (
	regRows = 32
	memRows = 64
)

var f = fmt.Sprintf

var forms = slices.Concat(intForms, memForms, shiftForms, branchForms, floatForms)

// one is a form without operands.
func one(method, text string, emit func(a *Asm)) form {
	return form{method, 1, func(a *Asm, _ *picker) string { emit(a); return text }}
}

// sized is a form with one register.
func sized(method, name string, emit func(*Asm, Size, Reg)) form {
	return form{method, regRows, func(a *Asm, p *picker) string {
		s, r := p.size(), p.reg()
		emit(a, s, r)
		return f("%s %s", name, rn(s, r))
	}}
}

// sized2 is a form with two registers of the same width.
func sized2(method, name string, emit func(*Asm, Size, Reg, Reg)) form {
	return form{method, regRows, func(a *Asm, p *picker) string {
		s, d, r := p.size(), p.reg(), p.reg()
		emit(a, s, d, r)
		return f("%s %s, %s", name, rn(s, d), rn(s, r))
	}}
}

// xchg names rax last where it has a short form, as x86asm does.
func xchg(a *Asm, s Size, x, y Reg) string {
	a.Xchg(s, x, y)
	if x == RAX {
		x, y = y, x
	}
	return f("xchg %s, %s", rn(s, x), rn(s, y))
}

var intForms = []form{
	{"AluRR", 2 * regRows, func(a *Asm, p *picker) string {
		op, s, d, r := p.alu(), p.size(), p.reg(), p.reg()
		a.AluRR(op, s, d, r)
		return f("%s %s, %s", aluName[op], rn(s, d), rn(s, r))
	}},
	{"AluRI", 2 * memRows, func(a *Asm, p *picker) string {
		op, s, d, v := p.alu(), p.size(), p.reg(), p.imm()
		a.AluRI(op, s, d, v)
		return f("%s %s, %#x", aluName[op], rn(s, d), v)
	}},
	{"AluRI.rax", regRows, func(a *Asm, p *picker) string {
		op, s, v := p.alu(), p.size(), p.imm()
		a.AluRI(op, s, RAX, v)
		return f("%s %s, %#x", aluName[op], rn(s, RAX), v)
	}},
	{"TestRR", regRows, func(a *Asm, p *picker) string {
		s, x, y := p.size(), p.reg(), p.reg()
		a.TestRR(s, x, y)
		return f("test %s, %s", rn(s, x), rn(s, y))
	}},
	{"TestRI", regRows, func(a *Asm, p *picker) string {
		s, x, v := p.size(), p.reg(), p.imm()
		a.TestRI(s, x, v)
		return f("test %s, %#x", rn(s, x), v)
	}},
	sized2("MovRR", "mov", (*Asm).MovRR),
	{"MovRI32", regRows, func(a *Asm, p *picker) string {
		d, v := p.reg(), p.imm()
		a.MovRI32(d, uint32(v))
		return f("mov %s, %#x", rn(S32, d), v)
	}},
	{"MovRI64.imm32", regRows, func(a *Asm, p *picker) string {
		d, v := p.reg(), p.imm()
		a.MovRI64(d, uint64(uint32(v)))
		return f("mov %s, %#x", rn(S32, d), v)
	}},
	{"MovRI64.simm32", regRows, func(a *Asm, p *picker) string {
		d, v := p.reg(), p.imm()|-1<<31
		a.MovRI64(d, uint64(int64(v)))
		return f("mov %s, %#x", rn(S64, d), v)
	}},
	{"MovRI64.imm64", regRows, func(a *Asm, p *picker) string {
		d := p.reg()
		v := [...]uint64{1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1<<31 - 1, 0x123456789abcdef0}[p.Pick(5)]
		a.MovRI64(d, v)
		return f("mov %s, %#x", rn(S64, d), v)
	}},
	{"MovZX8RR", regRows, func(a *Asm, p *picker) string {
		d, r := p.reg(), p.reg()
		a.MovZX8RR(d, r)
		return f("movzx %s, %s", rn(S32, d), names8[r])
	}},
	{"MovZX16RR", regRows, func(a *Asm, p *picker) string {
		d, r := p.reg(), p.reg()
		a.MovZX16RR(d, r)
		return f("movzx %s, %s", rn(S32, d), names16[r])
	}},
	{"MovSX8RR", regRows, func(a *Asm, p *picker) string {
		s, d, r := p.size(), p.reg(), p.reg()
		a.MovSX8RR(s, d, r)
		return f("movsx %s, %s", rn(s, d), names8[r])
	}},
	{"MovSX16RR", regRows, func(a *Asm, p *picker) string {
		s, d, r := p.size(), p.reg(), p.reg()
		a.MovSX16RR(s, d, r)
		return f("movsx %s, %s", rn(s, d), names16[r])
	}},
	{"MovSXDRR", regRows, func(a *Asm, p *picker) string {
		d, r := p.reg(), p.reg()
		a.MovSXDRR(d, r)
		return f("movsxd %s, %s", rn(S64, d), rn(S32, r))
	}},
	sized("Neg", "neg", (*Asm).Neg),
	sized("Not", "not", (*Asm).Not),
	{"Xchg", regRows, func(a *Asm, p *picker) string {
		return xchg(a, p.size(), p.reg(), p.reg())
	}},
	{"Xchg.rax", regRows, func(a *Asm, p *picker) string {
		s, x, y := p.size(), RCX+Reg(p.Pick(15)), RAX
		if p.Pick(2) == 0 {
			x, y = y, x
		}
		return xchg(a, s, x, y)
	}},
	{"Setcc", regRows, func(a *Asm, p *picker) string {
		c, d := p.cond(), p.reg()
		a.Setcc(c, d)
		return f("set%s %s", ccName[c], names8[d])
	}},
	{"Cmov", regRows, func(a *Asm, p *picker) string {
		c, s, d, r := p.cond(), p.size(), p.reg(), p.reg()
		a.Cmov(c, s, d, r)
		return f("cmov%s %s, %s", ccName[c], rn(s, d), rn(s, r))
	}},
	sized2("ImulRR", "imul", (*Asm).ImulRR),
	{"ImulRRI", regRows, func(a *Asm, p *picker) string {
		s, d, r, v := p.size(), p.reg(), p.reg(), p.imm()
		a.ImulRRI(s, d, r, v)
		return f("imul %s, %s, %#x", rn(s, d), rn(s, r), v)
	}},
	sized("Mul", "mul", (*Asm).Mul),
	sized("Div", "div", (*Asm).Div),
	sized("Idiv", "idiv", (*Asm).Idiv),
	one("Cdq", "cdq", (*Asm).Cdq),
	one("Cqo", "cqo", (*Asm).Cqo),
	sized2("Bsf", "bsf", (*Asm).Bsf),
	sized2("Bsr", "bsr", (*Asm).Bsr),
	sized2("Tzcnt", "tzcnt", (*Asm).Tzcnt),
	sized2("Lzcnt", "lzcnt", (*Asm).Lzcnt),
	sized2("Popcnt", "popcnt", (*Asm).Popcnt),
	sized("Bswap", "bswap", (*Asm).Bswap),
	one("Ud2", "ud2", (*Asm).Ud2),
	one("Int3", "int3", (*Asm).Int3),
	one("RepMovsb", "rep movsb byte ptr [rdi], byte ptr [rsi]", (*Asm).RepMovsb),
	one("RepMovsq", "rep movsq qword ptr [rdi], qword ptr [rsi]", (*Asm).RepMovsq),
	one("RepStosb", "rep stosb byte ptr [rdi]", (*Asm).RepStosb),
	one("RepStosq", "rep stosq qword ptr [rdi]", (*Asm).RepStosq),
	one("Std", "std", (*Asm).Std),
	one("Cld", "cld", (*Asm).Cld),
	one("Mfence", "mfence", (*Asm).Mfence),
	one("Lfence", "lfence", (*Asm).Lfence),
	one("Pause", "pause", (*Asm).Pause),
}

var shiftForms = []form{
	{"ShiftRI", memRows, func(a *Asm, p *picker) string {
		op, s, d := p.shift(), p.size(), p.reg()
		n := p.count(s)
		a.ShiftRI(op, s, d, n)
		return f("%s %s, %#x", shName[op], rn(s, d), n)
	}},
	{"ShiftCL", regRows, func(a *Asm, p *picker) string {
		op, s, d := p.shift(), p.size(), p.reg()
		a.ShiftCL(op, s, d)
		return f("%s %s, cl", shName[op], rn(s, d))
	}},
	{"ShiftX", regRows, func(a *Asm, p *picker) string {
		op := [...]Shift{SHL, SHR, SAR}[p.Pick(3)]
		s, d, r, c := p.size(), p.reg(), p.reg(), p.reg()
		a.ShiftX(op, s, d, r, c)
		return f("%sx %s, %s, %s", shName[op], rn(s, d), rn(s, r), rn(s, c))
	}},
	{"Rorx", regRows, func(a *Asm, p *picker) string {
		s, d, r := p.size(), p.reg(), p.reg()
		n := p.count(s)
		a.Rorx(s, d, r, n)
		return f("rorx %s, %s, %#x", rn(s, d), rn(s, r), n)
	}},
}

// reg64 is a form with one 64-bit register.
func reg64(method, name string, emit func(*Asm, Reg)) form {
	return form{method, regRows, func(a *Asm, p *picker) string {
		r := p.reg()
		emit(a, r)
		return f("%s %s", name, rn(S64, r))
	}}
}

// mem64 is a form with one 8-byte memory operand.
func mem64(method, name string, emit func(*Asm, Mem)) form {
	return form{method, memRows, func(a *Asm, p *picker) string {
		m := p.mem()
		emit(a, m)
		return f("%s %s", name, memW(S64, m))
	}}
}

var branchForms = []form{
	one("CallRel", "call .+0x5", func(a *Asm) { a.CallRel() }),
	one("JmpRel", "{disp32} jmp .+0x5", func(a *Asm) { a.JmpRel() }),
	one("JmpShort", "jmp .+0x2", func(a *Asm) { a.JmpShort() }),
	{"Jcc", regRows, func(a *Asm, p *picker) string {
		c := p.cond()
		a.Jcc(c)
		return f("{disp32} j%s .+0x6", ccName[c])
	}},
	{"JccShort", regRows, func(a *Asm, p *picker) string {
		c := p.cond()
		a.JccShort(c)
		return f("j%s .+0x2", ccName[c])
	}},
	reg64("CallR", "call", (*Asm).CallR),
	reg64("JmpR", "jmp", (*Asm).JmpR),
	mem64("CallM", "call", (*Asm).CallM),
	mem64("JmpM", "jmp", (*Asm).JmpM),
	reg64("Push", "push", (*Asm).Push),
	reg64("Pop", "pop", (*Asm).Pop),
	one("Leave", "leave", (*Asm).Leave),
	one("Ret", "ret", (*Asm).Ret),
}
