package liftoff

import "github.com/wasmjit/wasmjit/asm/amd64"

// masm is the facade over the assemblers: what a class function asks of a
// machine. Its methods are macro operations - a whole binary operation, a load
// with its addressing, a compare and branch - so that a second target costs
// one branch per opcode and not one per instruction, which a prototype
// measured at 6-20 % of compile time. Class functions call nothing else that
// depends on the machine, but for the few that stand in amd64*.go because
// fixed registers decide their shape (shiftVar, divide, ...).
//
// Until the arm64 back end exists every method goes straight to amd64; the
// branch on the target belongs at the top of each.
type masm struct {
	x amd64.Asm
	// faultPos is the position of the instruction of the last memory access
	// that may fault.
	faultPos int
	// flagsLive is set while condition flags are waiting to be read: no
	// instruction that writes flags may be emitted then.
	flagsLive bool
}

// jumpLabel is a position in the code being compiled.
type jumpLabel = amd64.Label

// addr is a memory operand: base + index + disp; index may be noReg.
type addr struct {
	base, index reg
	disp        int32
}

// perOpcode bounds the bytes that one opcode emits without reserving more: a
// flush of every register, its own code and a branch.
const perOpcode = 1024

// reserve makes room for the code of one opcode.
func (m *masm) reserve() { m.x.Reserve(perOpcode) }

// reserveFor makes room for n more moves.
func (m *masm) reserveFor(n int) { m.x.Reserve(perOpcode + 32*n) }

// bind puts a label at the current position.
func (m *masm) bind(l *jumpLabel) { m.x.Bind(l) }

// jump emits an unconditional jump.
func (m *masm) jump(l *jumpLabel) { m.x.JmpL(l) }
