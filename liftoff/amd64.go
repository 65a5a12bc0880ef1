package liftoff

import (
	"github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/decoder"
)

// The amd64 back end. Roles have the numbers of their registers here.

func gp(r reg) amd64.Reg  { return amd64.Reg(r) }
func fp(r reg) amd64.XReg { return amd64.XReg(r - fpBase) }

// sizeOf is the operand size of integers and references of type t.
func sizeOf(t decoder.Type) amd64.Size {
	if t == decoder.I32 {
		return amd64.S32
	}
	return amd64.S64
}

// frameAt is the frame slot at off.
func frameAt(off int32) amd64.Mem { return amd64.At(amd64.RBP, off) }

// mem converts a memory operand.
func (a addr) mem() amd64.Mem {
	if a.index == noReg {
		return amd64.At(gp(a.base), a.disp)
	}
	return amd64.AtIdx(gp(a.base), gp(a.index), 0, a.disp)
}

// move copies a register. An i32 is zero-extended whatever the source holds.
func (m *masm) move(t decoder.Type, d, s reg) {
	if m.arm {
		m.armMove(t, d, s)
		return
	}
	if d == s {
		return
	}
	if t.IsFloat() {
		m.x.MovapsRR(fp(d), fp(s))
		return
	}
	m.x.MovRR(sizeOf(t), gp(d), gp(s))
}

// exchange swaps two registers of one kind. There is always a free
// floating-point register for it: xmm7 carries no argument, so it is in no
// cycle of an argument shuffle.
func (m *masm) exchange(a, b reg) {
	if m.arm {
		m.armExchange(a, b)
		return
	}
	if a >= fpBase {
		const tmp = amd64.XMM7
		m.x.MovapsRR(tmp, fp(a))
		m.x.MovapsRR(fp(a), fp(b))
		m.x.MovapsRR(fp(b), tmp)
		return
	}
	m.x.Xchg(amd64.S64, gp(a), gp(b))
}

// loadAt loads a value of type t from memory that can't fault.
func (m *masm) loadAt(t decoder.Type, d reg, a addr) {
	if m.arm {
		m.armLoadAt(t, d, a)
		return
	}
	m.loadX(t, d, a.mem())
}

// storeAt stores a value of type t to memory that can't fault.
func (m *masm) storeAt(t decoder.Type, a addr, s reg) {
	if m.arm {
		m.armStoreAt(t, a, s)
		return
	}
	m.storeX(t, a.mem(), s)
}

// loadFrame loads a value of type t from the frame.
func (m *masm) loadFrame(t decoder.Type, d reg, off int32) {
	if m.arm {
		m.armLoadFrame(t, d, off)
		return
	}
	switch t {
	case decoder.I32, decoder.I64:
		m.x.MovRM(sizeOf(t), gp(d), frameAt(off))
	default:
		m.loadX(t, d, frameAt(off))
	}
}

// storeFrame stores a value of type t to the frame.
func (m *masm) storeFrame(t decoder.Type, off int32, s reg) {
	if m.arm {
		m.armStoreFrame(t, off, s)
		return
	}
	switch t {
	case decoder.I32, decoder.I64:
		m.x.MovMR(sizeOf(t), frameAt(off), gp(s))
	default:
		m.storeX(t, frameAt(off), s)
	}
}

func (m *masm) loadX(t decoder.Type, d reg, a amd64.Mem) {
	switch t {
	case decoder.F32:
		m.x.MovssRM(fp(d), a)
	case decoder.F64:
		m.x.MovsdRM(fp(d), a)
	case decoder.V128:
		m.x.MovupsRM(fp(d), a)
	default:
		m.x.MovRM(sizeOf(t), gp(d), a)
	}
}

func (m *masm) storeX(t decoder.Type, a amd64.Mem, s reg) {
	switch t {
	case decoder.F32:
		m.x.MovssMR(a, fp(s))
	case decoder.F64:
		m.x.MovsdMR(a, fp(s))
	case decoder.V128:
		m.x.MovupsMR(a, fp(s))
	default:
		m.x.MovMR(sizeOf(t), a, gp(s))
	}
}

// storeFrameConst stores a constant to the frame, without a register and
// without touching flags.
func (m *masm) storeFrameConst(t decoder.Type, off int32, bits uint64) {
	if m.arm {
		m.armStoreFrameConst(t, off, bits)
		return
	}
	m.storeConst(t, frameAt(off), bits)
}

func (m *masm) storeConst(t decoder.Type, a amd64.Mem, bits uint64) {
	switch {
	case t == decoder.I32 || t == decoder.F32:
		m.x.MovMI(amd64.S32, a, int32(bits))
	case isImm32(w64, bits):
		m.x.MovMI(amd64.S64, a, int32(bits))
	default:
		m.x.MovMI(amd64.S32, a, int32(bits))
		a.Disp += 4
		m.x.MovMI(amd64.S32, a, int32(bits>>32))
	}
}

// copyFrame copies a frame slot, through tmp if there is one.
func (m *masm) copyFrame(t decoder.Type, to, from int32, tmp reg) {
	if m.arm {
		m.armCopyFrame(t, to, from, tmp)
		return
	}
	m.copyMem(frameAt(to), frameAt(from), tmp)
	if t == decoder.V128 {
		m.copyMem(frameAt(to+8), frameAt(from+8), tmp)
	}
}

// copyMem copies eight bytes. Without a free register it borrows the instance
// register, whose value the frame keeps.
func (m *masm) copyMem(to, from amd64.Mem, tmp reg) {
	t := tmp
	if t == noReg {
		t = instReg
	}
	m.x.MovRM(amd64.S64, gp(t), from)
	m.x.MovMR(amd64.S64, to, gp(t))
	if tmp == noReg {
		m.x.MovRM(amd64.S64, gp(instReg), frameAt(instSlot))
	}
}

// saveFrame keeps the scalar frame slot at off in the memory base register
// until restoreSaved.
func (m *masm) saveFrame(off int32) {
	if m.arm {
		m.armSaveFrame(off)
		return
	}
	m.x.MovRM(amd64.S64, gp(memReg), frameAt(off))
}

// restoreSaved moves what saveFrame kept to d and reloads the memory base.
func (m *masm) restoreSaved(d reg) {
	if m.arm {
		m.armRestoreSaved(d)
		return
	}
	if d >= fpBase {
		m.x.MovdXR(amd64.S64, fp(d), gp(memReg))
	} else {
		m.x.MovRR(amd64.S64, gp(d), gp(memReg))
	}
	m.x.MovRM(amd64.S64, gp(memReg), amd64.At(gp(instReg), InstMemBase))
}

// constant loads a constant. A floating-point one travels through a free
// general-purpose register, or through memory below the stack pointer, which
// nothing else writes: signal handlers run on stacks of their own.
func (c *Compiler) constant(t decoder.Type, d reg, bits uint64) {
	if c.arm {
		c.armConstant(t, d, bits)
		return
	}
	if !t.IsFloat() {
		switch {
		case bits == 0 && !c.flagsLive:
			c.x.AluRR(amd64.XOR, amd64.S32, gp(d), gp(d))
		case t == decoder.I32:
			c.x.MovRI32(gp(d), uint32(bits))
		default:
			c.x.MovRI64(gp(d), bits)
		}
		return
	}
	if bits == 0 {
		c.x.SseRR(amd64.XORPS, fp(d), fp(d))
		return
	}
	if s := c.free & allGP &^ c.locked; s != 0 {
		tmp := gp(s.first())
		if t == decoder.F32 {
			c.x.MovRI32(tmp, uint32(bits))
			c.x.MovdXR(amd64.S32, fp(d), tmp)
		} else {
			c.x.MovRI64(tmp, bits)
			c.x.MovdXR(amd64.S64, fp(d), tmp)
		}
		return
	}
	below := amd64.At(amd64.RSP, -8)
	c.storeConst(t, below, bits)
	c.loadX(t, d, below)
}

// instanceAddr computes the address of a part of the instance block.
func (m *masm) instanceAddr(d reg, off int32) {
	if m.arm {
		m.armInstanceAddr(d, off)
		return
	}
	m.x.Lea(amd64.S64, gp(d), amd64.At(gp(instReg), off))
}
