package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// Arch is a target architecture. The zero value is the host's (AMD64 on hosts
// that are neither).
type Arch uint8

// Bounds says how memory accesses are checked.
type Bounds uint8

const (
	// BoundsGuard relies on guard pages behind every 32-bit memory.
	BoundsGuard Bounds = iota
	// BoundsExplicit compares every address with the memory's size.
	BoundsExplicit
)

// CPU is the set of optional instructions that code may use.
type CPU struct {
	Popcnt, Lzcnt, BMI1, BMI2 bool
}

// Options decide the code that a Compiler makes. Equal options and an equal
// module give equal bytes.
type Options struct {
	Arch   Arch
	CPU    CPU
	Bounds Bounds
	// Reference compiles with every value in its home slot between opcodes:
	// slow, simple code to bisect miscompiles with.
	Reference bool
	// SplitInstance keeps what is constant in an instance block apart from
	// the mutable globals (NewSplitLayout), for stores that protect it.
	SplitInstance bool
	// FarCalls makes direct calls reach farther than 128 MiB on arm64, which
	// takes three instructions instead of one. It changes nothing on amd64.
	FarCalls bool
	// FewRegisters leaves three allocatable registers of each kind, a test
	// mode that finds spill and merge bugs.
	FewRegisters bool
}

// Code is one compiled function. Its slices are valid until the compiler's
// next Compile.
type Code struct {
	// Bytes is position-independent but for its call sites.
	Bytes []byte
	// CallSites are the offsets, ascending, of the 4-byte fields of direct
	// calls. Before linking a field holds the callee's function index; the
	// linker replaces it by the distance from the field's end to the callee.
	// On arm64 the field is the whole instruction and the index stands in its
	// low 26 bits; of far calls the field is two instructions (link.go).
	CallSites []uint32
	// Positions is filled only by CompilePositions.
	Positions []Position
}

// TrapKind is why a position may trap.
type TrapKind uint8

const (
	TrapNone TrapKind = iota // a call: the position names the return address
	TrapUnreachable
	TrapMemoryOutOfBounds
	TrapDivideByZero
	TrapIntegerOverflow
	TrapInvalidConversion
	TrapTableOutOfBounds     // table.get, table.set
	TrapUndefinedElement     // call_indirect beyond the table
	TrapUninitializedElement // call_indirect of a null entry
	TrapIndirectTypeMismatch
	TrapStackOverflow
)

// Position maps a code offset to the module offset of an opcode. For a call
// (TrapNone) the code offset is that of the return address, for all others
// that of the instruction that faults.
type Position struct {
	Code, Wasm uint32
	Kind       TrapKind
}

// New returns a compiler for the functions of m. It belongs to one goroutine
// at a time and reuses its buffers from function to function.
func New(m *decoder.Module, l *Layout, o Options) (*Compiler, error) {
	return newCompiler(m, l, o)
}
