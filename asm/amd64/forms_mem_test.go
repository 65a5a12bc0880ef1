package amd64

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
