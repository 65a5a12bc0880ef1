package liftoff

import (
	"encoding/binary"

	"github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/decoder"
)

// callSite emits a direct call. Its field holds the callee's index until the
// linker knows where the callee is.
func (c *Compiler) callSite(fn uint32) {
	if c.arm {
		c.armCallSite(fn)
		return
	}
	at := c.x.CallRel()
	binary.LittleEndian.PutUint32(c.x.Bytes(at, at+4), fn)
	c.callSites = append(c.callSites, uint32(at))
	c.position()
}

// callRecordAt calls through the function record at off in the instance block.
func (c *Compiler) callRecordAt(off int32) {
	if c.arm {
		c.armCallRecordAt(off)
		return
	}
	a := &c.x
	a.MovRM(amd64.S64, gp(scratchReg), amd64.At(gp(instReg), off+RecEntry))
	a.MovRM(amd64.S64, gp(instReg), amd64.At(gp(instReg), off+RecInst))
	a.MovRM(amd64.S64, gp(memReg), amd64.At(gp(instReg), InstMemBase))
	a.CallR(gp(scratchReg))
	c.position()
}

// callRecord calls through the function record whose address is in r.
func (c *Compiler) callRecord(r reg) {
	if c.arm {
		c.armCallRecord(r)
		return
	}
	a := &c.x
	a.MovRM(amd64.S64, gp(instReg), amd64.At(gp(r), RecInst))
	a.MovRM(amd64.S64, gp(memReg), amd64.At(gp(instReg), InstMemBase))
	a.CallM(amd64.At(gp(r), RecEntry))
	c.position()
}

// restoreInstance reloads the registers that belong to the function's own
// instance after a call that may have run in another.
func (c *Compiler) restoreInstance() {
	if c.arm {
		c.armRestoreInstance()
		return
	}
	c.x.MovRM(amd64.S64, gp(instReg), frameAt(instSlot))
	if len(c.m.Memories) > 0 {
		c.x.MovRM(amd64.S64, gp(memReg), amd64.At(gp(instReg), InstMemBase))
	}
}

// callRoutine calls a runtime routine.
func (c *Compiler) callRoutine(r Routine) {
	if c.arm {
		c.armCallRoutine(r)
		return
	}
	c.x.CallM(amd64.At(gp(ctxReg), CtxRoutines+8*int32(r)))
	c.position()
}

// outSlot copies operand x of height i to the outgoing stack cell at off.
func (c *Compiler) outSlot(x *decoder.Operand, i int, off int32, tmp reg) {
	if c.arm {
		c.armOutSlot(x, i, off, tmp)
		return
	}
	to := amd64.At(amd64.RSP, off)
	if r := c.inReg(x); r != noReg {
		c.storeX(x.Type, to, r)
		return
	}
	from := c.home(i)
	switch x.Loc {
	case locConst:
		c.storeConst(x.Type, to, x.Bits)
		return
	case locLocal:
		from = c.locals[x.Local].off
	}
	c.copyMem(to, frameAt(from), tmp)
	if x.Type == decoder.V128 {
		to.Disp += 8
		c.copyMem(to, frameAt(from+8), tmp)
	}
}

// copyIn copies a result from the outgoing stack cell at off to the frame.
func (c *Compiler) copyIn(t decoder.Type, home, off int32) {
	if c.arm {
		c.armCopyIn(t, home, off)
		return
	}
	c.copyMem(frameAt(home), amd64.At(amd64.RSP, off), scratchReg)
	if t == decoder.V128 {
		c.copyMem(frameAt(home+8), amd64.At(amd64.RSP, off+8), scratchReg)
	}
}

// The prologue is written last, in front of the body, when the frame's size is
// known:
//
//	push rbp; mov rbp, rsp; push r14; push pins...; [stack check]; sub rsp, N
//	movups [rbp-...], xmm pins...; zero the locals that are read before a write
//
// so the frame is, downwards from rbp: own instance, saved general-purpose
// pins, saved floating-point pins (16 bytes each), locals, operands, outgoing
// stack cells.

// headroom is the room kept for the prologue.
const headroom = 512

// savedGP is the frame offset of the k-th saved general-purpose pin.
func savedGP(k int) int32 { return instSlot - 8*int32(k+1) }

// savedFP is the frame offset of the k-th saved floating-point pin.
func (c *Compiler) savedFP(k int) int32 { return savedGP(c.pinsGP-1) - 16*int32(k+1) }

// prologue writes the prologue in front of the body and returns where the
// function starts.
func (c *Compiler) prologue() int {
	if c.arm {
		return c.armPrologue()
	}
	end := c.x.Pos()
	size := c.frameSize()
	a := &c.x
	a.SetPos(0)
	a.Push(amd64.RBP)
	a.MovRR(amd64.S64, amd64.RBP, amd64.RSP)
	a.Push(gp(instReg))
	for k := range c.pinsGP {
		a.Push(gp(pinGP[k]))
	}
	check := -1
	if size > GuardProbe {
		// The guard can't catch a frame that may reach beyond it. The scratch
		// register carries no argument.
		a.Lea(amd64.S64, gp(scratchReg), amd64.At(amd64.RSP, -size))
		a.AluRM(amd64.CMP, amd64.S64, gp(scratchReg), amd64.At(gp(ctxReg), CtxStackLimit))
		check = a.Jcc(amd64.B)
	}
	if size > 0 {
		a.AluRI(amd64.SUB, amd64.S64, amd64.RSP, size)
	}
	for k := range c.pinsFP {
		a.MovupsMR(frameAt(c.savedFP(k)), fp(pinFP[k]))
	}
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

// frameSize is the number of bytes between the saved pins and the stack
// pointer.
func (c *Compiler) frameSize() int32 {
	bottom := c.home(c.maxHeight - 1)
	top := savedGP(c.pinsGP - 1)
	return top - bottom + 8*int32(c.maxOut)
}

// epilogue restores the pins and returns.
func (c *Compiler) epilogue() {
	if c.arm {
		c.armEpilogue()
		return
	}
	a := &c.x
	for k := range c.pinsFP {
		a.MovupsRM(fp(pinFP[k]), frameAt(c.savedFP(k)))
	}
	switch n := c.pinsGP; {
	case n > 2:
		a.Lea(amd64.S64, amd64.RSP, frameAt(savedGP(n-1)))
		for k := n - 1; k >= 0; k-- {
			a.Pop(gp(pinGP[k]))
		}
	default:
		for k := range n {
			a.MovRM(amd64.S64, gp(pinGP[k]), frameAt(savedGP(k)))
		}
	}
	a.Leave()
	a.Ret()
}

// zeroSlot zeroes the frame slot of eight bytes at off.
func (c *Compiler) zeroSlot(off int32) { c.storeFrameConst(decoder.I64, off, 0) }

// zeroSlots zeroes n frame slots of eight bytes, the lowest at off. xmm7
// carries no argument.
func (c *Compiler) zeroSlots(off int32, n int) {
	if c.arm {
		c.armZeroSlots(off, n)
		return
	}
	const unrolled = 16
	if n == 0 {
		return
	}
	a := &c.x
	zero := amd64.XMM7
	a.SseRR(amd64.XORPS, zero, zero)
	if n%2 != 0 {
		a.MovsdMR(frameAt(off), zero)
		off, n = off+8, n-1
	}
	if n <= 2*unrolled {
		for ; n > 0; n -= 2 {
			a.MovupsMR(frameAt(off), zero)
			off += 16
		}
		return
	}
	// rdi counts up to zero: [rbp + off+8n + rdi].
	bytes := 8 * int32(n)
	a.MovRI64(gp(scratchReg), uint64(int64(-bytes)))
	loop := a.Pos()
	a.MovupsMR(amd64.AtIdx(amd64.RBP, gp(scratchReg), 0, off+bytes), zero)
	a.AluRI(amd64.ADD, amd64.S64, gp(scratchReg), 16)
	a.JccBack(amd64.NE, loop)
}

// trapSite is a conditional jump to a trap instruction that stands in cold
// code behind the function, one for each site.
type trapSite struct {
	at   int // the jump's rel32 field
	wasm uint32
	kind TrapKind
}

// trapIf traps if a machine condition holds.
func (c *Compiler) trapIf(cc amd64.Cond, kind TrapKind) {
	c.traps = append(c.traps, trapSite{at: c.x.Jcc(cc), wasm: uint32(c.at), kind: kind})
}

// trapHere traps.
func (c *Compiler) trapHere(kind TrapKind) {
	if c.arm {
		c.armTrapHere(kind)
		return
	}
	c.positionAt(c.x.Pos(), uint32(c.at), kind)
	c.x.Ud2()
}

// coldTraps emits the trap instructions.
func (c *Compiler) coldTraps() {
	if c.arm {
		c.armColdTraps()
		return
	}
	for _, t := range c.traps {
		c.x.Reserve(64)
		c.x.PatchRel32(t.at, c.x.Pos())
		c.positionAt(c.x.Pos(), t.wasm, t.kind)
		c.x.Ud2()
	}
}

// faultHere notes that the last memory access may fault: it is out of bounds then.
func (c *Compiler) faultHere() {
	if c.record {
		c.positionAt(c.faultPos, uint32(c.at), TrapMemoryOutOfBounds)
	}
}

// position notes that the current position is the return address of a call.
func (c *Compiler) position() {
	if c.record {
		c.positionAt(c.pos(), uint32(c.at), TrapNone)
	}
}

func (c *Compiler) positionAt(at int, wasm uint32, kind TrapKind) {
	if c.record {
		c.positions = append(c.positions, Position{Code: uint32(at), Wasm: wasm, Kind: kind})
	}
}
