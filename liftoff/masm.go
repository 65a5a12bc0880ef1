package liftoff

import (
	"github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/asm/arm64"
)

// masm is the facade over the assemblers: what a class function asks of a
// machine. Its methods are macro operations - a whole binary operation, a load
// with its addressing, a compare and branch - so that two targets cost one
// branch per operation and not one per instruction, which a prototype measured
// at 6-20 % of compile time. Class functions call nothing else that depends on
// the machine.
//
// A macro operation stands in amd64*.go with its meaning, begins with the branch
// on the target, and has a sibling in arm64*.go under the same name with "arm"
// in front.
type masm struct {
	arm bool // the target is arm64: a is in use, else x
	x   amd64.Asm
	a   arm64.Asm
	// faultPos is the position of the instruction of the last memory access
	// that may fault.
	faultPos int
	// flagsLive is set while condition flags are waiting to be read: no
	// instruction that writes flags may be emitted then.
	flagsLive bool
}

// jumpLabel is a position in the code being compiled. One of the two is in
// use.
type jumpLabel struct {
	x amd64.Label
	a arm64.Label
}

// addr is a memory operand: base + index + disp; index may be noReg.
type addr struct {
	base, index reg
	disp        int32
}

// perOpcode bounds the bytes that one opcode emits without reserving more: a
// flush of every register, its own code and a branch.
const perOpcode = 1024

// perMove bounds the bytes of a move between any two places: on arm64 a
// constant and an address of up to four instructions each, and the access.
const perMove = 48

// reset empties the code buffer. far is for arm64: see arm64.Asm.Reset.
func (m *masm) reset(far bool) {
	if m.arm {
		m.a.Reset(headroom, far)
		return
	}
	m.x.Reset(headroom)
}

// pos is the position of the next instruction.
func (m *masm) pos() int {
	if m.arm {
		return m.a.Pos()
	}
	return m.x.Pos()
}

// codeFrom is the code from position start on.
func (m *masm) codeFrom(start int) []byte {
	if m.arm {
		return m.a.Bytes(start, m.a.Pos())
	}
	return m.x.Bytes(start, m.x.Pos())
}

// reserve makes room for the code of one opcode. It is inlined into the walk:
// where the target is arm64, the other buffer never has room.
func (m *masm) reserve() {
	if m.x.Room() < perOpcode {
		m.reserveMore(0)
	}
}

// reserveFor makes room for n moves beyond what an opcode has.
func (m *masm) reserveFor(n int) {
	if n > 0 {
		m.reserveMore(n)
	}
}

func (m *masm) reserveMore(n int) {
	if m.arm {
		m.a.Reserve(perOpcode + perMove*n)
		return
	}
	m.x.Reserve(perOpcode + perMove*n)
}

// bind puts a label at the current position.
func (m *masm) bind(l *jumpLabel) {
	if m.arm {
		m.a.Bind(&l.a)
		return
	}
	m.x.Bind(&l.x)
}

// jump emits an unconditional jump.
func (m *masm) jump(l *jumpLabel) {
	if m.arm {
		m.a.JumpL(&l.a)
		return
	}
	m.x.JmpL(&l.x)
}
