package liftoff

import (
	"github.com/wasmjit/wasmjit/asm/arm64"
	"github.com/wasmjit/wasmjit/decoder"
)

// armCallSite emits a direct call. Until the linker knows where the callee is,
// the instruction's 26-bit field holds its index, of which there are at most a
// million; so do the two immediates of a far call.
func (c *Compiler) armCallSite(fn uint32) {
	at := 0
	if c.o.FarCalls {
		at = c.a.CallFar(armAddr, fn)
	} else {
		at = c.a.BL(fn)
	}
	c.callSites = append(c.callSites, uint32(at))
	c.position()
}

func (c *Compiler) armCallRecordAt(off int32) {
	c.ldst(arm64.LDRX, armData, xr(instReg), off+RecEntry)
	c.ldst(arm64.LDRX, xr(instReg), xr(instReg), off+RecInst)
	c.armCallLoaded()
}

func (c *Compiler) armCallRecord(r reg) {
	c.ldst(arm64.LDRX, armData, xr(r), RecEntry)
	c.ldst(arm64.LDRX, xr(instReg), xr(r), RecInst)
	c.armCallLoaded()
}

// armCallLoaded calls the code in x17 in the instance that is loaded.
func (c *Compiler) armCallLoaded() {
	c.ldst(arm64.LDRX, xr(memReg), xr(instReg), InstMemBase)
	c.a.Blr(armData)
	c.position()
}

func (c *Compiler) armRestoreInstance() {
	c.ldst(arm64.LDRX, xr(instReg), arm64.FP, instSlot)
	if len(c.m.Memories) > 0 {
		c.ldst(arm64.LDRX, xr(memReg), xr(instReg), InstMemBase)
	}
}

func (c *Compiler) armCallRoutine(r Routine) {
	c.ldst(arm64.LDRX, armData, xr(ctxReg), CtxRoutines+8*int32(r))
	c.a.Blr(armData)
	c.position()
}

func (c *Compiler) armOutSlot(x *decoder.Operand, i int, off int32, _ reg) {
	if r := c.inReg(x); r != noReg {
		c.ldst(armStores[x.Type], number(r), arm64.SP, off)
		return
	}
	from := c.home(i)
	switch x.Loc {
	case locConst:
		c.armStoreConst(x.Type, arm64.SP, off, x.Bits)
		return
	case locLocal:
		from = c.locals[x.Local].off
	}
	c.armCopy(x.Type, arm64.SP, off, arm64.FP, from)
}

func (c *Compiler) armCopyIn(t decoder.Type, home, off int32) {
	c.armCopy(t, arm64.FP, home, arm64.SP, off)
}

// armPrologue writes
//
//	stp fp, lr, [sp, -16]!; mov fp, sp; [stack check]; sub sp, sp, N
//	stp pin, inst, [fp, -16]; stp pins...; stur q pins...
//
// which makes the same frame as on amd64, rounded up to 16 bytes.
func (c *Compiler) armPrologue() int {
	end := c.a.Pos()
	size := (-c.home(c.maxHeight-1) + 8*int32(c.maxOut) + 15) &^ 15
	a := &c.a
	a.SetPos(0)
	a.LdStPairPre(arm64.STPX, arm64.FP, arm64.LR, arm64.SP, -16)
	a.MovSP(arm64.FP, arm64.SP)
	check := -1
	switch {
	case size > GuardProbe:
		// The guard can't catch a frame that may reach beyond it.
		c.armConst(armAddr, arm64.S64, uint64(size))
		a.AluExt(arm64.SUB, arm64.S64, armAddr, arm64.SP, armAddr, arm64.UXTX, 0)
		a.LdSt(arm64.LDRX, armData, xr(ctxReg), CtxStackLimit)
		a.AluRR(arm64.SUBS, arm64.S64, arm64.ZR, armAddr, armData)
		check = a.BCondFar(arm64.LO)
		a.MovSP(arm64.SP, armAddr)
	case size >= 1<<12:
		a.AddI(arm64.SUB, arm64.S64, arm64.SP, arm64.SP, uint32(size)&^0xfff)
		if low := uint32(size) & 0xfff; low != 0 {
			a.AddI(arm64.SUB, arm64.S64, arm64.SP, arm64.SP, low)
		}
	default:
		a.AddI(arm64.SUB, arm64.S64, arm64.SP, arm64.SP, uint32(size))
	}
	c.armPins(arm64.STPX, arm64.STRX, arm64.STRQ)
	c.zeroLocals()
	n := a.Pos()
	start := headroom - n
	copy(a.Bytes(start, headroom), a.Bytes(0, n))
	a.SetPos(end)
	if check >= 0 {
		c.traps = append(c.traps, trapSite{at: check + start, wasm: c.bodyStart, kind: TrapStackOverflow})
	}
	return start
}

// armPins saves or restores the callee-saved registers in use; a prologue also
// saves the instance.
func (c *Compiler) armPins(pair arm64.Pair, single, vector arm64.Access) {
	a := &c.a
	k := 0
	if pair == arm64.STPX {
		if c.pinsGP == 0 {
			a.LdSt(single, xr(instReg), arm64.FP, instSlot)
		} else {
			a.LdStPair(pair, xr(pinGP[0]), xr(instReg), arm64.FP, savedGP(0))
			k = 1
		}
	}
	for ; k+1 < c.pinsGP; k += 2 {
		a.LdStPair(pair, xr(pinGP[k+1]), xr(pinGP[k]), arm64.FP, savedGP(k+1))
	}
	if k < c.pinsGP {
		a.LdSt(single, xr(pinGP[k]), arm64.FP, savedGP(k))
	}
	for k := range c.pinsFP {
		a.LdSt(vector, number(pinFP[k]), arm64.FP, c.savedFP(k))
	}
}

func (c *Compiler) armEpilogue() {
	c.armPins(arm64.LDPX, arm64.LDRX, arm64.LDRQ)
	c.a.MovSP(arm64.SP, arm64.FP)
	c.a.LdStPairPost(arm64.LDPX, arm64.FP, arm64.LR, arm64.SP, 16)
	c.a.Ret()
}

func (c *Compiler) armZeroSlots(off int32, n int) {
	const unrolled = 16
	if n == 0 {
		return
	}
	if n%2 != 0 {
		c.ldst(arm64.STRX, arm64.ZR, arm64.FP, off)
		off, n = off+8, n-1
	}
	if n == 0 {
		return
	}
	a := &c.a
	base := arm64.FP
	if !arm64.STPX.FitsOffset(int64(off)) || !arm64.STPX.FitsOffset(int64(off)+8*int64(n)) || n > unrolled {
		c.armAddConst(armAddr, arm64.FP, int64(off))
		base, off = armAddr, 0
	}
	if n <= unrolled {
		for ; n > 0; n -= 2 {
			a.LdStPair(arm64.STPX, arm64.ZR, arm64.ZR, base, off)
			off += 16
		}
		return
	}
	c.armConst(armData, arm64.S64, uint64(n/2))
	loop := a.Pos()
	a.LdStPairPost(arm64.STPX, arm64.ZR, arm64.ZR, armAddr, 16)
	a.AddI(arm64.SUBS, arm64.S64, armData, armData, 1)
	a.PatchBranch(a.BCond(arm64.NE), loop)
}

// armTrapIf traps if a machine condition holds.
func (c *Compiler) armTrapIf(cc arm64.Cond, kind TrapKind) {
	c.traps = append(c.traps, trapSite{at: c.a.BCondFar(cc), wasm: uint32(c.at), kind: kind})
}

// armTrapZero traps if r is zero.
func (c *Compiler) armTrapZero(s arm64.Size, r arm64.Reg, kind TrapKind) {
	c.traps = append(c.traps, trapSite{at: c.a.CbzFar(false, s, r), wasm: uint32(c.at), kind: kind})
}

// Trap instructions carry their kind for the reader of a disassembly.

func (c *Compiler) armTrapHere(kind TrapKind) {
	c.positionAt(c.a.Pos(), uint32(c.at), kind)
	c.a.Udf(uint16(kind))
}

func (c *Compiler) armColdTraps() {
	for _, t := range c.traps {
		c.a.Reserve(64)
		c.a.PatchBranch(t.at, c.a.Pos())
		c.positionAt(c.a.Pos(), t.wasm, t.kind)
		c.a.Udf(uint16(t.kind))
	}
}
