package arm64

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

// Rows that let every deck of registers be dealt out, and of logical
// immediates.
const (
	regRows     = 64
	logicalRows = 128
)

var f = fmt.Sprintf

var forms = slices.Concat(intForms, memForms, floatForms, branchForms)

type named[T any] struct {
	op   T
	name string
}

var (
	aluOps = []named[Alu]{{ADD, "add"}, {ADDS, "adds"}, {SUB, "sub"}, {SUBS, "subs"}, {AND, "and"}, {BIC, "bic"},
		{ORR, "orr"}, {ORN, "orn"}, {EOR, "eor"}, {EON, "eon"}, {ANDS, "ands"}, {BICS, "bics"}}
	addOps   = aluOps[:4]
	logicOps = []named[Alu]{{AND, "and"}, {ORR, "orr"}, {EOR, "eor"}, {ANDS, "ands"}}
	shifts   = []named[Shift]{{LSL, "lsl"}, {LSR, "lsr"}, {ASR, "asr"}, {ROR, "ror"}}
	extends  = []named[Extend]{{UXTB, "uxtb"}, {UXTH, "uxth"}, {UXTW, "uxtw"}, {UXTX, "uxtx"},
		{SXTB, "sxtb"}, {SXTH, "sxth"}, {SXTW, "sxtw"}, {SXTX, "sxtx"}}
	wides = []named[MovWide]{{MOVN, "movn"}, {MOVZ, "movz"}, {MOVK, "movk"}}
	bits2 = []named[Bits2]{{UDIV, "udiv"}, {SDIV, "sdiv"}, {LSLV, "lsl"}, {LSRV, "lsr"}, {ASRV, "asr"}, {RORV, "ror"}}
	bits1 = []named[Bits1]{{RBIT, "rbit"}, {CLZ, "clz"}}
)

var intForms = []form{
	{"AluRR", 3 * regRows, func(a *Asm, p *picker) string {
		op, s, d, n, m := oneOf(p, aluOps), p.size(), p.reg31(), p.reg31(), p.reg31()
		a.AluRR(op.op, s, d, n, m)
		return f("%s %s, %s, %s", op.name, gn(s, d), gn(s, n), gn(s, m))
	}},
	{"AluShift", 3 * regRows, func(a *Asm, p *picker) string {
		op, s, d, n, m := oneOf(p, aluOps), p.size(), p.reg31(), p.reg31(), p.reg31()
		sh, k := oneOf(p, shifts), p.amount(s)
		if op.op.arith() && sh.op == ROR {
			sh = shifts[0]
		}
		a.AluShift(op.op, s, d, n, m, sh.op, k)
		return f("%s %s, %s, %s, %s #%d", op.name, gn(s, d), gn(s, n), gn(s, m), sh.name, k)
	}},
	{"AluExt", 3 * regRows, func(a *Asm, p *picker) string {
		op, s, d, n, m := oneOf(p, addOps), p.size(), p.reg31(), p.reg31(), p.reg31()
		x, k := oneOf(p, extends), uint8(p.Pick(5))
		a.AluExt(op.op, s, d, n, m, x.op, k)
		dn := sn(s, d)
		if op.op == ADDS || op.op == SUBS {
			dn = gn(s, d)
		}
		ms := S32
		if s == S64 && x.op&UXTX == UXTX {
			ms = S64
		}
		return f("%s %s, %s, %s, %s #%d", op.name, dn, sn(s, n), gn(ms, m), x.name, k)
	}},
	{"AddI", 3 * regRows, func(a *Asm, p *picker) string {
		op, s, d, n := oneOf(p, addOps), p.size(), p.reg31(), p.reg31()
		v := oneOf(p, []uint32{0, 1, 255, 256, 0x7ff, 0x800, 4095, 4096, 0x123000, 0xfff000})
		a.AddI(op.op, s, d, n, v)
		dn := sn(s, d)
		if op.op == ADDS || op.op == SUBS {
			dn = gn(s, d)
		}
		return f("%s %s, %s, #%#x", op.name, dn, sn(s, n), v)
	}},
	{"LogicI", logicalRows, func(a *Asm, p *picker) string {
		op, s, d, n := oneOf(p, logicOps), p.size(), p.reg31(), p.reg31()
		v := p.logical(s)
		a.LogicI(op.op, s, d, n, v)
		dn := sn(s, d)
		if op.op == ANDS {
			dn = gn(s, d)
		}
		return f("%s %s, %s, #%#x", op.name, dn, gn(s, n), v)
	}},
	{"MovRR", regRows, func(a *Asm, p *picker) string {
		s, d, n := p.size(), p.reg31(), p.reg31()
		a.MovRR(s, d, n)
		return f("mov %s, %s", gn(s, d), gn(s, n))
	}},
	{"MovSP.from", regRows, func(a *Asm, p *picker) string {
		d := p.reg()
		a.MovSP(d, SP)
		return f("mov %s, sp", xn(d))
	}},
	{"MovSP.to", regRows, func(a *Asm, p *picker) string {
		n := p.reg()
		a.MovSP(SP, n)
		return f("mov sp, %s", xn(n))
	}},
	{"MovI", 2 * regRows, func(a *Asm, p *picker) string {
		op, s, d := oneOf(p, wides), p.size(), p.reg31()
		v, lane := oneOf(p, []uint16{0, 1, 0x1234, 0x7fff, 0x8000, 0xffff}), uint8(p.Pick(4))&(2<<s-1)
		a.MovI(op.op, s, d, v, lane)
		return f("%s %s, #%#x, lsl #%d", op.name, gn(s, d), v, 16*lane)
	}},
	{"BitsRR", 2 * regRows, func(a *Asm, p *picker) string {
		op, s, d, n, m := oneOf(p, bits2), p.size(), p.reg31(), p.reg31(), p.reg31()
		a.BitsRR(op.op, s, d, n, m)
		return f("%s %s, %s, %s", op.name, gn(s, d), gn(s, n), gn(s, m))
	}},
	{"BitsR", regRows, func(a *Asm, p *picker) string {
		op, s, d, n := oneOf(p, bits1), p.size(), p.reg31(), p.reg31()
		a.BitsR(op.op, s, d, n)
		return f("%s %s, %s", op.name, gn(s, d), gn(s, n))
	}},
	{"ShiftI", 2 * regRows, func(a *Asm, p *picker) string {
		sh, s, d, n := oneOf(p, shifts), p.size(), p.reg31(), p.reg31()
		k := p.amount(s)
		a.ShiftI(sh.op, s, d, n, k)
		return f("%s %s, %s, #%d", sh.name, gn(s, d), gn(s, n), k)
	}},
	{"SignExt", regRows, func(a *Asm, p *picker) string {
		w, d, n := p.Pick(3), p.reg31(), p.reg31()
		s := p.size()
		if w == 2 {
			s = S64
		}
		a.SignExt(s, d, n, 8<<w)
		return f("sxt%c %s, %s", "bhw"[w], gn(s, d), gn(S32, n))
	}},
	{"Madd", regRows, func(a *Asm, p *picker) string {
		s, d, n, m, x := p.size(), p.reg31(), p.reg31(), p.reg31(), p.reg31()
		a.Madd(s, d, n, m, x)
		return f("madd %s, %s, %s, %s", gn(s, d), gn(s, n), gn(s, m), gn(s, x))
	}},
	{"Msub", regRows, func(a *Asm, p *picker) string {
		s, d, n, m, x := p.size(), p.reg31(), p.reg31(), p.reg31(), p.reg31()
		a.Msub(s, d, n, m, x)
		return f("msub %s, %s, %s, %s", gn(s, d), gn(s, n), gn(s, m), gn(s, x))
	}},
	{"Csel", regRows, func(a *Asm, p *picker) string {
		c, s, d, n, m := p.cond(), p.size(), p.reg31(), p.reg31(), p.reg31()
		a.Csel(c, s, d, n, m)
		return f("csel %s, %s, %s, %s", gn(s, d), gn(s, n), gn(s, m), condNames[c])
	}},
	{"Cset", regRows, func(a *Asm, p *picker) string {
		c, s, d := p.cond(), p.size(), p.reg31()
		a.Cset(c, s, d)
		return f("cset %s, %s", gn(s, d), condNames[c])
	}},
	{"CcmpI", regRows, func(a *Asm, p *picker) string {
		c, s, n, v, fl := p.cond(), p.size(), p.reg31(), uint8(p.Pick(32)), uint8(p.Pick(16))
		a.CcmpI(c, s, n, v, fl)
		return f("ccmp %s, #%#x, #%#x, %s", gn(s, n), v, fl, condNames[c])
	}},
	{"Udf", 4, func(a *Asm, p *picker) string {
		v := oneOf(p, []uint16{0, 1, 0x1234, 0xffff})
		a.Udf(v)
		return f("udf #%d", v)
	}},
	{"Brk", 4, func(a *Asm, p *picker) string {
		v := oneOf(p, []uint16{0, 1, 0x1234, 0xffff})
		a.Brk(v)
		return f("brk #%#x", v)
	}},
	{"Nop", 1, func(a *Asm, _ *picker) string { a.Nop(); return "nop" }},
	{"Mrs", regRows, func(a *Asm, p *picker) string {
		r, d := oneOf(p, sysRegs), p.reg()
		a.Mrs(d, r.op)
		return f("mrs %s, %s", xn(d), r.name)
	}},
	{"Msr", regRows, func(a *Asm, p *picker) string {
		r, n := oneOf(p, sysRegs), p.reg()
		a.Msr(r.op, n)
		return f("msr %s, %s", r.name, xn(n))
	}},
}

var sysRegs = []named[SysReg]{{NZCV, "nzcv"}, {FPCR, "fpcr"}, {FPSR, "fpsr"}}

// access names an access and its register file.
type access struct {
	op     Access
	name   string
	prefix string
}

func (x access) reg(r Reg) string {
	switch x.prefix {
	case "w":
		return gn(S32, r)
	case "x":
		return gn(S64, r)
	}
	return f("%s%d", x.prefix, r)
}

var accesses = []access{
	{STRB, "strb", "w"}, {LDRB, "ldrb", "w"}, {LDRSBX, "ldrsb", "x"}, {LDRSBW, "ldrsb", "w"},
	{STRH, "strh", "w"}, {LDRH, "ldrh", "w"}, {LDRSHX, "ldrsh", "x"}, {LDRSHW, "ldrsh", "w"},
	{STRW, "str", "w"}, {LDRW, "ldr", "w"}, {LDRSW, "ldrsw", "x"}, {STRX, "str", "x"}, {LDRX, "ldr", "x"},
	{STRS, "str", "s"}, {LDRS, "ldr", "s"}, {STRD, "str", "d"}, {LDRD, "ldr", "d"}, {STRQ, "str", "q"}, {LDRQ, "ldr", "q"},
}

type pairing struct {
	op     Pair
	name   string
	prefix string
}

func (x pairing) reg(r Reg) string { return access{prefix: x.prefix}.reg(r) }

var pairs = []pairing{{STPX, "stp", "x"}, {LDPX, "ldp", "x"}, {STPD, "stp", "d"}, {LDPD, "ldp", "d"}, {STPQ, "stp", "q"}, {LDPQ, "ldp", "q"}}

// pairCase draws the operands of a pair; a load must name two registers, and
// no base that it writes back.
func pairCase(p *picker) (x pairing, r, s, base Reg, off int32) {
	x, r, s = oneOf(p, pairs), p.reg(), p.reg()
	base = oneOf(p, []Reg{SP, X16, X27})
	off = int32(oneOf(p, []int{-64, -63, -1, 0, 1, 2, 62, 63})) << x.op.log2()
	for r == s || x.prefix == "x" && (r == base || s == base) {
		r = (r + 1) % 31
		if s == base {
			s = (s + 1) % 31
		}
	}
	return
}

// indexed draws a register other than a base that is written back.
func indexed(p *picker) (x access, r, base Reg, off int32) {
	x, r, base = oneOf(p, accesses), p.reg(), oneOf(p, []Reg{SP, X16, X27})
	off = oneOf(p, []int32{-256, -255, -1, 0, 1, 8, 16, 254, 255})
	if r == base {
		r--
	}
	return
}

var memForms = []form{
	{"LdSt", 4 * regRows, func(a *Asm, p *picker) string {
		x, r, base := oneOf(p, accesses), p.reg(), p.reg31()
		n := x.op.Log2()
		off := int32(oneOf(p, []int{0, 1, 2, 255, 256, 257, 4094, 4095})) << n
		a.LdSt(x.op, r, base, off)
		return f("%s %s, [%s, #%d]", x.name, x.reg(r), bn(base), off)
	}},
	{"LdSt.unscaled", 3 * regRows, func(a *Asm, p *picker) string {
		x, r, base := oneOf(p, accesses), p.reg(), p.reg31()
		off := oneOf(p, []int32{-256, -255, -8, -1})
		a.LdSt(x.op, r, base, off)
		name := x.name[:2] + "u" + x.name[2:]
		return f("%s %s, [%s, #%d]", name, x.reg(r), bn(base), off)
	}},
	{"LdStIdx", 3 * regRows, func(a *Asm, p *picker) string {
		x, r, base, i, scaled := oneOf(p, accesses), p.reg(), p.reg31(), p.reg(), p.bool()
		n := x.op.Log2()
		if n == 0 {
			scaled = false
		}
		a.LdStIdx(x.op, r, base, i, scaled)
		if scaled {
			return f("%s %s, [%s, %s, lsl #%d]", x.name, x.reg(r), bn(base), xn(i), n)
		}
		return f("%s %s, [%s, %s]", x.name, x.reg(r), bn(base), xn(i))
	}},
	{"LdStPre", 2 * regRows, func(a *Asm, p *picker) string {
		x, r, base, off := indexed(p)
		a.LdStPre(x.op, r, base, off)
		return f("%s %s, [%s, #%d]!", x.name, x.reg(r), bn(base), off)
	}},
	{"LdStPost", 2 * regRows, func(a *Asm, p *picker) string {
		x, r, base, off := indexed(p)
		a.LdStPost(x.op, r, base, off)
		return f("%s %s, [%s], #%d", x.name, x.reg(r), bn(base), off)
	}},
	{"LdStPair", 2 * regRows, func(a *Asm, p *picker) string {
		x, r, s, base, off := pairCase(p)
		a.LdStPair(x.op, r, s, base, off)
		return f("%s %s, %s, [%s, #%d]", x.name, x.reg(r), x.reg(s), bn(base), off)
	}},
	{"LdStPairPre", 2 * regRows, func(a *Asm, p *picker) string {
		x, r, s, base, off := pairCase(p)
		a.LdStPairPre(x.op, r, s, base, off)
		return f("%s %s, %s, [%s, #%d]!", x.name, x.reg(r), x.reg(s), bn(base), off)
	}},
	{"LdStPairPost", 2 * regRows, func(a *Asm, p *picker) string {
		x, r, s, base, off := pairCase(p)
		a.LdStPairPost(x.op, r, s, base, off)
		return f("%s %s, %s, [%s], #%d", x.name, x.reg(r), x.reg(s), bn(base), off)
	}},
}

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

// Branches are emitted as their user does: the instruction, then its target.
func branch(method string, reach int, emit func(a *Asm, p *picker) (int, string)) form {
	return form{method, regRows, func(a *Asm, p *picker) string {
		d := oneOf(p, []int{-reach, 4 - reach, -8, -4, 0, 4, 8, reach - 8, reach - 4})
		at, text := emit(a, p)
		a.PatchBranch(at, at+d)
		return f("%s.%+d", text, d)
	}}
}

var branchForms = []form{
	branch("B", 1<<27, func(a *Asm, _ *picker) (int, string) { return a.B(), "b " }),
	branch("BL", 1<<27, func(a *Asm, _ *picker) (int, string) { return a.BL(0), "bl " }),
	branch("BCond", 1<<20, func(a *Asm, p *picker) (int, string) {
		c := p.cond()
		return a.BCond(c), "b." + condNames[c] + " "
	}),
	branch("Cbz", 1<<20, func(a *Asm, p *picker) (int, string) {
		nz, s, r := p.bool(), p.size(), p.reg31()
		return a.Cbz(nz, s, r), f("%s %s, ", signed(nz, "cbnz", "cbz"), gn(s, r))
	}),
	branch("Tbz", 1<<15, func(a *Asm, p *picker) (int, string) {
		nz, r, bit := p.bool(), p.reg31(), uint8(p.Pick(64))
		return a.Tbz(nz, r, bit), f("%s %s, #%d, ", signed(nz, "tbnz", "tbz"), gn(Size(bit/32), r), bit)
	}),
	branch("Adr", 1<<20, func(a *Asm, p *picker) (int, string) {
		d := p.reg31()
		return a.Adr(d), f("adr %s, ", xn(d))
	}),
	// GNU as leaves it to the linker, so it has no rows in the golden file.
	{"Adrp", 0, func(a *Asm, p *picker) string {
		d, n := p.reg31(), oneOf(p, []int32{-1 << 20, 1 - 1<<20, -2, -1, 1, 2, 5, 1<<20 - 1})
		a.Adrp(d, n)
		return f("adrp %s, .%+d", xn(d), int64(n)<<12)
	}},
	{"Br", 31, func(a *Asm, p *picker) string { r := p.reg(); a.Br(r); return f("br %s", xn(r)) }},
	{"Blr", 31, func(a *Asm, p *picker) string { r := p.reg(); a.Blr(r); return f("blr %s", xn(r)) }},
	{"Ret", 1, func(a *Asm, _ *picker) string { a.Ret(); return "ret" }},
}
