package amd64

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
