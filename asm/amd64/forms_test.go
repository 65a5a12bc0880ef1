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

// load is a form with a register of width s and a memory operand of bytes.
func load(method, name string, bytes int, s Size, emit func(*Asm, Reg, Mem)) form {
	return form{method, memRows, func(a *Asm, p *picker) string {
		d, m := p.reg(), p.mem()
		emit(a, d, m)
		return f("%s %s, %s", name, rn(s, d), ptr(bytes, m))
	}}
}

// sizedLoad is a form with a register of a variable width and a memory operand
// of bytes, or of the register's width if that is -1.
func sizedLoad(method, name string, bytes int, emit func(*Asm, Size, Reg, Mem)) form {
	return form{method, memRows, func(a *Asm, p *picker) string {
		s, d, m := p.size(), p.reg(), p.mem()
		emit(a, s, d, m)
		if bytes < 0 {
			return f("%s %s, %s", name, rn(s, d), memW(s, m))
		}
		return f("%s %s, %s", name, rn(s, d), ptr(bytes, m))
	}}
}

var everyMems = everyMem()

var memForms = []form{
	sizedLoad("MovRM", "mov", -1, (*Asm).MovRM),
	{"MovRM.every", len(everyMems), func(a *Asm, p *picker) string {
		m := everyMems[p.Pick(len(everyMems))]
		d := p.reg()
		a.MovRM(S64, d, m)
		return f("mov %s, %s", rn(S64, d), memW(S64, m))
	}},
	{"AluRM", memRows, func(a *Asm, p *picker) string {
		op, s, d, m := p.alu(), p.size(), p.reg(), p.mem()
		a.AluRM(op, s, d, m)
		return f("%s %s, %s", aluName[op], rn(s, d), memW(s, m))
	}},
	{"AluMR", memRows, func(a *Asm, p *picker) string {
		op, s, d, m := p.alu(), p.size(), p.reg(), p.mem()
		a.AluMR(op, s, m, d)
		return f("%s %s, %s", aluName[op], memW(s, m), rn(s, d))
	}},
	{"AluMI", memRows, func(a *Asm, p *picker) string {
		op, s, m, v := p.alu(), p.size(), p.mem(), p.imm()
		a.AluMI(op, s, m, v)
		return f("%s %s, %#x", aluName[op], memW(s, m), v)
	}},
	{"MovMR", memRows, func(a *Asm, p *picker) string {
		s, m, r := p.size(), p.mem(), p.reg()
		a.MovMR(s, m, r)
		return f("mov %s, %s", memW(s, m), rn(s, r))
	}},
	{"MovMR8", memRows, func(a *Asm, p *picker) string {
		m, r := p.mem(), p.reg()
		a.MovMR8(m, r)
		return f("mov %s, %s", ptr(1, m), names8[r])
	}},
	{"MovMR16", memRows, func(a *Asm, p *picker) string {
		m, r := p.mem(), p.reg()
		a.MovMR16(m, r)
		return f("mov %s, %s", ptr(2, m), names16[r])
	}},
	{"MovMI", memRows, func(a *Asm, p *picker) string {
		s, m, v := p.size(), p.mem(), p.imm()
		a.MovMI(s, m, v)
		return f("mov %s, %#x", memW(s, m), v)
	}},
	{"MovMI8", memRows, func(a *Asm, p *picker) string {
		m, v := p.mem(), uint8(p.imm())
		a.MovMI8(m, v)
		return f("mov %s, %#x", ptr(1, m), v)
	}},
	{"MovMI16", memRows, func(a *Asm, p *picker) string {
		m, v := p.mem(), int16(p.imm())
		a.MovMI16(m, uint16(v))
		return f("mov %s, %#x", ptr(2, m), v)
	}},
	load("LoadZX8", "movzx", 1, S32, (*Asm).LoadZX8),
	load("LoadZX16", "movzx", 2, S32, (*Asm).LoadZX16),
	sizedLoad("LoadSX8", "movsx", 1, (*Asm).LoadSX8),
	sizedLoad("LoadSX16", "movsx", 2, (*Asm).LoadSX16),
	load("LoadSXD", "movsxd", 4, S64, (*Asm).LoadSXD),
	sizedLoad("ImulRM", "imul", -1, (*Asm).ImulRM),
	sizedLoad("Lea", "lea", 0, (*Asm).Lea),
	{"LeaRIP", regRows, func(a *Asm, p *picker) string {
		d := p.reg()
		a.LeaRIP(d)
		return f("lea %s, [rip]", rn(S64, d))
	}},
	{"CmovM", memRows, func(a *Asm, p *picker) string {
		c, s, d, m := p.cond(), p.size(), p.reg(), p.mem()
		a.CmovM(c, s, d, m)
		return f("cmov%s %s, %s", ccName[c], rn(s, d), memW(s, m))
	}},
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

// sseOps are all operations of SseRR and SseRM, with the width of the memory
// operand.
var sseOps = []struct {
	op    Sse
	name  string
	bytes int
}{
	{ADDSS, "addss", 4}, {ADDSD, "addsd", 8}, {SUBSS, "subss", 4}, {SUBSD, "subsd", 8},
	{MULSS, "mulss", 4}, {MULSD, "mulsd", 8}, {DIVSS, "divss", 4}, {DIVSD, "divsd", 8},
	{MINSS, "minss", 4}, {MINSD, "minsd", 8}, {MAXSS, "maxss", 4}, {MAXSD, "maxsd", 8},
	{SQRTSS, "sqrtss", 4}, {SQRTSD, "sqrtsd", 8}, {UCOMISS, "ucomiss", 4}, {UCOMISD, "ucomisd", 8},
	{COMISS, "comiss", 4}, {COMISD, "comisd", 8}, {CVTSS2SD, "cvtss2sd", 4}, {CVTSD2SS, "cvtsd2ss", 8},
	{MOVSS, "movss", 4}, {MOVSD, "movsd", 8}, {MOVUPS, "movups", 16}, {MOVAPS, "movaps", 16}, {MOVQ, "movq", 8},
	{UNPCKLPS, "unpcklps", 16}, {UNPCKLPD, "unpcklpd", 16},
	{ANDPS, "andps", 16}, {ANDPD, "andpd", 16}, {ANDNPS, "andnps", 16}, {ANDNPD, "andnpd", 16},
	{ORPS, "orps", 16}, {ORPD, "orpd", 16}, {XORPS, "xorps", 16}, {XORPD, "xorpd", 16},
	{SUBPS, "subps", 16}, {SUBPD, "subpd", 16},
	{PCMPEQD, "pcmpeqd", 16}, {PAND, "pand", 16}, {PANDN, "pandn", 16}, {POR, "por", 16}, {PXOR, "pxor", 16},
}

// xload and xstore are moves between an SSE register and memory.
func xload(method, name string, bytes int, emit func(*Asm, XReg, Mem)) form {
	return form{method, memRows, func(a *Asm, p *picker) string {
		x, m := p.xreg(), p.mem()
		emit(a, x, m)
		return f("%s %s, %s", name, xn(x), ptr(bytes, m))
	}}
}

func xstore(method, name string, bytes int, emit func(*Asm, Mem, XReg)) form {
	return form{method, memRows, func(a *Asm, p *picker) string {
		m, x := p.mem(), p.xreg()
		emit(a, m, x)
		return f("%s %s, %s", name, ptr(bytes, m), xn(x))
	}}
}

// cmpPredicate is a form of a comparison with a predicate.
func cmpPredicate(method, suffix string, emit func(*Asm, XReg, XReg, uint8)) form {
	return form{method, regRows, func(a *Asm, p *picker) string {
		d, x, pred := p.xreg(), p.xreg(), uint8(p.Pick(8))
		emit(a, d, x, pred)
		return f("cmp%s %s, %s, %#x", suffix, xn(d), xn(x), pred)
	}}
}

// lanes is a form of a shift of packed lanes.
func lanes(method, name string, emit func(*Asm, Size, XReg, uint8)) form {
	return form{method, regRows, func(a *Asm, p *picker) string {
		s, x := p.size(), p.xreg()
		n := p.count(s)
		emit(a, s, x, n)
		return f("%s%s %s, %#x", name, [...]string{"d", "q"}[s], xn(x), n)
	}}
}

var floatForms = []form{
	{"SseRR", 2 * len(sseOps), func(a *Asm, p *picker) string {
		op, d, x := sseOps[p.Pick(len(sseOps))], p.xreg(), p.xreg()
		a.SseRR(op.op, d, x)
		return f("%s %s, %s", op.name, xn(d), xn(x))
	}},
	{"SseRM", 2 * len(sseOps), func(a *Asm, p *picker) string {
		op, d, m := sseOps[p.Pick(len(sseOps))], p.xreg(), p.mem()
		a.SseRM(op.op, d, m)
		return f("%s %s, %s", op.name, xn(d), ptr(op.bytes, m))
	}},
	{"MovapsRR", regRows, func(a *Asm, p *picker) string {
		d, x := p.xreg(), p.xreg()
		a.MovapsRR(d, x)
		return f("movaps %s, %s", xn(d), xn(x))
	}},
	xload("MovssRM", "movss", 4, (*Asm).MovssRM),
	xload("MovsdRM", "movsd", 8, (*Asm).MovsdRM),
	xload("MovupsRM", "movups", 16, (*Asm).MovupsRM),
	xload("MovapsRM", "movaps", 16, (*Asm).MovapsRM),
	xstore("MovssMR", "movss", 4, (*Asm).MovssMR),
	xstore("MovsdMR", "movsd", 8, (*Asm).MovsdMR),
	xstore("MovupsMR", "movups", 16, (*Asm).MovupsMR),
	xstore("MovapsMR", "movaps", 16, (*Asm).MovapsMR),
	{"MovdXR", regRows, func(a *Asm, p *picker) string {
		s, x, r := p.size(), p.xreg(), p.reg()
		a.MovdXR(s, x, r)
		return f("mov%s %s, %s", [...]string{"d", "q"}[s], xn(x), rn(s, r))
	}},
	{"MovdRX", regRows, func(a *Asm, p *picker) string {
		s, x, r := p.size(), p.xreg(), p.reg()
		a.MovdRX(s, r, x)
		return f("mov%s %s, %s", [...]string{"d", "q"}[s], rn(s, r), xn(x))
	}},
	{"CvtsiXR", regRows, func(a *Asm, p *picker) string {
		double, s, x, r := p.double(), p.size(), p.xreg(), p.reg()
		a.CvtsiXR(double, s, x, r)
		return f("cvtsi2%s %s, %s", sd(double), xn(x), rn(s, r))
	}},
	{"CvttRX", regRows, func(a *Asm, p *picker) string {
		double, s, x, r := p.double(), p.size(), p.xreg(), p.reg()
		a.CvttRX(double, s, r, x)
		return f("cvtt%s2si %s, %s", sd(double), rn(s, r), xn(x))
	}},
	{"RoundRR", regRows, func(a *Asm, p *picker) string {
		double, d, x, mode := p.double(), p.xreg(), p.xreg(), uint8(p.Pick(16))
		a.RoundRR(double, d, x, mode)
		return f("round%s %s, %s, %#x", sd(double), xn(d), xn(x), mode)
	}},
	{"BlendvRR", regRows, func(a *Asm, p *picker) string {
		double, d, x := p.double(), p.xreg(), p.xreg()
		a.BlendvRR(double, d, x)
		return f("blendvp%s %s, %s, xmm0", sd(double)[1:], xn(d), xn(x))
	}},
	cmpPredicate("CmpssRR", "ss", (*Asm).CmpssRR),
	cmpPredicate("CmpsdRR", "sd", (*Asm).CmpsdRR),
	lanes("PsrlImm", "psrl", (*Asm).PsrlImm),
	lanes("PsllImm", "psll", (*Asm).PsllImm),
	{"PsradImm", regRows, func(a *Asm, p *picker) string {
		x, n := p.xreg(), p.count(S32)
		a.PsradImm(x, n)
		return f("psrad %s, %#x", xn(x), n)
	}},
	{"Movmsk", regRows, func(a *Asm, p *picker) string {
		double, r, x := p.double(), p.reg(), p.xreg()
		a.Movmsk(double, r, x)
		return f("movmskp%s %s, %s", sd(double)[1:], rn(S32, r), xn(x))
	}},
}
