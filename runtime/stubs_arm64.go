//go:build linux

package runtime

import (
	"unsafe"

	"github.com/wasmjit/wasmjit/asm/arm64"
	"github.com/wasmjit/wasmjit/liftoff"
)

// Registers by their roles (liftoff/abi.go). x16 and x17 are for addresses and
// for what is on its way; x17 is the exit code at the common exit.
const (
	memReg  = arm64.X26
	instReg = arm64.X25
	ctxReg  = arm64.X27
	scratch = arm64.X16
	codeReg = arm64.X17
)

// keptRegs are the general registers that the convention preserves.
var keptRegs = [...]arm64.Reg{arm64.X19, arm64.X20, arm64.X21, arm64.X22, arm64.X23, arm64.X24}

// stubBuilder generates the stubs. Labels connect the two kinds.
type stubBuilder struct {
	arm64.Asm
	enterBody, leaveOK arm64.Label
	leave, restore     arm64.Label
	common             arm64.Label
}

func newStubBuilder() *stubBuilder {
	b := &stubBuilder{}
	b.Reset(0, false)
	b.Reserve(8 << 10) // more than all stubs
	return b
}

// start aligns the next stub; the gap holds trap instructions.
func (b *stubBuilder) start() uintptr {
	for b.Pos()%16 != 0 {
		b.Udf(0)
	}
	return uintptr(b.Pos())
}

// loadCtx and storeCtx access a field of the context block.
func (b *stubBuilder) loadCtx(r arm64.Reg, offset uintptr) {
	b.LdSt(arm64.LDRX, r, ctxReg, int32(offset))
}

func (b *stubBuilder) storeCtx(r arm64.Reg, offset uintptr) {
	b.LdSt(arm64.STRX, r, ctxReg, int32(offset))
}

// loadSP switches to the stack that a field points to, by way of x16.
func (b *stubBuilder) loadSP(offset uintptr) {
	b.loadCtx(scratch, offset)
	b.MovSP(arm64.SP, scratch)
}

// setExit sets the exit code by way of x17.
func (b *stubBuilder) setExit(code uint16) {
	b.MovI(arm64.MOVZ, arm64.S64, codeReg, code, 0)
	b.storeCtx(codeReg, unsafe.Offsetof(ctxBlock{}.exitCode))
}

// toGo switches to the Go stack; flags stay.
func (b *stubBuilder) toGo() {
	b.loadSP(unsafe.Offsetof(ctxBlock{}.goSP))
	b.loadCtx(arm64.FP, unsafe.Offsetof(ctxBlock{}.goFP))
}

// exit is toGo, and goes on where Go resumed native code. It is a jump, so
// that the return predictor keeps the native calls that are still open.
func (b *stubBuilder) exit() {
	b.toGo()
	b.loadCtx(scratch, unsafe.Offsetof(ctxBlock{}.goPC))
	b.Br(scratch)
}

func (b *stubBuilder) enterQuiet() {
	b.loadSP(unsafe.Offsetof(ctxBlock{}.wasmSP))
	b.JumpL(&b.enterBody)
}

// enter loads the argument registers, calls the function and leaves. The 0 in
// x29 ends the chain of frames.
func (b *stubBuilder) enter() {
	b.Bind(&b.enterBody)
	b.MovI(arm64.MOVZ, arm64.S64, arm64.FP, 0, 0)
	b.loadCtx(instReg, unsafe.Offsetof(ctxBlock{}.inst))
	for i := range arm64.Reg(liftoff.NumGPArgs) {
		b.loadCtx(arm64.X0+i, unsafe.Offsetof(ctxBlock{}.gp)+8*uintptr(i))
	}
	b.LdSt(arm64.LDRX, memReg, instReg, liftoff.InstMemBase)
	for i := range arm64.Reg(liftoff.NumFPArgs) {
		b.ldstQ(arm64.LDRQ, i, unsafe.Offsetof(ctxBlock{}.fp)+16*uintptr(i))
	}
	b.loadCtx(scratch, unsafe.Offsetof(ctxBlock{}.entry))
	b.Blr(scratch)
	b.storeCtx(arm64.X0, unsafe.Offsetof(ctxBlock{}.retGP))
	b.ldstQ(arm64.STRQ, 0, unsafe.Offsetof(ctxBlock{}.retFP))
	b.JumpL(&b.leaveOK)
}

// ldstQ accesses a vector in the context block, which need not be aligned. It
// uses x16 where the offset has no form.
func (b *stubBuilder) ldstQ(op arm64.Access, v arm64.Reg, offset uintptr) {
	if op.FitsOffset(int64(offset)) {
		b.LdSt(op, v, ctxReg, int32(offset))
		return
	}
	b.AddI(arm64.ADD, arm64.S64, scratch, ctxReg, uint32(offset))
	b.LdSt(op, v, scratch, 0)
}

// leaveQuiet has the ends of a run and of an ordinary exit, and the latter's
// resumption.
func (b *stubBuilder) leaveQuiet() {
	// The end of a run is a RET to the Go call that began it: all calls in
	// between have returned, so the predictor expects just that.
	b.Bind(&b.leaveOK)
	b.setExit(exitOK)
	b.toGo()
	b.loadCtx(arm64.LR, unsafe.Offsetof(ctxBlock{}.goPC))
	b.Ret()

	b.start()
	b.Bind(&b.leave)
	var resume arm64.Label
	b.storeCtx(codeReg, unsafe.Offsetof(ctxBlock{}.exitCode))
	b.MovSP(scratch, arm64.SP)
	b.storeCtx(scratch, unsafe.Offsetof(ctxBlock{}.wasmSP))
	b.storeCtx(arm64.FP, unsafe.Offsetof(ctxBlock{}.wasmFP))
	b.AdrL(scratch, &resume)
	b.storeCtx(scratch, unsafe.Offsetof(ctxBlock{}.resumePC))
	b.exit()

	b.start()
	b.Bind(&resume)
	b.loadSP(unsafe.Offsetof(ctxBlock{}.wasmSP))
	b.loadCtx(arm64.FP, unsafe.Offsetof(ctxBlock{}.wasmFP))
	b.JumpL(&b.restore)
}

// trap is where a fault of native code goes on: it keeps the registers for a
// diagnosis and leaves for good.
func (b *stubBuilder) trap() {
	b.saveGP()
	b.setExit(exitTrap)
	b.exit()
}

// saveGP stores all general registers but x27, the stack pointer by way of
// x16; flags stay.
func (b *stubBuilder) saveGP() {
	for r := range arm64.X30 + 1 {
		if r != ctxReg {
			b.storeCtx(r, savedGP(r))
		}
	}
	b.MovSP(scratch, arm64.SP)
	b.storeCtx(scratch, savedGP(arm64.SP))
}

func savedGP(r arm64.Reg) uintptr { return unsafe.Offsetof(ctxBlock{}.savedGP) + 8*uintptr(r) }

func savedX(r arm64.Reg) uintptr { return unsafe.Offsetof(ctxBlock{}.savedX) + 16*uintptr(r) }

// preempt is where an interrupted instruction goes on: it keeps every
// register and the flags, without touching the native stack, and leaves.
func (b *stubBuilder) preempt() {
	flags := unsafe.Offsetof(ctxBlock{}.flags)
	var resume arm64.Label
	b.saveGP()
	b.Mrs(scratch, arm64.NZCV)
	b.storeCtx(scratch, flags)
	for v := range arm64.Reg(32) {
		b.ldstQ(arm64.STRQ, v, savedX(v))
	}
	b.setExit(exitPreempt)
	b.AdrL(scratch, &resume)
	b.storeCtx(scratch, unsafe.Offsetof(ctxBlock{}.resumePC))
	b.exit()

	b.start()
	b.Bind(&resume)
	for v := range arm64.Reg(32) {
		b.ldstQ(arm64.LDRQ, v, savedX(v))
	}
	b.loadCtx(scratch, flags)
	b.Msr(arm64.NZCV, scratch)
	b.loadSP(savedGP(arm64.SP))
	// x28 is Go's. x18 belongs to the platform, and neither Go nor compiled
	// code has anything in it: it takes the jump.
	for r := range arm64.X30 + 1 {
		if r != ctxReg && r != arm64.X28 && r != arm64.X18 {
			b.loadCtx(r, savedGP(r))
		}
	}
	b.loadCtx(arm64.X18, unsafe.Offsetof(ctxBlock{}.preemptPC))
	b.Br(arm64.X18)
}

// call is the host-call stub, and the body that routines share: it saves what
// the convention preserves and the arguments in a hostFrame, exits with the
// code in x17, and returns with what Go left as the result.
func (b *stubBuilder) call() {
	b.MovI(arm64.MOVZ, arm64.S64, codeReg, exitHost, 0)
	b.Bind(&b.common)
	b.LdStPairPre(arm64.STPX, arm64.FP, arm64.LR, arm64.SP, -16)
	b.MovSP(arm64.FP, arm64.SP)
	b.AddI(arm64.SUB, arm64.S64, arm64.SP, arm64.SP, uint32(unsafe.Offsetof(hostFrame{}.fp)))
	b.frame(arm64.STRX, instReg, unsafe.Offsetof(hostFrame{}.inst))
	b.frame(arm64.STRX, memReg, unsafe.Offsetof(hostFrame{}.mem))
	for i := range arm64.Reg(liftoff.NumGPArgs) {
		b.frame(arm64.STRX, arm64.X0+i, unsafe.Offsetof(hostFrame{}.GP)+8*uintptr(i))
	}
	for i := range arm64.Reg(liftoff.NumFPArgs) {
		b.frame(arm64.STRQ, i, unsafe.Offsetof(hostFrame{}.FP)+16*uintptr(i))
	}
	b.kept(arm64.STRX, arm64.STRQ)
	b.JumpL(&b.leave)

	b.start()
	b.Bind(&b.restore)
	b.frame(arm64.LDRX, arm64.X0, unsafe.Offsetof(hostFrame{}.GP))
	b.frame(arm64.LDRQ, 0, unsafe.Offsetof(hostFrame{}.FP))
	b.frame(arm64.LDRX, instReg, unsafe.Offsetof(hostFrame{}.inst))
	b.frame(arm64.LDRX, memReg, unsafe.Offsetof(hostFrame{}.mem))
	b.kept(arm64.LDRX, arm64.LDRQ)
	b.MovSP(arm64.SP, arm64.FP)
	b.LdStPairPost(arm64.LDPX, arm64.FP, arm64.LR, arm64.SP, 16)
	b.Ret()
}

// kept stores or loads the registers that the convention preserves.
func (b *stubBuilder) kept(gp, vector arm64.Access) {
	for i, r := range keptRegs {
		b.frame(gp, r, unsafe.Offsetof(hostFrame{}.keep)+8*uintptr(i))
	}
	for i := range arm64.Reg(8) {
		b.frame(vector, 8+i, unsafe.Offsetof(hostFrame{}.kept)+16*uintptr(i))
	}
}

// frame accesses a field of the hostFrame at the stack pointer.
func (b *stubBuilder) frame(op arm64.Access, r arm64.Reg, offset uintptr) {
	b.LdSt(op, r, arm64.SP, int32(offset))
}

// routine is the stub of one runtime routine.
func (b *stubBuilder) routine(r liftoff.Routine) {
	var slow arm64.Label
	switch r {
	case liftoff.MemoryCopy:
		b.memoryCopy(&slow)
	case liftoff.MemoryFill:
		b.memoryFill(&slow)
	}
	b.Bind(&slow)
	b.MovI(arm64.MOVZ, arm64.S64, codeReg, exitRoutine+uint16(r), 0)
	b.JumpL(&b.common)
}
