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
