package decoder

import (
	"fmt"
	"slices"
)

// Type is a value type as validation and the compiler see it. Types of the
// garbage-collection proposal will need more than this byte; every scalar,
// vector and reference type of WebAssembly 2.0 fits.
//
// ORDER: ops.txt signatures, Type.String and the liftoff kind masks rely on
// these numbers.
type Type uint8

const (
	// Bot is the type of an operand popped from the polymorphic stack of
	// unreachable code; it matches every type.
	Bot Type = iota
	I32
	I64
	F32
	F64
	V128
	FuncRef
	ExternRef
)

// IsRef reports whether t is a reference type.
func (t Type) IsRef() bool { return t >= FuncRef }

// IsNum reports whether t is one of the four numeric types.
func (t Type) IsNum() bool { return t-I32 <= F64-I32 }

// IsFloat reports whether values of t live in floating-point registers.
func (t Type) IsFloat() bool { return t-F32 <= V128-F32 }

var typeNames = [...]string{"unknown", "i32", "i64", "f32", "f64", "v128", "funcref", "externref"}

func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "invalid type"
}

// FuncType is a function signature (spec 2.3.6).
type FuncType struct {
	Params, Results []Type
}

// Equal reports whether two signatures are the same structurally.
func (f *FuncType) Equal(g *FuncType) bool {
	return slices.Equal(f.Params, g.Params) && slices.Equal(f.Results, g.Results)
}

// String renders the signature as the specification does: [i32 i64] -> [f32].
func (f *FuncType) String() string { return fmt.Sprintf("%v -> %v", f.Params, f.Results) }

// Limits bound a table (in entries) or a memory (in 64 KiB pages). Without
// HasMax, Max is the most that the index type allows.
type Limits struct {
	Min, Max uint64
	HasMax   bool
}

// TableType is the type of a table (spec 2.3.11).
type TableType struct {
	Elem Type
	Limits
}

// MemoryType is the type of a memory; limits are in pages of 64 KiB.
type MemoryType struct {
	Limits
}

// GlobalType is the type of a global.
type GlobalType struct {
	Type    Type
	Mutable bool
}

// ExternKind says what an import or export is; the numbers are the binary format's.
type ExternKind uint8

const (
	ExternFunc ExternKind = iota
	ExternTable
	ExternMemory
	ExternGlobal
)

func (k ExternKind) String() string {
	return [...]string{"function", "table", "memory", "global"}[k&3]
}

// Import is one import. Index is the index in its own index space; the type
// stands in Module.Funcs, Tables, Memories or Globals at that index.
type Import struct {
	Module, Name string
	Kind         ExternKind
	Index        uint32
}

// Export is one export.
type Export struct {
	Name  string
	Kind  ExternKind
	Index uint32
}

// ConstOp is one instruction of a constant expression.
type ConstOp uint8

const (
	ConstValue   ConstOp = iota // Bits is the value (i32 zero-extended; floats as their bits)
	ConstGlobal                 // Index is a global
	ConstRefNull                // Type is the reference type
	ConstRefFunc                // Index is a function
	ConstI32Add                 // extended const: pops two, pushes one
	ConstI32Sub
	ConstI32Mul
	ConstI64Add
	ConstI64Sub
	ConstI64Mul
)

// ConstInstr is one decoded instruction of a constant expression, in the
// order of execution (a tiny stack program).
type ConstInstr struct {
	Op    ConstOp
	Type  Type
	Index uint32
	Bits  uint64
}

// ConstExpr is a validated constant expression (spec 3.3.10 with extended const).
type ConstExpr []ConstInstr

// Global is the type of a global and, for a defined one, its initialiser.
type Global struct {
	GlobalType
	Init ConstExpr // nil for an import
}

// SegmentMode is how an element or data segment is used.
type SegmentMode uint8

const (
	SegmentActive SegmentMode = iota
	SegmentPassive
	SegmentDeclared
)

// ElemSegment is an element segment. Exactly one of Funcs and Exprs is set.
type ElemSegment struct {
	Mode   SegmentMode
	Type   Type
	Table  uint32
	Offset ConstExpr   // active segments
	Funcs  []uint32    // function indices, the common form
	Exprs  []ConstExpr // the general form
}

// Len is the number of elements.
func (e *ElemSegment) Len() int { return len(e.Funcs) + len(e.Exprs) }

// DataSegment is a data segment; its bytes are Module.Bytes[Start:End].
type DataSegment struct {
	Mode       SegmentMode
	Memory     uint32
	Offset     ConstExpr
	Start, End uint32
}

// Body is a function body: Module.Bytes[Start:End] holds its local
// declarations and its code, without the size field.
type Body struct {
	Start, End uint32
}

// Size is the number of bytes.
func (b Body) Size() uint32 { return b.End - b.Start }

// Custom is a custom section; its contents are Module.Bytes[Start:End].
type Custom struct {
	Name       string
	Start, End uint32
}

// Module is a decoded module. Its function bodies are not validated: that is
// done by the compiler in the same walk as code generation, or by
// ValidateBodies.
//
// Index spaces start with the imports, as in the specification.
type Module struct {
	// Bytes is the whole file. At least Padding readable bytes follow it in
	// the same allocation, so that body walkers may read a little too far
	// before they notice the end.
	Bytes []byte

	Types    []FuncType
	Imports  []Import
	Funcs    []uint32 // type index per function
	Tables   []TableType
	Memories []MemoryType
	Globals  []Global
	Exports  []Export
	Elems    []ElemSegment
	Datas    []DataSegment
	Bodies   []Body // per defined function
	Customs  []Custom

	NumImportedFuncs    uint32
	NumImportedTables   uint32
	NumImportedMemories uint32
	NumImportedGlobals  uint32

	Start     uint32 // start function, if HasStart
	HasStart  bool
	DataCount uint32 // from the data count section, if HasDataCount
	// HasDataCount reports a data count section; without one memory.init and
	// data.drop are invalid.
	HasDataCount bool

	// RefFuncs lists, ascending, the functions a ref.func may name: those
	// that occur in element segments, exports or global initialisers (spec
	// 3.4.10, C.refs). Each has a record in every instance.
	RefFuncs []uint32

	// CodeStart and CodeEnd delimit the payload of the code section.
	CodeStart, CodeEnd uint32

	refSet []uint64 // RefFuncs as a bit set; nil while empty
	names  *names
}

// Padding is how many readable bytes must follow Module.Bytes, for readers that
// look at whole words, or at whole chunks of a body.
const Padding = 64

// FuncType returns the signature of function i.
func (m *Module) FuncType(i uint32) *FuncType { return &m.Types[m.Funcs[i]] }

// Operand is one entry of the operand stack. Validation owns Type; the other
// fields are the compiler's (where the value is), and validation neither
// reads nor writes them. One record for both saves a second stack, which a
// prototype measured at 4-9 % of compile time.
type Operand struct {
	Type  Type
	Loc   uint8
	Reg   uint8
	Flags uint8
	Local uint32
	Bits  uint64
}

// BlockType is the signature of a block: BlockEmpty, BlockOne|Type for a
// single result, or the index of a function type.
type BlockType uint32

const (
	// BlockEmpty is a block without parameters and results.
	BlockEmpty BlockType = 1<<31 - 1
	// BlockOne, or'ed with a Type, is a block with one result.
	BlockOne BlockType = 1 << 31
)

// Control is one entry of the control stack.
type Control struct {
	// Op is the opcode that opened the frame (block, loop, if, or else after
	// the else of an if); the function body counts as a block.
	Op byte
	// Dead is set while the code of the frame is unreachable and its operand
	// stack polymorphic (spec, appendix 7.3).
	Dead bool
	Sig  BlockType
	// Height is the number of operands below the frame's parameters.
	Height uint32
	// Offset is the module offset of the opening opcode.
	Offset uint32
}
