// Package amd64 encodes x86-64 instructions into a reused buffer.
//
// An encoder assembles prefix, opcode, ModRM and displacement in one 64-bit
// word and stores it unchecked, so the caller reserves room first (see
// [Asm.Reserve]). The host must be little-endian and may be of any
// architecture.
//
// Encoders never choose a scratch register and never split an operation: one
// method call is one instruction, in its shortest form for the operands given.
// What can't be encoded panics, registers and scales out of range with the
// runtime's index error, all else with an error of this package. A value is
// never cut to fit.
package amd64

import "errors"

// Reg is a general register by its hardware number.
type Reg uint8

// General registers. The order is the hardware's encoding.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15

	// NoReg stands for "no register" in a [Mem]; elsewhere it panics.
	NoReg Reg = 0xff
)

// XReg is an SSE register by its hardware number.
type XReg uint8

// SSE registers.
const (
	XMM0 XReg = iota
	XMM1
	XMM2
	XMM3
	XMM4
	XMM5
	XMM6
	XMM7
	XMM8
	XMM9
	XMM10
	XMM11
	XMM12
	XMM13
	XMM14
	XMM15
)

// Size is the operand width of an integer instruction. A 32-bit operation
// clears the upper half of its destination register.
type Size uint8

// Operand widths. The value is REX.W.
const (
	S32 Size = iota
	S64
)

// Alu is a two-operand arithmetic instruction; the value is the number that
// the opcode and ModRM.reg carry.
type Alu uint8

// Arithmetic instructions.
const (
	ADD Alu = iota
	OR
	ADC
	SBB
	AND
	SUB
	XOR
	CMP
)

// Shift is a shift or rotate; the value is ModRM.reg.
type Shift uint8

// Shifts and rotates. Number 6 is an undocumented alias that nobody needs.
const (
	ROL Shift = iota
	ROR
	RCL
	RCR
	SHL
	SHR
	_
	SAR
)

// Cond is a condition code; the value is the low nibble of the opcode.
type Cond uint8

// Conditions. After an unsigned or floating-point comparison B, AE, BE and A
// order the operands; after a signed one L, GE, LE and G do. P is also
// "unordered" after ucomiss and ucomisd.
const (
	O Cond = iota
	NO
	B
	AE
	E
	NE
	BE
	A
	S
	NS
	P
	NP
	L
	GE
	LE
	G
)

// Not is the opposite condition.
func (c Cond) Not() Cond { return c ^ 1 }

// Mem is a memory operand: Base + Index<<Scale + Disp, with Index NoReg if
// there is none. Base is NoReg only together with an index; the displacement
// then takes four bytes whatever its value. RSP can't be an index, and Scale
// is at most 3; the encoder panics otherwise.
//
// The type keeps to four fields so that Go passes it in registers.
type Mem struct {
	Base, Index Reg
	Scale       uint8 // log2 of the factor
	Disp        int32
}

// At is the operand base + disp.
func At(base Reg, disp int32) Mem {
	return Mem{Base: base, Index: NoReg, Disp: disp}
}

// AtIdx is the operand base + index<<scale + disp.
func AtIdx(base, index Reg, scale uint8, disp int32) Mem {
	return Mem{Base: base, Index: index, Scale: scale, Disp: disp}
}

// What encoders panic with, besides index errors. All are internal faults of the
// caller: no input may lead to one.
var (
	errImm     error = errors.New("asm/amd64: immediate out of range")
	errOp      error = errors.New("asm/amd64: operation has no such form")
	errReach   error = errors.New("asm/amd64: branch target out of reach")
	errRoom    error = errors.New("asm/amd64: code written past the reserved room")
	errSize    error = errors.New("asm/amd64: code buffer over 1 GiB")
	errBound   error = errors.New("asm/amd64: label bound twice")
	errUnbound error = errors.New("asm/amd64: label not bound")
)
