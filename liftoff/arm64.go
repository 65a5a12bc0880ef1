package liftoff

import (
	"math/bits"

	"github.com/wasmjit/wasmjit/asm/arm64"
	"github.com/wasmjit/wasmjit/decoder"
)

// The arm64 back end. Its macro operations have the names of amd64*.go with
// "arm" in front, and each is called by the branch at the top of its sibling.
//
// What macro operations need for themselves are registers without a role:
//
//	x16  addresses: a frame slot or instance field out of reach, an index added
//	     to a base, the target of a table jump
//	x17  data in transit: constants, memory operands, the target of a call
//	x15  the value between saveFrame and restoreSaved, a quotient
//	v16  floating-point constants, exchanges, counts of bits
//
// An access (ldst) may write x16 and nothing else, so x17 can hold what it
// stores. Constants are made in x17, or in x16 on the way to an address.

const (
	armAddr = arm64.X16
	armData = arm64.X17
	armKeep = arm64.X15
	armTmpV = arm64.V16
)

// armGP gives the hardware register of each role (roles.go).
var armGP = [16]arm64.Reg{
	roleArg0: arm64.X0, roleArg1: arm64.X1, roleArg2: arm64.X2, roleArg3: arm64.X3,
	roleScratch: arm64.X4, roleExtra0: arm64.X5, roleExtra1: arm64.X6,
	rolePin0: arm64.X19, rolePin0 + 1: arm64.X20, rolePin0 + 2: arm64.X21,
	rolePin0 + 3: arm64.X22, rolePin0 + 4: arm64.X23, rolePin0 + 5: arm64.X24,
	instReg: arm64.X25, memReg: arm64.X26, ctxReg: arm64.X27,
}

func xr(r reg) arm64.Reg  { return armGP[r&15] }
func vr(r reg) arm64.VReg { return arm64.VReg(r - fpBase) }

// armSize is the operand size of integers and references of type t.
func armSize(t decoder.Type) arm64.Size {
	if t == decoder.I32 {
		return arm64.S32
	}
	return arm64.S64
}

func (w width) arm() arm64.Size { return arm64.Size(w) }

func (m *masm) armMove(t decoder.Type, d, s reg) {
	switch {
	case d == s:
	case t == decoder.V128:
		m.a.MovV(vr(d), vr(s))
	case t.IsFloat():
		m.a.FloatR(arm64.FMOV, true, vr(d), vr(s))
	default:
		m.a.MovRR(armSize(t), xr(d), xr(s))
	}
}

func (m *masm) armExchange(a, b reg) {
	if a >= fpBase {
		m.a.MovV(armTmpV, vr(a))
		m.a.MovV(vr(a), vr(b))
		m.a.MovV(vr(b), armTmpV)
		return
	}
	m.a.MovRR(arm64.S64, armData, xr(a))
	m.a.MovRR(arm64.S64, xr(a), xr(b))
	m.a.MovRR(arm64.S64, xr(b), armData)
}

// armLoads and armStores are the accesses of whole values; those of vector
// registers take their number as a Reg.
var (
	armLoads = [...]arm64.Access{decoder.I32: arm64.LDRW, decoder.I64: arm64.LDRX,
		decoder.F32: arm64.LDRS, decoder.F64: arm64.LDRD, decoder.V128: arm64.LDRQ,
		decoder.FuncRef: arm64.LDRX, decoder.ExternRef: arm64.LDRX}
	armStores = [...]arm64.Access{decoder.I32: arm64.STRW, decoder.I64: arm64.STRX,
		decoder.F32: arm64.STRS, decoder.F64: arm64.STRD, decoder.V128: arm64.STRQ,
		decoder.FuncRef: arm64.STRX, decoder.ExternRef: arm64.STRX}
)

// number is the hardware number of a register of either kind.
func number(r reg) arm64.Reg {
	if r >= fpBase {
		return arm64.Reg(r - fpBase)
	}
	return xr(r)
}

// ldst emits an access at base + disp, and notes where it may fault.
func (m *masm) ldst(op arm64.Access, r, base arm64.Reg, disp int32) {
	if !op.FitsOffset(int64(disp)) {
		base, disp = m.nearer(op, base, disp)
	}
	m.faultPos = m.a.Pos()
	m.a.LdSt(op, r, base, disp)
}

// nearer computes a base in x16 from which an access has a form for what is
// left of disp.
func (m *masm) nearer(op arm64.Access, base arm64.Reg, disp int32) (arm64.Reg, int32) {
	rest := disp & 0xfff
	if high := disp - rest; op.FitsOffset(int64(rest)) && high != 0 {
		if high > 0 && arm64.FitsArith(uint64(high)) {
			m.a.AddI(arm64.ADD, arm64.S64, armAddr, base, uint32(high))
			return armAddr, rest
		}
		if n := -int64(high); n > 0 && arm64.FitsArith(uint64(n)) {
			m.a.AddI(arm64.SUB, arm64.S64, armAddr, base, uint32(n))
			return armAddr, rest
		}
	}
	m.armAddConst(armAddr, base, int64(disp))
	return armAddr, 0
}

// armAddConst emits d = n + v by way of x16, where n isn't x16 but may be the
// stack pointer.
func (m *masm) armAddConst(d, n arm64.Reg, v int64) {
	switch {
	case v >= 0 && arm64.FitsArith(uint64(v)):
		m.a.AddI(arm64.ADD, arm64.S64, d, n, uint32(v))
	case v < 0 && arm64.FitsArith(uint64(-v)):
		m.a.AddI(arm64.SUB, arm64.S64, d, n, uint32(-v))
	default:
		m.armConst(armAddr, arm64.S64, uint64(v))
		m.a.AluExt(arm64.ADD, arm64.S64, d, n, armAddr, arm64.UXTX, 0)
	}
}

// access emits an access to the memory operand at.
func (m *masm) access(op arm64.Access, r arm64.Reg, at addr) {
	if at.index == noReg {
		m.ldst(op, r, xr(at.base), at.disp)
		return
	}
	base, index := xr(at.base), xr(at.index)
	switch {
	case at.disp == 0:
		m.faultPos = m.a.Pos()
		m.a.LdStIdx(op, r, base, index, false)
	case op.FitsOffset(int64(at.disp)):
		m.a.AluRR(arm64.ADD, arm64.S64, armAddr, base, index)
		m.faultPos = m.a.Pos()
		m.a.LdSt(op, r, armAddr, at.disp)
	default:
		m.armAddConst(armAddr, base, int64(at.disp))
		m.a.AluRR(arm64.ADD, arm64.S64, armAddr, armAddr, index)
		m.faultPos = m.a.Pos()
		m.a.LdSt(op, r, armAddr, 0)
	}
}

func (m *masm) armLoadAt(t decoder.Type, d reg, a addr)  { m.access(armLoads[t], number(d), a) }
func (m *masm) armStoreAt(t decoder.Type, a addr, s reg) { m.access(armStores[t], number(s), a) }

func (m *masm) armLoadFrame(t decoder.Type, d reg, off int32) {
	m.ldst(armLoads[t], number(d), arm64.FP, off)
}

func (m *masm) armStoreFrame(t decoder.Type, off int32, s reg) {
	m.ldst(armStores[t], number(s), arm64.FP, off)
}

func (m *masm) armStoreFrameConst(t decoder.Type, off int32, bits uint64) {
	m.armStoreConst(t, arm64.FP, off, bits)
}

// armStoreConst stores a constant of a scalar type.
func (m *masm) armStoreConst(t decoder.Type, base arm64.Reg, off int32, bits uint64) {
	op, s := arm64.STRX, arm64.S64
	if t == decoder.I32 || t == decoder.F32 {
		op, s, bits = arm64.STRW, arm64.S32, uint64(uint32(bits))
	}
	m.ldst(op, m.armConstReg(s, bits), base, off)
}

// armConstReg gives a register with a constant: x17, or the zero register.
func (m *masm) armConstReg(s arm64.Size, v uint64) arm64.Reg {
	if v == 0 {
		return arm64.ZR
	}
	m.armConst(armData, s, v)
	return armData
}

func (m *masm) armCopyFrame(t decoder.Type, to, from int32, _ reg) {
	m.armCopy(t, arm64.FP, to, arm64.FP, from)
}

// armCopy copies a cell of 8 bytes, or two.
func (m *masm) armCopy(t decoder.Type, to arm64.Reg, toOff int32, from arm64.Reg, fromOff int32) {
	m.ldst(arm64.LDRX, armData, from, fromOff)
	m.ldst(arm64.STRX, armData, to, toOff)
	if t == decoder.V128 {
		m.ldst(arm64.LDRX, armData, from, fromOff+8)
		m.ldst(arm64.STRX, armData, to, toOff+8)
	}
}

func (m *masm) armSaveFrame(off int32) { m.ldst(arm64.LDRX, armKeep, arm64.FP, off) }

func (m *masm) armRestoreSaved(d reg) {
	if d >= fpBase {
		m.a.FmovVR(arm64.S64, vr(d), armKeep)
		return
	}
	m.a.MovRR(arm64.S64, xr(d), armKeep)
}

// armConst loads an integer constant, in as few instructions as moves of 16
// bits or a logical immediate take.
func (m *masm) armConst(d arm64.Reg, s arm64.Size, v uint64) {
	lanes := 2 << s
	zeros, ones := 0, 0
	for i := range lanes {
		switch v >> (16 * i) & 0xffff {
		case 0:
			zeros++
		case 0xffff:
			ones++
		}
	}
	if lanes-max(zeros, ones) > 1 && arm64.FitsLogical(s, v) {
		m.a.LogicI(arm64.ORR, s, d, arm64.ZR, v)
		return
	}
	fill, first := uint64(0), arm64.MOVZ
	if ones > zeros {
		fill, first = 0xffff, arm64.MOVN
	}
	// One lane that differs from the fill, or the lowest, comes first.
	at := 0
	if rest := v ^ fill*0x0001_0001_0001_0001; rest != 0 {
		at = bits.TrailingZeros64(rest) / 16
	}
	if at >= lanes {
		at = 0
	}
	m.a.MovI(first, s, d, uint16(v>>(16*at)^fill), uint8(at))
	for i := at + 1; i < lanes; i++ {
		if lane := v >> (16 * i) & 0xffff; lane != fill {
			m.a.MovI(arm64.MOVK, s, d, uint16(lane), uint8(i))
		}
	}
}

func (c *Compiler) armConstant(t decoder.Type, d reg, bits uint64) {
	switch {
	case !t.IsFloat():
		c.armConst(xr(d), armSize(t), bits)
	case bits == 0:
		c.a.ZeroV(vr(d))
	case arm64.FitsFloat(t == decoder.F64, bits):
		c.a.FmovI(t == decoder.F64, vr(d), bits)
	case t == decoder.F32:
		c.a.FmovVR(arm64.S32, vr(d), c.armConstReg(arm64.S32, bits))
	default:
		c.a.FmovVR(arm64.S64, vr(d), c.armConstReg(arm64.S64, bits))
	}
}

func (m *masm) armInstanceAddr(d reg, off int32) { m.armAddConst(xr(d), xr(instReg), int64(off)) }
