// Package arm64 encodes AArch64 instructions into a reused buffer.
//
// Every instruction is one 32-bit word, stored unchecked, so the caller
// reserves room first (see [Asm.Reserve]). The host must be little-endian and
// may be of any architecture.
//
// Encoders never choose a scratch register and never split an operation: one
// method call is one instruction, but for branches to labels, whose forms the
// fix-up code picks (label.go). What can't be encoded panics, registers out of
// range with the runtime's index error, all else with an error of this package.
// A value is never cut to fit; callers ask [FitsArith], [FitsLogical] and the
// like first.
package arm64

import "errors"

// Reg is a general register by its hardware number.
type Reg uint8

// General registers. Number 31 is the zero register or the stack pointer,
// whichever the instruction's form means there.
const (
	X0 Reg = iota
	X1
	X2
	X3
	X4
	X5
	X6
	X7
	X8
	X9
	X10
	X11
	X12
	X13
	X14
	X15
	X16
	X17
	X18
	X19
	X20
	X21
	X22
	X23
	X24
	X25
	X26
	X27
	X28
	X29
	X30
	ZR

	SP = ZR
	// FP and LR are the frame pointer and the link register of the procedure
	// call standard.
	FP = X29
	LR = X30
)

// VReg is a floating-point and vector register by its hardware number.
type VReg uint8

// Floating-point and vector registers.
const (
	V0 VReg = iota
	V1
	V2
	V3
	V4
	V5
	V6
	V7
	V8
	V9
	V10
	V11
	V12
	V13
	V14
	V15
	V16
	V17
	V18
	V19
	V20
	V21
	V22
	V23
	V24
	V25
	V26
	V27
	V28
	V29
	V30
	V31
)

// Size is the operand width of an integer instruction. A 32-bit operation
// clears the upper half of its destination register.
type Size uint8

// Operand widths. The value is the instruction's bit sf.
const (
	S32 Size = iota
	S64
)

// bits is the width in bits.
func (s Size) bits() uint8 { return 32 << s }

// Cond is a condition code.
type Cond uint8

// Conditions. After an unsigned comparison LO, HS, LS and HI order the
// operands, after a signed one LT, GE, LE and GT. After a floating-point one GT
// and GE are false, LT, LE and NE true on unordered operands; MI is "less" and
// false on them, PL its opposite; VS is "unordered".
const (
	EQ Cond = iota
	NE
	HS
	LO
	MI
	PL
	VS
	VC
	HI
	LS
	GE
	LT
	GT
	LE
	AL
)

// Not is the opposite condition; AL has none.
func (c Cond) Not() Cond { return c ^ 1 }

// What encoders panic with, besides index errors. All are internal faults of the
// caller: no input may lead to one, but errReach in a function of more than
// 128 MiB.
var (
	errImm     error = errors.New("asm/arm64: immediate out of range")
	errOp      error = errors.New("asm/arm64: operation has no such form")
	errReach   error = errors.New("asm/arm64: branch target out of reach")
	errRoom    error = errors.New("asm/arm64: code written past the reserved room")
	errSize    error = errors.New("asm/arm64: code buffer over 1 GiB")
	errBound   error = errors.New("asm/arm64: label bound twice")
	errUnbound error = errors.New("asm/arm64: label not bound")
)

// Where a register number stands in an instruction word. Indexing is the check
// of the number: a panic of our own would cost the encoders a stack frame.
var (
	rd = field(0)  // destination, or the register to load or store
	rn = field(5)  // first source, or base
	ra = field(10) // third source, or the second of a pair
	rm = field(16) // second source, or index
)

func field(pos int) (t [32]uint32) {
	for r := range t {
		t[r] = uint32(r) << pos
	}
	return t
}

// sf is the width bit of most integer instructions.
func (s Size) sf() uint32 { return uint32(s) << 31 }
