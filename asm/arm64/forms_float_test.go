package arm64

var (
	float2s = []named[Float2]{{FMUL, "fmul"}, {FDIV, "fdiv"}, {FADD, "fadd"}, {FSUB, "fsub"}, {FMAX, "fmax"}, {FMIN, "fmin"}}
	float1s = []named[Float1]{{FMOV, "fmov"}, {FABS, "fabs"}, {FNEG, "fneg"}, {FSQRT, "fsqrt"},
		{FRINTN, "frintn"}, {FRINTP, "frintp"}, {FRINTM, "frintm"}, {FRINTZ, "frintz"}}
)

// signed picks between the names of a signed and an unsigned instruction.
func signed(s bool, yes, no string) string {
	if s {
		return yes
	}
	return no
}

var floatForms = []form{
	{"FloatRR", 2 * regRows, func(a *Asm, p *picker) string {
		op, w, d, n, m := oneOf(p, float2s), p.double(), p.vreg(), p.vreg(), p.vreg()
		a.FloatRR(op.op, w, d, n, m)
		return f("%s %s, %s, %s", op.name, vn(w, d), vn(w, n), vn(w, m))
	}},
	{"FloatR", 2 * regRows, func(a *Asm, p *picker) string {
		op, w, d, n := oneOf(p, float1s), p.double(), p.vreg(), p.vreg()
		a.FloatR(op.op, w, d, n)
		return f("%s %s, %s", op.name, vn(w, d), vn(w, n))
	}},
	{"Fcvt", regRows, func(a *Asm, p *picker) string {
		narrow, d, n := p.bool(), p.vreg(), p.vreg()
		a.Fcvt(narrow, d, n)
		return f("fcvt %s, %s", vn(!narrow, d), vn(narrow, n))
	}},
	{"Fcmp", regRows, func(a *Asm, p *picker) string {
		w, n, m := p.double(), p.vreg(), p.vreg()
		a.Fcmp(w, n, m)
		return f("fcmp %s, %s", vn(w, n), vn(w, m))
	}},
	{"Fccmp", regRows, func(a *Asm, p *picker) string {
		c, w, n, m, fl := p.cond(), p.double(), p.vreg(), p.vreg(), uint8(p.Pick(16))
		a.Fccmp(c, w, n, m, fl)
		return f("fccmp %s, %s, #%#x, %s", vn(w, n), vn(w, m), fl, condNames[c])
	}},
	{"Fcsel", regRows, func(a *Asm, p *picker) string {
		c, w, d, n, m := p.cond(), p.double(), p.vreg(), p.vreg(), p.vreg()
		a.Fcsel(c, w, d, n, m)
		return f("fcsel %s, %s, %s, %s", vn(w, d), vn(w, n), vn(w, m), condNames[c])
	}},
	{"FmovI", 256, func(a *Asm, p *picker) string {
		w, d, v := p.double(), p.vreg(), expandFloat(uint8(p.Pick(256)))
		bits := floatBits(w, v)
		a.FmovI(w, d, bits)
		return f("fmov %s, #%.8f", vn(w, d), v)
	}},
	{"FmovVR", regRows, func(a *Asm, p *picker) string {
		s, d, n := p.size(), p.vreg(), p.reg31()
		a.FmovVR(s, d, n)
		return f("fmov %s, %s", vn(s == S64, d), gn(s, n))
	}},
	{"FmovRV", regRows, func(a *Asm, p *picker) string {
		s, d, n := p.size(), p.reg31(), p.vreg()
		a.FmovRV(s, d, n)
		return f("fmov %s, %s", gn(s, d), vn(s == S64, n))
	}},
	{"CvtToFloat", regRows, func(a *Asm, p *picker) string {
		sg, w, s, d, n := p.bool(), p.double(), p.size(), p.vreg(), p.reg31()
		a.CvtToFloat(sg, w, s, d, n)
		return f("%s %s, %s", signed(sg, "scvtf", "ucvtf"), vn(w, d), gn(s, n))
	}},
	{"CvtToInt", regRows, func(a *Asm, p *picker) string {
		sg, w, s, d, n := p.bool(), p.double(), p.size(), p.reg31(), p.vreg()
		a.CvtToInt(sg, w, s, d, n)
		return f("%s %s, %s", signed(sg, "fcvtzs", "fcvtzu"), gn(s, d), vn(w, n))
	}},
	vector("MovV", "mov %[1]s.16b, %[2]s.16b", func(a *Asm, d, n, _ VReg) { a.MovV(d, n) }),
	vector("ZeroV", "movi %[1]s.2d, #0x0", func(a *Asm, d, _, _ VReg) { a.ZeroV(d) }),
	vector("SignsV", "movi %[1]s.4s, #0x80, lsl #24", func(a *Asm, d, _, _ VReg) { a.SignsV(d) }),
	vector("NegV2D", "fneg %[1]s.2d, %[2]s.2d", func(a *Asm, d, n, _ VReg) { a.NegV2D(d, n) }),
	vector("Bit", "bit %[1]s.16b, %[2]s.16b, %[3]s.16b", (*Asm).Bit),
	vector("Cnt8B", "cnt %[1]s.8b, %[2]s.8b", func(a *Asm, d, n, _ VReg) { a.Cnt8B(d, n) }),
	{"DupB", regRows, func(a *Asm, p *picker) string {
		d, n := p.vreg(), p.reg31()
		a.DupB(d, n)
		return f("dup v%d.16b, %s", d, gn(S32, n))
	}},
	{"Addv8B", regRows, func(a *Asm, p *picker) string {
		d, n := p.vreg(), p.vreg()
		a.Addv8B(d, n)
		return f("addv b%d, v%d.8b", d, n)
	}},
}

func vector(method, text string, emit func(a *Asm, d, n, m VReg)) form {
	return form{method, regRows, func(a *Asm, p *picker) string {
		d, n, m := p.vreg(), p.vreg(), p.vreg()
		emit(a, d, n, m)
		return f(text+"%[4]s", f("v%d", d), f("v%d", n), f("v%d", m), "")
	}}
}
