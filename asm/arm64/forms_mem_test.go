package arm64

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
