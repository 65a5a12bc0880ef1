package liftoff

import (
	"github.com/wasmjit/wasmjit/asm/arm64"
	"github.com/wasmjit/wasmjit/decoder"
)

// armConds are the machine's conditions. Each is one condition, those of
// floating-point numbers too: unordered operands clear Z and N and set C and V.
var armConds = [...]arm64.Cond{
	condEq: arm64.EQ, condNe: arm64.NE,
	condLtS: arm64.LT, condLtU: arm64.LO, condGtS: arm64.GT, condGtU: arm64.HI,
	condLeS: arm64.LE, condLeU: arm64.LS, condGeS: arm64.GE, condGeU: arm64.HS,
	condFEq: arm64.EQ, condFNe: arm64.NE,
	condFGt: arm64.GT, condFGe: arm64.GE, condFNgt: arm64.LE, condFNge: arm64.LT,
}

func (m *masm) armCompare(p comparison) {
	s := arm64.Size(p.w)
	switch p.kind {
	case cmpRegs:
		m.a.AluRR(arm64.SUBS, s, arm64.ZR, xr(p.x), xr(p.y))
	case cmpImm:
		m.armCompareImm(s, xr(p.x), int64(p.imm))
	case cmpTest:
		m.a.AddI(arm64.SUBS, s, arm64.ZR, xr(p.x), 0)
	case cmpTestRegs:
		m.a.AluRR(arm64.ANDS, s, arm64.ZR, xr(p.x), xr(p.y))
	case cmpTestImm:
		m.armTestImm(s, xr(p.x), int64(p.imm))
	case cmpFrame:
		op := arm64.LDRW
		if s == arm64.S64 {
			op = arm64.LDRX
		}
		m.ldst(op, armData, arm64.FP, p.off)
		m.a.AluRR(arm64.SUBS, s, arm64.ZR, xr(p.x), armData)
	case cmpFloat:
		m.a.Fcmp(fwidth(p.w).double(), vr(p.x), vr(p.y))
	}
}

// armCompareImm compares x with v; adding the opposite of a negative number
// sets the same flags.
func (m *masm) armCompareImm(s arm64.Size, x arm64.Reg, v int64) {
	switch {
	case v >= 0 && arm64.FitsArith(uint64(v)):
		m.a.AddI(arm64.SUBS, s, arm64.ZR, x, uint32(v))
	case v < 0 && arm64.FitsArith(uint64(-v)):
		m.a.AddI(arm64.ADDS, s, arm64.ZR, x, uint32(-v))
	default:
		if s == arm64.S32 {
			v = int64(uint32(v))
		}
		m.armConst(armData, s, uint64(v))
		m.a.AluRR(arm64.SUBS, s, arm64.ZR, x, armData)
	}
}

// armTestImm compares x & v with zero.
func (m *masm) armTestImm(s arm64.Size, x arm64.Reg, v int64) {
	bits := uint64(v)
	if s == arm64.S32 {
		bits = uint64(uint32(v))
	}
	if arm64.FitsLogical(s, bits) {
		m.a.LogicI(arm64.ANDS, s, arm64.ZR, x, bits)
		return
	}
	m.a.AluRR(arm64.ANDS, s, arm64.ZR, x, m.armConstReg(s, bits))
}

// armBranch emits a comparison and a jump if cc holds. A comparison with zero
// is part of the jump.
func (m *masm) armBranch(p comparison, cc cond, l *jumpLabel) {
	if p.kind == cmpTest && (cc == condEq || cc == condNe) {
		m.a.CbzL(cc == condNe, arm64.Size(p.w), xr(p.x), &l.a)
		return
	}
	m.armCompare(p)
	m.a.BCondL(armConds[cc], &l.a)
}

func (m *masm) armSetBool(d reg, p comparison) {
	m.armCompare(p)
	m.a.Cset(armConds[p.cond], arm64.S32, xr(d))
}

func (m *masm) armSelectReg(t decoder.Type, cc cond, d, x, y reg) {
	switch {
	case t == decoder.V128:
		// y first: d may be x, but not y.
		m.armMove(t, d, x)
		keep := m.a.BCond(armConds[cc])
		m.a.MovV(vr(d), vr(y))
		m.a.PatchHere(keep)
	case t.IsFloat():
		m.a.Fcsel(armConds[cc], true, vr(d), vr(x), vr(y))
	default:
		m.a.Csel(armConds[cc], armSize(t), xr(d), xr(x), xr(y))
	}
}

func (c *Compiler) armJumpTable(index reg) {
	a := &c.a
	at := a.Adr(armAddr)
	a.AluShift(arm64.ADD, arm64.S64, armAddr, armAddr, xr(index), arm64.LSL, 2)
	a.Br(armAddr)
	a.PatchHere(at)
}

func (m *masm) armJumpSlot(l *jumpLabel) { m.a.JumpL(&l.a) }
