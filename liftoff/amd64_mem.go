package liftoff

import (
	"github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/decoder"
)

// checkedAddress compares the end of the access with the memory's size. The
// address is formed from that very end, so that what was checked is what is
// used.
func (c *Compiler) checkedAddress(x *decoder.Operand, i int, offset uint32, a access, value reg) (addr, reg) {
	if c.arm {
		return c.armCheckedAddress(x, i, offset, a, value)
	}
	size := int64(1) << accessLog2[a]
	past := int64(offset) + size
	r := c.use(x, i)
	end := r
	if !c.free.has(r) || r == value {
		end = c.alloc(allGP)
	}
	if past <= 1<<31-1 {
		c.x.Lea(amd64.S64, gp(end), amd64.At(gp(r), int32(past)))
	} else {
		t := c.scratch()
		c.x.MovRI64(gp(t), uint64(past))
		c.x.Lea(amd64.S64, gp(end), amd64.AtIdx(gp(r), gp(t), 0, 0))
		c.locked &^= t.bit()
	}
	t := c.scratch()
	c.x.MovRM(amd64.S64, gp(t), amd64.At(gp(instReg), c.l.Memories))
	c.x.AluRM(amd64.CMP, amd64.S64, gp(end), amd64.At(gp(t), MemRecBytes))
	c.trapIf(amd64.A, TrapMemoryOutOfBounds)
	c.locked &^= t.bit()
	if end != r && r != value {
		c.locked &^= r.bit()
	}
	return addr{memReg, end, int32(-size)}, end
}

// loadMem emits an integer load.
func (m *masm) loadMem(w width, a access, d reg, at addr) {
	if m.arm {
		m.armLoadMem(w, a, d, at)
		return
	}
	m.faultPos = m.x.Pos()
	switch a {
	case mem8S:
		m.x.LoadSX8(w.size(), gp(d), at.mem())
	case mem8U:
		m.x.LoadZX8(gp(d), at.mem())
	case mem16S:
		m.x.LoadSX16(w.size(), gp(d), at.mem())
	case mem16U:
		m.x.LoadZX16(gp(d), at.mem())
	case mem32S:
		m.x.LoadSXD(gp(d), at.mem())
	case mem32:
		m.x.MovRM(amd64.S32, gp(d), at.mem())
	case mem64:
		m.x.MovRM(amd64.S64, gp(d), at.mem())
	}
}

// binopAt emits d = d op the memory operand; amd64 only.
func (m *masm) binopAt(w width, op intOp, d reg, at addr) {
	m.faultPos = m.x.Pos()
	if op == opMul {
		m.x.ImulRM(w.size(), gp(d), at.mem())
		return
	}
	m.x.AluRM(aluOps[op], w.size(), gp(d), at.mem())
}

// fbinopAt emits d = d op the memory operand; amd64 only.
func (m *masm) fbinopAt(w fwidth, op floatOp, d reg, at addr) {
	m.faultPos = m.x.Pos()
	m.x.SseRM(floatOps[op][w], fp(d), at.mem())
}

// floadMem emits a floating-point load.
func (m *masm) floadMem(w fwidth, d reg, at addr) {
	if m.arm {
		m.armFloadMem(w, d, at)
		return
	}
	m.faultPos = m.x.Pos()
	m.loadX(w.typ(), d, at.mem())
}

// storeMem emits an integer store.
func (m *masm) storeMem(a access, at addr, s reg) {
	if m.arm {
		m.armStoreMem(a, at, s)
		return
	}
	m.faultPos = m.x.Pos()
	switch a {
	case mem8U, mem8S:
		m.x.MovMR8(at.mem(), gp(s))
	case mem16U, mem16S:
		m.x.MovMR16(at.mem(), gp(s))
	case mem32, mem32S:
		m.x.MovMR(amd64.S32, at.mem(), gp(s))
	case mem64:
		m.x.MovMR(amd64.S64, at.mem(), gp(s))
	}
}

// storeMemConst emits a store of a constant, sign-extended for eight bytes.
func (m *masm) storeMemConst(a access, at addr, v int32) {
	if m.arm {
		m.armStoreMemConst(a, at, v)
		return
	}
	m.faultPos = m.x.Pos()
	switch a {
	case mem8U, mem8S:
		m.x.MovMI8(at.mem(), uint8(v))
	case mem16U, mem16S:
		m.x.MovMI16(at.mem(), uint16(v))
	case mem32, mem32S:
		m.x.MovMI(amd64.S32, at.mem(), v)
	case mem64:
		m.x.MovMI(amd64.S64, at.mem(), v)
	}
}

// fstoreMem emits a floating-point store.
func (m *masm) fstoreMem(w fwidth, at addr, s reg) {
	if m.arm {
		m.armFstoreMem(w, at, s)
		return
	}
	m.faultPos = m.x.Pos()
	m.storeX(w.typ(), at.mem(), s)
}

// zeroExtend emits d = the low 32 bits of x; also from a register to itself.
func (m *masm) zeroExtend(d, x reg) {
	if m.arm {
		m.armZeroExtend(d, x)
		return
	}
	m.x.MovRR(amd64.S32, gp(d), gp(x))
}

// memoryPages emits d = the size of memory n in pages.
func (c *Compiler) memoryPages(d reg, n uint32) {
	if c.arm {
		c.armMemoryPages(d, n)
		return
	}
	c.x.MovRM(amd64.S64, gp(d), amd64.At(gp(instReg), c.l.Memories+8*int32(n)))
	c.x.MovRM(amd64.S64, gp(d), amd64.At(gp(d), MemRecBytes))
	c.x.ShiftRI(amd64.SHR, amd64.S64, gp(d), 16)
}

// checkTable emits d = a table's record, and a trap if index is beyond its
// length.
func (c *Compiler) checkTable(d, index reg, table uint32, kind TrapKind) {
	if c.arm {
		c.armCheckTable(d, index, table, kind)
		return
	}
	c.tableRecord(d, table)
	c.x.AluRM(amd64.CMP, amd64.S64, gp(index), amd64.At(gp(d), TableRecLen))
	c.trapIf(amd64.AE, kind)
}

// loadEntry emits d = entry index of the table whose entries start at base.
func (m *masm) loadEntry(d, base, index reg) {
	if m.arm {
		m.armLoadEntry(d, base, index)
		return
	}
	m.x.MovRM(amd64.S64, gp(d), entryAt(base, index))
}

// storeEntry stores entry index of the table whose entries start at base.
func (m *masm) storeEntry(base, index, s reg) {
	if m.arm {
		m.armStoreEntry(base, index, s)
		return
	}
	m.x.MovMR(amd64.S64, entryAt(base, index), gp(s))
}

// entryAt is entry index of the table whose entries start at base.
func entryAt(base, index reg) amd64.Mem { return amd64.AtIdx(gp(base), gp(index), 3, 0) }

// tableEntry emits record = the function record at index in a table, with all
// checks of call_indirect; tmp is another register.
func (c *Compiler) tableEntry(record, index reg, table uint32, tmp reg, typ uint32) {
	if c.arm {
		c.armTableEntry(record, index, table, tmp, typ)
		return
	}
	a := &c.x
	c.checkTable(tmp, index, table, TrapUndefinedElement)
	a.MovRM(amd64.S64, gp(tmp), amd64.At(gp(tmp), TableRecBase))
	a.MovRM(amd64.S64, gp(record), entryAt(tmp, index))
	a.TestRR(amd64.S64, gp(record), gp(record))
	c.trapIf(amd64.E, TrapUninitializedElement)
	a.MovRM(amd64.S32, gp(tmp), amd64.At(gp(instReg), c.l.SigIDs+4*int32(typ)))
	a.AluRM(amd64.CMP, amd64.S32, gp(tmp), amd64.At(gp(record), RecSig))
	c.trapIf(amd64.NE, TrapIndirectTypeMismatch)
}
