package liftoff

import "github.com/wasmjit/wasmjit/asm/amd64"

// conds are the machine's conditions; floating-point equality, which also
// needs the parity flag, has the part without it.
var conds = [...]amd64.Cond{
	condEq: amd64.E, condNe: amd64.NE,
	condLtS: amd64.L, condLtU: amd64.B, condGtS: amd64.G, condGtU: amd64.A,
	condLeS: amd64.LE, condLeU: amd64.BE, condGeS: amd64.GE, condGeU: amd64.AE,
	condFEq: amd64.E, condFNe: amd64.NE,
	condFGt: amd64.A, condFGe: amd64.AE, condFNgt: amd64.BE, condFNge: amd64.B,
}

// compare emits a comparison; flags hold the outcome.
func (m *masm) compare(p comparison) {
	s := amd64.Size(p.w)
	switch p.kind {
	case cmpRegs:
		m.x.AluRR(amd64.CMP, s, gp(p.x), gp(p.y))
	case cmpImm:
		m.x.AluRI(amd64.CMP, s, gp(p.x), p.imm)
	case cmpTest:
		m.x.TestRR(s, gp(p.x), gp(p.x))
	case cmpTestRegs:
		m.x.TestRR(s, gp(p.x), gp(p.y))
	case cmpTestImm:
		m.x.TestRI(s, gp(p.x), p.imm)
	case cmpFrame:
		m.x.AluRM(amd64.CMP, s, gp(p.x), frameAt(p.off))
	case cmpFloat:
		m.x.SseRR(fwidth(p.w).sse(amd64.UCOMISS, amd64.UCOMISD), fp(p.x), fp(p.y))
	}
}

// jumpIf jumps if the condition of the last comparison holds.
func (m *masm) jumpIf(cc cond, l *jumpLabel) {
	switch cc {
	case condFEq:
		nan := m.x.JccShort(amd64.P)
		m.x.JccL(amd64.E, l)
		m.x.PatchShort(nan)
	case condFNe:
		m.x.JccL(amd64.NE, l)
		m.x.JccL(amd64.P, l)
	default:
		m.x.JccL(conds[cc], l)
	}
}

// jumpUnless jumps if the condition of the last comparison does not hold.
func (m *masm) jumpUnless(cc cond, l *jumpLabel) { m.jumpIf(condNot[cc], l) }

// setBool emits comparison p and its outcome as 0 or 1 in d, which may be one
// of the compared registers.
func (m *masm) setBool(d reg, p comparison) {
	switch p.cond {
	case condFEq, condFNe:
		unordered := uint32(0)
		if p.cond == condFNe {
			unordered = 1
		}
		m.x.MovRI32(gp(d), unordered)
		m.compare(p)
		nan := m.x.JccShort(amd64.P)
		m.x.Setcc(conds[p.cond], gp(d))
		m.x.PatchShort(nan)
	default:
		m.compare(p)
		m.x.Setcc(conds[p.cond], gp(d))
		m.x.MovZX8RR(gp(d), gp(d))
	}
}

// cmov emits d = s if the condition of the last comparison holds, on all 64
// bits. Floating-point equality takes two flags and has no such form.
func (m *masm) cmov(cc cond, d, s reg) {
	if cc == condFEq || cc == condFNe {
		panic("liftoff: conditional move on two flags")
	}
	m.x.Cmov(conds[cc], amd64.S64, gp(d), gp(s))
}

// selectFloat emits d = y unless the condition of the last comparison holds.
func (m *masm) selectFloat(cc cond, d, y reg) {
	if cc == condFEq || cc == condFNe {
		panic("liftoff: select on two flags")
	}
	keep := m.x.JccShort(conds[cc])
	m.x.MovapsRR(fp(d), fp(y))
	m.x.PatchShort(keep)
}

// jumpTable emits the dispatch of br_table on index, which is in range: a jump
// into a table of 8-byte slots that jumpSlot calls fill, in code but no data.
func (c *Compiler) jumpTable(index reg) {
	t := gp(c.alloc(allGP))
	a := &c.x
	at := a.LeaRIP(t)
	a.Lea(amd64.S64, t, amd64.AtIdx(t, gp(index), 3, 0))
	a.JmpR(t)
	a.PatchRel32(at, a.Pos())
}

// jumpSlot emits one slot of a jump table.
func (m *masm) jumpSlot(l *jumpLabel) {
	end := m.x.Pos() + 8
	m.jump(l)
	for m.x.Pos() < end {
		m.x.Int3()
	}
}
