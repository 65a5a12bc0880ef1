package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// This file is the contract between compiled code and the runtime: where
// arguments travel, what the instance and context blocks hold, and which
// runtime routines compiled code may call. Nothing here depends on the
// process, so compiled bytes don't either.

// Register roles. Both targets have the same; only the registers differ, and
// arm64 has two more to allocate.
//
//	                        amd64            arm64
//	stack, frame pointer    rsp, rbp         sp, x29
//	return address          on the stack     x30
//	context                 r15              x27     at every native instruction
//	instance block          r14              x25
//	base of memory 0        rbx              x26     undefined without one
//	integer arguments       rax rcx rdx rsi  x0-x3   the first also result 0
//	scratch                 rdi              x4      clobbered by a call
//	further allocatable                      x5 x6
//	pinned locals           r8-r13           x19-x24 callee-saved
//	float, vector arguments xmm0-xmm6        v0-v6   the first also result 0
//	scratch                 xmm7             v7
//	pinned locals           xmm8-xmm15       v8-v15  callee-saved, all 128 bits
//	of one operation                         x15-x17 v16
//	never touched                            x18 (the platform's), x28 (Go's g)
//
// Frame, with fp for rbp and x29: [fp+16+8i] is stack argument i; the stack
// results follow the stack arguments, one 8-byte cell each, without overlap.
// [fp+8] is the return address, [fp] the caller's fp, [fp-8] the function's own
// instance. On arm64 sp is a multiple of 16.
//
// Every i32 in a register is zero-extended to 64 bits, at calls and returns
// too. An i32 in a stack cell occupies the low four bytes, the upper four
// are undefined.

// Loc says where an argument or result travels.
type ABILoc struct {
	// Kind is ABIGP, ABIFP or ABIStack.
	Kind uint8
	// Index is the position in the argument registers of that kind, or the
	// number of the 8-byte stack cell.
	Index uint16
}

// Kinds of ABILoc.
const (
	ABIGP = iota
	ABIFP
	ABIStack
)

// Argument registers of each kind that the convention has.
const (
	NumGPArgs = 4
	NumFPArgs = 7
)

// AssignParams appends the location of each parameter to dst and returns it
// with the number of stack cells used. A v128 takes two cells.
func AssignParams(dst []ABILoc, types []decoder.Type) ([]ABILoc, int) {
	return assign(dst, types, NumGPArgs, NumFPArgs, 0)
}

// AssignResults does the same for results: the first result in a register,
// all others in stack cells numbered from firstCell, the number of cells the
// parameters use.
func AssignResults(dst []ABILoc, types []decoder.Type, firstCell int) ([]ABILoc, int) {
	if len(types) == 0 {
		return dst, firstCell
	}
	dst, _ = assign(dst, types[:1], 1, 1, 0)
	return assign(dst, types[1:], 0, 0, firstCell)
}

func assign(dst []ABILoc, types []decoder.Type, gp, fp uint16, cell int) ([]ABILoc, int) {
	var g, f uint16
	for _, t := range types {
		switch {
		case t.IsFloat() && f < fp:
			dst = append(dst, ABILoc{ABIFP, f})
			f++
		case !t.IsFloat() && g < gp:
			dst = append(dst, ABILoc{ABIGP, g})
			g++
		default:
			dst = append(dst, ABILoc{ABIStack, uint16(cell)})
			cell++
			if t == decoder.V128 {
				cell++
			}
		}
	}
	return dst, cell
}

// Offsets in the context block. The runtime owns everything below
// CtxStackLimit and lays it out itself.
const (
	// CtxStackLimit holds the lowest address the stack pointer may take;
	// compiled code compares only in functions with frames over GuardProbe.
	CtxStackLimit = 0x1f8
	// CtxRoutines is the first of NumRoutines code addresses, 8 bytes each.
	CtxRoutines = 0x200
)

// GuardProbe is the largest frame, in bytes, that needs no explicit check
// because the stack's guard region (at least twice as large) catches it.
const GuardProbe = 32 << 10

// Routine is a runtime routine that compiled code calls through
// [context + CtxRoutines + 8*Routine] with the ordinary convention: integer
// arguments and result in their registers; callee-saved registers, instance and
// memory base preserved. The first argument is always the immediate.
type Routine uint8

const (
	// MemoryGrow(memory, delta) gives the old size in pages or 0xffffffff.
	MemoryGrow Routine = iota
	// MemoryCopy(dstMemory<<32 | srcMemory, dst, src, n).
	MemoryCopy
	// MemoryFill(memory, dst, value, n).
	MemoryFill
	// MemoryInit(segment<<32 | memory, dst, src, n).
	MemoryInit
	// DataDrop(segment).
	DataDrop
	// TableGrow(table, value, n) gives the old size or 0xffffffff.
	TableGrow
	// TableFill(table, start, value, n).
	TableFill
	// TableCopy(dstTable<<32 | srcTable, dst, src, n).
	TableCopy
	// TableInit(segment<<32 | table, dst, src, n).
	TableInit
	// ElemDrop(segment).
	ElemDrop
	NumRoutines
)

// Offsets in the instance block. A host function's record points to a
// block with the same header.
const (
	// InstMemBase is the base address of memory 0, 0 without one.
	InstMemBase = 0
	// InstID is the runtime's handle of the instance (or host function).
	InstID = 8
	// InstHeader is the size of the header.
	InstHeader = 16
)

// Offsets in a memory record.
const (
	MemRecBase  = 0 // address
	MemRecBytes = 8 // current size in bytes
)

// Offsets in a table record. Entries are 8 bytes: the address of a function
// record, or an externref handle; 0 is null.
const (
	TableRecBase = 0 // address of entry 0
	TableRecLen  = 8 // current length, as 64 bits
)

// Function record: what a funcref points to and a call through an import,
// table or reference reads.
const (
	RecEntry = 0  // code address
	RecInst  = 8  // instance block to run it in
	RecSig   = 16 // uint32 signature id, unique per store and signature
	RecFunc  = 20 // uint32 function index in its own instance, for the runtime
	RecSize  = 24
)

// Layout gives the byte offsets of the parts of an instance block of one
// module. It depends on the module alone.
type Layout struct {
	SigIDs   int32 // uint32 per type
	Memories int32 // address of the memory record, per memory
	Tables   int32 // address of the table record, per table
	Records  int32 // function records: imports, then Module.RefFuncs that are defined functions
	Size     int32
	// Fixed is the size of the part that is constant in a built instance, a
	// multiple of every page size; 0 in a layout that isn't split.
	Fixed int32

	// Globals is the offset per global of its cell (8 bytes, 16 for v128),
	// or, for an import, of the 8-byte address of the cell.
	Globals []int32

	refFuncs []uint32
	imported uint32
}
