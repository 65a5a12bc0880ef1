//go:build linux

package runtime

import (
	"unsafe"

	"github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/liftoff"
)

// stubBuilder generates the stubs. Labels connect the two kinds.
type stubBuilder struct {
	amd64.Asm
	enterBody, leaveOK amd64.Label
	leave, restore     amd64.Label
	common             amd64.Label
}

func newStubBuilder() *stubBuilder {
	b := &stubBuilder{}
	b.Reset(0)
	b.Reserve(8 << 10) // more than all stubs
	return b
}

// start aligns the next stub; the gap holds trap instructions.
func (b *stubBuilder) start() uintptr {
	for b.Pos()%16 != 0 {
		b.Int3()
	}
	return uintptr(b.Pos())
}

// raw appends a one-byte instruction that the assembler doesn't have.
func (b *stubBuilder) raw(op byte) {
	at := b.Pos()
	b.Int3()
	b.Bytes(at, at+1)[0] = op
}

const (
	pushfq = 0x9c
	popfq  = 0x9d
)

// ctxAt is a field of the context block.
func ctxAt(offset uintptr) amd64.Mem { return amd64.At(amd64.R15, int32(offset)) }

// toGo switches to the Go stack; flags stay.
func (b *stubBuilder) toGo() {
	b.MovRM(amd64.S64, amd64.RSP, ctxAt(unsafe.Offsetof(ctxBlock{}.goSP)))
	b.MovRM(amd64.S64, amd64.RBP, ctxAt(unsafe.Offsetof(ctxBlock{}.goFP)))
}

// exit is toGo, and goes on where Go resumed native code. It is a jump, so
// that the return predictor keeps the native calls that are still open.
func (b *stubBuilder) exit() {
	b.toGo()
	b.JmpM(ctxAt(unsafe.Offsetof(ctxBlock{}.goPC)))
}

func (b *stubBuilder) enterQuiet() {
	b.MovRM(amd64.S64, amd64.RSP, ctxAt(unsafe.Offsetof(ctxBlock{}.wasmSP)))
	b.JmpL(&b.enterBody)
}

// enter loads the argument registers, calls the function and leaves. The 0 in
// rbp ends the chain of frames.
func (b *stubBuilder) enter() {
	b.Bind(&b.enterBody)
	b.AluRR(amd64.XOR, amd64.S32, amd64.RBP, amd64.RBP)
	b.MovRM(amd64.S64, amd64.R14, ctxAt(unsafe.Offsetof(ctxBlock{}.inst)))
	for i, r := range argRegs {
		b.MovRM(amd64.S64, r, ctxAt(unsafe.Offsetof(ctxBlock{}.gp)+8*uintptr(i)))
	}
	b.MovRM(amd64.S64, amd64.RBX, amd64.At(amd64.R14, liftoff.InstMemBase))
	for i := range amd64.XReg(liftoff.NumFPArgs) {
		b.MovupsRM(i, ctxAt(unsafe.Offsetof(ctxBlock{}.fp)+16*uintptr(i)))
	}
	b.CallM(ctxAt(unsafe.Offsetof(ctxBlock{}.entry)))
	b.MovMR(amd64.S64, ctxAt(unsafe.Offsetof(ctxBlock{}.retGP)), amd64.RAX)
	b.MovupsMR(ctxAt(unsafe.Offsetof(ctxBlock{}.retFP)), amd64.XMM0)
	b.JmpL(&b.leaveOK)
}

// leaveQuiet has the ends of a run and of an ordinary exit, and the latter's
// resumption.
func (b *stubBuilder) leaveQuiet() {
	// The end of a run is a RET to the Go call that began it: all calls in
	// between have returned, so the predictor expects just that.
	b.Bind(&b.leaveOK)
	b.MovMI(amd64.S64, ctxAt(unsafe.Offsetof(ctxBlock{}.exitCode)), exitOK)
	b.toGo()
	b.MovRM(amd64.S64, amd64.RAX, ctxAt(unsafe.Offsetof(ctxBlock{}.goPC)))
	b.Push(amd64.RAX)
	b.Ret()

	// edi is the exit code.
	b.start()
	b.Bind(&b.leave)
	var resume amd64.Label
	b.MovMR(amd64.S64, ctxAt(unsafe.Offsetof(ctxBlock{}.exitCode)), amd64.RDI)
	b.MovMR(amd64.S64, ctxAt(unsafe.Offsetof(ctxBlock{}.wasmSP)), amd64.RSP)
	b.MovMR(amd64.S64, ctxAt(unsafe.Offsetof(ctxBlock{}.wasmFP)), amd64.RBP)
	b.LeaL(amd64.RAX, &resume)
	b.MovMR(amd64.S64, ctxAt(unsafe.Offsetof(ctxBlock{}.resumePC)), amd64.RAX)
	b.exit()

	b.start()
	b.Bind(&resume)
	b.MovRM(amd64.S64, amd64.RSP, ctxAt(unsafe.Offsetof(ctxBlock{}.wasmSP)))
	b.MovRM(amd64.S64, amd64.RBP, ctxAt(unsafe.Offsetof(ctxBlock{}.wasmFP)))
	b.JmpL(&b.restore)
}

// trap is where a fault of native code goes on: it keeps the registers for a
// diagnosis and leaves for good.
func (b *stubBuilder) trap() {
	b.saveGP()
	b.MovMI(amd64.S64, ctxAt(unsafe.Offsetof(ctxBlock{}.exitCode)), exitTrap)
	b.exit()
}

// saveGP stores all general registers but r15; flags stay.
func (b *stubBuilder) saveGP() {
	for r := range amd64.R15 {
		b.MovMR(amd64.S64, savedGP(r), r)
	}
}

func savedGP(r amd64.Reg) amd64.Mem {
	return ctxAt(unsafe.Offsetof(ctxBlock{}.savedGP) + 8*uintptr(r))
}

func savedX(r amd64.XReg) amd64.Mem {
	return ctxAt(unsafe.Offsetof(ctxBlock{}.savedX) + 16*uintptr(r))
}

// preempt is where an interrupted instruction goes on: it keeps every
// register and the flags, without touching the native stack, and leaves. The
// flags travel through the context block, as a stack of one cell.
func (b *stubBuilder) preempt() {
	flags := unsafe.Offsetof(ctxBlock{}.flags)
	var resume amd64.Label
	b.saveGP()
	b.Lea(amd64.S64, amd64.RSP, ctxAt(flags+8))
	b.raw(pushfq)
	for r := range amd64.XMM15 + 1 {
		b.MovupsMR(savedX(r), r)
	}
	b.MovMI(amd64.S64, ctxAt(unsafe.Offsetof(ctxBlock{}.exitCode)), exitPreempt)
	b.LeaL(amd64.RAX, &resume)
	b.MovMR(amd64.S64, ctxAt(unsafe.Offsetof(ctxBlock{}.resumePC)), amd64.RAX)
	b.exit()

	b.start()
	b.Bind(&resume)
	for r := range amd64.XMM15 + 1 {
		b.MovupsRM(r, savedX(r))
	}
	b.Lea(amd64.S64, amd64.RSP, ctxAt(flags))
	b.raw(popfq)
	for r := range amd64.R15 {
		b.MovRM(amd64.S64, r, savedGP(r))
	}
	b.JmpM(ctxAt(unsafe.Offsetof(ctxBlock{}.preemptPC)))
}

var (
	argRegs  = [...]amd64.Reg{amd64.RAX, amd64.RCX, amd64.RDX, amd64.RSI}
	keptRegs = [...]amd64.Reg{amd64.R8, amd64.R9, amd64.R10, amd64.R11, amd64.R12, amd64.R13}
)

// call is the host-call stub, and the body that routines share: it saves what
// the convention preserves and the arguments in a hostFrame, exits with the
// code in edi, and returns with what Go left as the result.
func (b *stubBuilder) call() {
	b.MovRI32(amd64.RDI, exitHost)
	b.Bind(&b.common)
	b.Push(amd64.RBP)
	b.MovRR(amd64.S64, amd64.RBP, amd64.RSP)
	b.Lea(amd64.S64, amd64.RSP, amd64.At(amd64.RBP, -int32(unsafe.Offsetof(hostFrame{}.fp))))
	b.MovMR(amd64.S64, frameAt(unsafe.Offsetof(hostFrame{}.inst)), amd64.R14)
	b.MovMR(amd64.S64, frameAt(unsafe.Offsetof(hostFrame{}.mem)), amd64.RBX)
	for i, r := range argRegs {
		b.MovMR(amd64.S64, frameAt(unsafe.Offsetof(hostFrame{}.GP)+8*uintptr(i)), r)
	}
	for i, r := range keptRegs {
		b.MovMR(amd64.S64, frameAt(unsafe.Offsetof(hostFrame{}.keep)+8*uintptr(i)), r)
	}
	for i := range amd64.XReg(liftoff.NumFPArgs) {
		b.MovupsMR(frameAt(unsafe.Offsetof(hostFrame{}.FP)+16*uintptr(i)), i)
	}
	for i := range amd64.XReg(8) {
		b.MovupsMR(frameAt(unsafe.Offsetof(hostFrame{}.kept)+16*uintptr(i)), amd64.XMM8+i)
	}
	b.JmpL(&b.leave)

	b.start()
	b.Bind(&b.restore)
	b.MovRM(amd64.S64, amd64.RAX, frameAt(unsafe.Offsetof(hostFrame{}.GP)))
	b.MovupsRM(amd64.XMM0, frameAt(unsafe.Offsetof(hostFrame{}.FP)))
	b.MovRM(amd64.S64, amd64.R14, frameAt(unsafe.Offsetof(hostFrame{}.inst)))
	b.MovRM(amd64.S64, amd64.RBX, frameAt(unsafe.Offsetof(hostFrame{}.mem)))
	for i, r := range keptRegs {
		b.MovRM(amd64.S64, r, frameAt(unsafe.Offsetof(hostFrame{}.keep)+8*uintptr(i)))
	}
	for i := range amd64.XReg(8) {
		b.MovupsRM(amd64.XMM8+i, frameAt(unsafe.Offsetof(hostFrame{}.kept)+16*uintptr(i)))
	}
	b.Leave()
	b.Ret()
}

// frameAt is a field of the hostFrame at rsp.
func frameAt(offset uintptr) amd64.Mem { return amd64.At(amd64.RSP, int32(offset)) }

// routine is the stub of one runtime routine.
func (b *stubBuilder) routine(r liftoff.Routine) {
	var slow amd64.Label
	switch r {
	case liftoff.MemoryCopy:
		b.memoryCopy(&slow)
	case liftoff.MemoryFill:
		b.memoryFill(&slow)
	}
	b.Bind(&slow)
	b.MovRI32(amd64.RDI, exitRoutine+uint32(r))
	b.JmpL(&b.common)
}
