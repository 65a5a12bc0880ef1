package liftoff

import (
	"github.com/wasmjit/wasmjit/asm/arm64"
	"github.com/wasmjit/wasmjit/decoder"
)

func (c *Compiler) armCheckedAddress(x *decoder.Operand, i int, offset uint32, a access, value reg) (addr, reg) {
	size := int64(1) << accessLog2[a]
	r := c.use(x, i)
	end := r
	if !c.free.has(r) || r == value {
		end = c.alloc(allGP)
	}
	c.armAddConst(xr(end), xr(r), int64(offset)+size)
	c.ldst(arm64.LDRX, armData, xr(instReg), c.l.Memories)
	c.ldst(arm64.LDRX, armData, armData, MemRecBytes)
	c.a.AluRR(arm64.SUBS, arm64.S64, arm64.ZR, xr(end), armData)
	c.armTrapIf(arm64.HI, TrapMemoryOutOfBounds)
	if end != r && r != value {
		c.locked &^= r.bit()
	}
	return addr{memReg, end, int32(-size)}, end
}

// armIntLoads are the integer loads by access and width.
var armIntLoads = [...][2]arm64.Access{
	mem8S: {arm64.LDRSBW, arm64.LDRSBX}, mem8U: {arm64.LDRB, arm64.LDRB},
	mem16S: {arm64.LDRSHW, arm64.LDRSHX}, mem16U: {arm64.LDRH, arm64.LDRH},
	mem32S: {arm64.LDRSW, arm64.LDRSW}, mem32: {arm64.LDRW, arm64.LDRW}, mem64: {arm64.LDRX, arm64.LDRX},
}

var armIntStores = [...]arm64.Access{
	mem8S: arm64.STRB, mem8U: arm64.STRB, mem16S: arm64.STRH, mem16U: arm64.STRH,
	mem32S: arm64.STRW, mem32: arm64.STRW, mem64: arm64.STRX,
}

func (m *masm) armLoadMem(w width, a access, d reg, at addr) {
	m.access(armIntLoads[a][w], xr(d), at)
}

func (m *masm) armFloadMem(w fwidth, d reg, at addr) { m.access(armLoads[w.typ()], number(d), at) }

func (m *masm) armStoreMem(a access, at addr, s reg) { m.access(armIntStores[a], xr(s), at) }

func (m *masm) armStoreMemConst(a access, at addr, v int32) {
	s, bits := arm64.S32, uint64(uint32(v))
	switch a {
	case mem8S, mem8U:
		bits &= 0xff
	case mem16S, mem16U:
		bits &= 0xffff
	case mem64:
		s, bits = arm64.S64, uint64(int64(v))
	}
	m.access(armIntStores[a], m.armConstReg(s, bits), at)
}

func (m *masm) armFstoreMem(w fwidth, at addr, s reg) { m.access(armStores[w.typ()], number(s), at) }

func (m *masm) armZeroExtend(d, x reg) { m.a.MovRR(arm64.S32, xr(d), xr(x)) }

func (c *Compiler) armMemoryPages(d reg, n uint32) {
	c.ldst(arm64.LDRX, xr(d), xr(instReg), c.l.Memories+8*int32(n))
	c.ldst(arm64.LDRX, xr(d), xr(d), MemRecBytes)
	c.a.ShiftI(arm64.LSR, arm64.S64, xr(d), xr(d), 16)
}

func (c *Compiler) armCheckTable(d, index reg, table uint32, kind TrapKind) {
	c.tableRecord(d, table)
	c.ldst(arm64.LDRX, armData, xr(d), TableRecLen)
	c.a.AluRR(arm64.SUBS, arm64.S64, arm64.ZR, xr(index), armData)
	c.armTrapIf(arm64.HS, kind)
}

func (m *masm) armLoadEntry(d, base, index reg) {
	m.a.LdStIdx(arm64.LDRX, xr(d), xr(base), xr(index), true)
}

func (m *masm) armStoreEntry(base, index, s reg) {
	m.a.LdStIdx(arm64.STRX, xr(s), xr(base), xr(index), true)
}

func (c *Compiler) armTableEntry(record, index reg, table uint32, tmp reg, typ uint32) {
	c.checkTable(tmp, index, table, TrapUndefinedElement)
	c.ldst(arm64.LDRX, xr(tmp), xr(tmp), TableRecBase)
	c.armLoadEntry(record, tmp, index)
	c.armTrapZero(arm64.S64, xr(record), TrapUninitializedElement)
	c.ldst(arm64.LDRW, xr(tmp), xr(instReg), c.l.SigIDs+4*int32(typ))
	c.ldst(arm64.LDRW, armData, xr(record), RecSig)
	c.a.AluRR(arm64.SUBS, arm64.S32, arm64.ZR, xr(tmp), armData)
	c.armTrapIf(arm64.NE, TrapIndirectTypeMismatch)
}
