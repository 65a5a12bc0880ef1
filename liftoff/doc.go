// Package liftoff is the single-pass compiler: it walks a function body once,
// validates it and emits machine code on the way. There is no intermediate
// representation and nothing is looked at twice but for a cheap scan that
// weighs the function's locals.
//
// # Three structures
//
// The value stack is validation's operand stack (decoder.Validator.Ops): the
// type of an operand belongs to validation, the other fields say where its
// value is - in its home slot in the frame, in a register, a constant or an alias
// of a local. Pushing a constant or a local emits nothing. What two opcodes in a
// row are best compiled as in one go never gets there: a comparison and the
// branch on it (compared), a result and the local that it is set to (deliver).
//
// The register state (regs) says what each allocatable register holds: nothing,
// operands, or the cached value of an unpinned local, clean or dirty. A clean
// cache costs nothing to give up; a dirty one and an operand cost a store.
//
// The control stack (decoder.Validator.Ctl and Compiler.labels) has one entry
// per open block. Entering a block is O(1) and nothing recurses on nesting.
//
// # Canonical merges
//
// No state is ever recorded for a label. What all paths to it agree on follows
// from a rule (merge.go): operands are in their home slots, the first value of
// a forward label in the result register, pinned locals in their pins, all other locals
// in their home slots. Pins are callee-saved registers, chosen for a whole
// function by the weight of its locals (hints.go); they are what makes the rule
// cheap, since a loop's hot locals never leave their registers.
//
// # Invariants
//
// An i32 in a register is zero-extended to 64 bits, always; in memory its upper
// half is undefined. Addresses are computed in 64 bits from such registers, so
// the 33rd bit of index + offset is never lost.
//
// Whatever changes the state of registers or operands happens before the first
// conditional jump of an opcode's code. Code on a path that may not be taken
// (mergeMoves, returnMoves) reads the state and leaves it alone.
//
// The result register of an opcode may be any of its operand registers, or the
// pin of the local that the next opcode sets. Sequences of several instructions
// must read an operand before they write a result that may share its register.
//
// Code is position-independent but for direct calls, and depends on nothing but
// the module and the options: the same function compiles to the same bytes
// every time. Positions of traps and calls are therefore not stored but made,
// by compiling the one function again, when somebody asks.
//
// # Two targets
//
// Class functions (binop, load, brIf, ...) are written once and speak to the
// machine through masm, whose methods are macro operations: each begins with
// the one branch on the target. amd64*.go has their meaning and amd64's code,
// arm64*.go the siblings. Registers are known by roles (roles.go), which have
// the same numbers on both targets.
package liftoff
