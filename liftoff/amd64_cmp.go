package liftoff

import (
	"github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/decoder"
)

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
	if m.arm {
		m.armCompare(p)
		return
	}
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

// branch emits comparison p and a jump if condition cc, its own or the
// opposite, holds.
func (m *masm) branch(p comparison, cc cond, l *jumpLabel) {
	if m.arm {
		m.armBranch(p, cc, l)
		return
	}
	m.compare(p)
	switch cc {
	case condFEq:
		nan := m.x.JccShort(amd64.P)
		m.x.JccL(amd64.E, &l.x)
		m.x.PatchShort(nan)
	case condFNe:
		m.x.JccL(amd64.NE, &l.x)
		m.x.JccL(amd64.P, &l.x)
	default:
		m.x.JccL(conds[cc], &l.x)
	}
}

// setBool emits comparison p and its outcome as 0 or 1 in d, which may be one
// of the compared registers.
func (m *masm) setBool(d reg, p comparison) {
	if m.arm {
		m.armSetBool(d, p)
		return
	}
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

// selectReg emits d = x if the condition of the last comparison holds, else y.
// d isn't y unless it is x. Floating-point equality takes two flags and has no
// such form on amd64.
func (m *masm) selectReg(t decoder.Type, cc cond, d, x, y reg) {
	if m.arm {
		m.armSelectReg(t, cc, d, x, y)
		return
	}
	if cc == condFEq || cc == condFNe {
		panic("liftoff: select on two flags")
	}
	m.move(t, d, x)
	if !t.IsFloat() {
		m.x.Cmov(conds[condNot[cc]], amd64.S64, gp(d), gp(y))
		return
	}
	keep := m.x.JccShort(conds[cc])
	m.x.MovapsRR(fp(d), fp(y))
	m.x.PatchShort(keep)
}

// jumpTable emits the dispatch of br_table on index, which is in range: a jump
// into a table of slots that jumpSlot calls fill, in code but no data. A slot is
// a near jump and nothing else: in modules that Go's compiler made, tables are
// a fifth of the code.
func (c *Compiler) jumpTable(index reg) {
	if c.arm {
		c.armJumpTable(index)
		return
	}
	t := gp(c.alloc(allGP))
	a := &c.x
	at := a.LeaRIP(t)
	// The index times 5, the size of a slot.
	a.Lea(amd64.S64, t, amd64.AtIdx(t, gp(index), 2, 0))
	a.AluRR(amd64.ADD, amd64.S64, t, gp(index))
	a.JmpR(t)
	a.PatchRel32(at, a.Pos())
}

// jumpSlot emits one slot of a jump table.
func (m *masm) jumpSlot(l *jumpLabel) {
	if m.arm {
		m.armJumpSlot(l)
		return
	}
	end := m.x.Pos() + 5
	m.jump(l)
	for m.x.Pos() < end {
		m.x.Int3()
	}
}
