package decoder

import (
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// bodyCase is a function body and what validation says of it. at is the
// error's position, counted from the first byte of the code; the text is
// Error.Msg, and "" means that the body is valid.
type bodyCase struct {
	name            string
	params, results []Type
	body            []byte
	at              int
	code            ErrorCode
	msg             string
}

func (c *bodyCase) run(t *testing.T) {
	t.Helper()
	m, err := Decode(oneFunc(c.params, c.results, cat([]byte{0}, c.body)))
	if err != nil {
		t.Fatal(err)
	}
	err = m.ValidateBody(0)
	if c.msg == "" {
		if err != nil {
			t.Error(err)
		}
		// Scans before validation must step over the same opcodes.
		pc, end := int(m.Bodies[0].Start)+1, int(m.Bodies[0].End)
		base := unsafe.Pointer(unsafe.SliceData(m.Bytes))
		for pc < end {
			pc = SkipImmediate(base, pc+1, end, m.Bytes[pc])
		}
		if pc != end {
			t.Errorf("SkipImmediate ends at %#x, the body at %#x", pc, end)
		}
		return
	}
	checkError(t, err, int(m.Bodies[0].Start)+1, c.at, c.code, c.msg)
	if e := err.(*Error); e.Func != 0 {
		t.Errorf("function %d, want 0", e.Func)
	}
}

// checkError compares an error with what a case wants; at counts from start.
func checkError(t *testing.T, err error, start, at int, code ErrorCode, msg string) {
	t.Helper()
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("no error, want %q", msg)
	}
	if e.Msg != msg {
		t.Errorf("message\n have %s\n want %s", e.Msg, msg)
	}
	if got := int(e.Offset) - start; got != at {
		t.Errorf("error at byte %d, want %d", got, at)
	}
	if e.Code != code {
		t.Errorf("code %d, want %d", e.Code, code)
	}
	if e.IsUnsupported() != (code == CodeUnsupported) {
		t.Errorf("feature %q with code %d", e.Feature, e.Code)
	}
}

func TestBodies(t *testing.T) {
	i32, i64 := types(I32), types(I64)
	big := slices.Repeat([]byte{0x80}, 4)
	for _, c := range []bodyCase{
		// Encoding.
		{"no end", nil, nil, []byte{OpNop}, 1, CodeNesting, "expected an end for each of 1 open blocks, found the end of the function body"},
		{"end missing", nil, nil, []byte{OpBlock, 0x40, OpEnd}, 3, CodeNesting, "expected an end for each of 1 open blocks, found the end of the function body"},
		{"behind the end", nil, nil, []byte{OpEnd, OpNop, OpEnd}, 1, CodeNesting, "expected the end of the function body, found 2 bytes behind its last end"},
		{"no opcode", nil, nil, []byte{0xff, OpEnd}, 0, CodeOpcode, "expected an opcode, found 0xff, which is none"},
		{"no opcode in dead code", nil, nil, []byte{OpUnreachable, 0x27, OpEnd}, 1, CodeOpcode, "expected an opcode, found 0x27, which is none"},
		{"no sub-opcode", nil, nil, []byte{0xfc, 0x17, OpEnd}, 0, CodeOpcode, "expected an opcode, found 0xfc 0x17, which is none"},
		{"large sub-opcode", nil, nil, []byte{0xfc, 0x8a, 0x20, OpEnd}, 0, CodeOpcode, "expected an opcode, found 0xfc 0x100a, which is none"},
		{"sub-opcode cut", nil, nil, []byte{0xfc, 0x80}, 1, CodeTruncated, "expected a sub-opcode, found the end of the function body"},
		{"constant cut", nil, i32, []byte{OpI32Const, 0x80}, 1, CodeTruncated, "expected an i32 constant, found the end of the function body"},
		{"constant too long", nil, i32, cat([]byte{OpI32Const}, big, []byte{0x80, 0, OpDrop, OpEnd}), 1, CodeLEB, "expected an i32 constant, found an integer of more than 5 bytes"},
		{"constant too large", nil, i32, cat([]byte{OpI32Const}, big, []byte{0x10, OpDrop, OpEnd}), 1, CodeLEB, "expected an i32 constant, found an integer that is too large"},
		{"long constant too large", nil, i64, cat([]byte{OpI64Const}, big, big, []byte{0x80, 0x02, OpEnd}), 1, CodeLEB, "expected an i64 constant, found an integer that is too large"},
		{"float cut", nil, types(F64), []byte{OpF64Const, 0, 0, 0, 0, 0, 0, OpEnd}, 1, CodeTruncated, "expected f64 constant, found the end of the function body"},
		{"index cut", nil, nil, []byte{OpLocalGet}, 1, CodeTruncated, "expected a local index, found the end of the function body"},
		{"memarg cut", nil, nil, []byte{OpI32Const, 0, OpI32Load, 2}, 4, CodeTruncated, "expected an offset of at most 32 bits, found the end of the function body"},
		{"else without if", nil, nil, []byte{OpBlock, 0x40, OpElse, OpEnd, OpEnd}, 2, CodeNesting, "else: expected an if that it belongs to, found the block"},
		{"two elses", nil, nil, []byte{OpI32Const, 0, OpIf, 0x40, OpElse, OpElse, OpEnd, OpEnd}, 5, CodeNesting, "else: expected an if that it belongs to, found the else"},
		{"else of the function", nil, nil, []byte{OpElse, OpEnd}, 0, CodeNesting, "else: expected an if that it belongs to, found the function"},

		// Proposals.
		{"SIMD", nil, nil, []byte{0xfd, 0x0c, OpEnd}, 0, CodeUnsupported, "SIMD is not supported yet (opcode 0xfd 0x0c v128.const)"},
		{"unknown SIMD", nil, nil, []byte{0xfd, 0x9a, 0x01, OpEnd}, 0, CodeUnsupported, "SIMD is not supported yet (opcode 0xfd 0x9a)"},
		{"relaxed SIMD", nil, nil, []byte{0xfd, 0x85, 0x02, OpEnd}, 0, CodeUnsupported, "relaxed SIMD is not supported yet (opcode 0xfd 0x105 f32x4.relaxed_madd)"},
		{"tail call", nil, nil, []byte{OpReturnCall, 0, OpEnd}, 0, CodeUnsupported, "tail calls are not supported yet (opcode 0x12 return_call)"},
		{"threads", nil, nil, []byte{0xfe, 0x03, 0x00, OpEnd}, 0, CodeUnsupported, "threads (shared memories and atomics) are not supported yet (opcode 0xfe 0x03 atomic.fence)"},
		{"gc", nil, nil, []byte{0xfb, 0x00, 0x00, OpEnd}, 0, CodeUnsupported, "garbage collection (GC) is not supported yet (opcode 0xfb 0x00 struct.new)"},
		{"wide arithmetic", nil, nil, []byte{0xfc, 0x13, OpEnd}, 0, CodeUnsupported, "wide arithmetic is not supported yet (opcode 0xfc 0x13 i64.add128)"},
		{"exceptions", nil, nil, []byte{OpTryTable, 0x40, 0, OpEnd, OpEnd}, 0, CodeUnsupported, "exception handling is not supported yet (opcode 0x1f try_table)"},
		{"old exceptions", nil, nil, []byte{OpTry, 0x40, OpEnd, OpEnd}, 0, CodeUnsupported, "legacy exception handling is not supported yet (opcode 0x06 try)"},
		{"block of v128", nil, nil, []byte{OpBlock, 0x7b, OpEnd, OpEnd}, 1, CodeUnsupported, "SIMD is not supported yet (type 0x7b)"},
		{"null of a gc type", nil, nil, []byte{OpRefNull, 0x6e, OpEnd}, 1, CodeUnsupported, "garbage collection (GC) is not supported yet (type 0x6e)"},
		{"memory index", nil, nil, []byte{OpI32Const, 0, OpI32Load, 0x42, 0, 0, OpDrop, OpEnd}, 3, CodeUnsupported, "multiple memories are not supported yet (i32.load with a memory index)"},
		{"long memory index", nil, nil, []byte{OpMemorySize, 0x80, 0, OpDrop, OpEnd}, 1, CodeUnsupported, "multiple memories are not supported yet (memory index of more than one byte)"},

		// Indices.
		{"local", i32, nil, []byte{OpLocalGet, 1, OpEnd}, 1, CodeIndex, "unknown local 1: the function has 1"},
		{"global", nil, nil, []byte{OpGlobalGet, 2, OpEnd}, 1, CodeIndex, "unknown global 2: the module has 2"},
		{"function", nil, nil, []byte{OpCall, 2, OpEnd}, 1, CodeIndex, "unknown function 2: the module has 2"},
		{"type", nil, nil, []byte{OpI32Const, 0, OpCallIndirect, 4, 0, OpEnd}, 3, CodeIndex, "unknown type 4: the module has 4 types"},
		{"block type", nil, nil, []byte{OpBlock, 4, OpEnd, OpEnd}, 1, CodeIndex, "unknown type 4 as a block type: the module has 4 types"},
		{"no block type", nil, nil, []byte{OpBlock, 0x41, OpEnd, OpEnd}, 1, CodeEncoding, "expected a block type, found 0x41"},
		{"negative block type", nil, nil, []byte{OpBlock, 0xff, 0x7e, OpEnd, OpEnd}, 1, CodeEncoding, "expected a block type, found -129"},
		{"label", nil, nil, []byte{OpBlock, 0x40, OpBr, 2, OpEnd, OpEnd}, 3, CodeIndex, "unknown label 2: 2 blocks are open"},
		{"table", nil, nil, []byte{0xfc, 0x10, 2, OpDrop, OpEnd}, 2, CodeIndex, "unknown table 2: the module has 2"},
		{"element segment", nil, nil, []byte{0xfc, 0x0d, 1, OpEnd}, 2, CodeIndex, "unknown element segment 1: the module has 1"},
		{"data segment", nil, nil, []byte{0xfc, 0x09, 1, OpEnd}, 2, CodeIndex, "unknown data segment 1: the module has 1"},
		{"memory", nil, nil, []byte{OpMemorySize, 1, OpDrop, OpEnd}, 1, CodeIndex, "unknown memory 1: the module has 1"},
		{"undeclared function", nil, nil, []byte{OpRefFunc, 1, OpDrop, OpEnd}, 1, CodeUndeclared, "ref.func: expected a function that an export, a global or an element segment names, found function 1"},
		{"immutable global", i32, nil, []byte{OpLocalGet, 0, OpGlobalSet, 0, OpEnd}, 3, CodeImmutable, "global.set: expected a mutable global, found global 0, which is immutable"},
		{"alignment", nil, nil, []byte{OpI32Const, 0, OpI32Load16U, 2, 0, OpDrop, OpEnd}, 3, CodeAlignment, "i32.load16_u: expected an alignment of at most 2**1, found 2**2"},

		// Types.
		{"operand", nil, i32, []byte{OpI32Const, 1, OpF32Const, 0, 0, 0, 0, OpI32Add, OpEnd}, 7, CodeType, "i32.add: expected [i32 i32], found [i32 f32]"},
		{"no operand", nil, i32, []byte{OpI32Const, 1, OpI32Add, OpEnd}, 2, CodeType, "i32.add: expected [i32 i32], found i32"},
		{"operand outside", nil, nil, []byte{OpI32Const, 1, OpBlock, 0x40, OpDrop, OpEnd, OpEnd}, 4, CodeType, "drop: expected an operand of any type, found none"},
		{"address", nil, nil, []byte{OpI64Const, 1, OpI32Load, 2, 0, OpDrop, OpEnd}, 2, CodeType, "i32.load: expected i32, found i64"},
		{"local type", i32, nil, []byte{OpI64Const, 1, OpLocalSet, 0, OpEnd}, 2, CodeType, "local.set: expected i32, found i64"},
		{"result missing", nil, i32, []byte{OpEnd}, 0, CodeType, "end: expected i32 as the results of the function, found nothing"},
		{"result left", nil, nil, []byte{OpI32Const, 1, OpEnd}, 2, CodeType, "end: expected nothing as the results of the function, found i32"},
		{"block result", nil, nil, []byte{OpBlock, 0x7f, OpI64Const, 0, OpEnd, OpDrop, OpEnd}, 4, CodeType, "end: expected i32 as the results of the block, found i64"},
		{"first arm", nil, i32, []byte{OpI32Const, 1, OpIf, 0x7f, OpElse, OpI32Const, 1, OpEnd, OpEnd}, 4, CodeType, "else: expected i32 as the results of the if, found nothing"},
		{"if without else", nil, i32, []byte{OpI32Const, 1, OpIf, 0x7f, OpI32Const, 1, OpEnd, OpEnd}, 6, CodeType, "end: expected an else, since the if at 0x54 turns nothing into i32"},
		{"loop parameters", nil, i32, []byte{OpI64Const, 1, OpLoop, 3, OpEnd, OpEnd}, 2, CodeType, "loop: expected i32, found i64"},
		{"branch", nil, i32, []byte{OpI64Const, 1, OpBr, 0, OpEnd}, 2, CodeType, "br: expected i32, found i64"},
		{"branch back", nil, nil, []byte{OpI32Const, 1, OpLoop, 3, OpDrop, OpBr, 0, OpEnd, OpDrop, OpEnd}, 5, CodeType, "br: expected i32, found nothing"},
		{"condition", nil, nil, []byte{OpI64Const, 1, OpBrIf, 0, OpEnd}, 2, CodeType, "br_if: expected i32, found i64"},
		{"br_table arity", nil, nil, []byte{OpBlock, 0x7f, OpI32Const, 0, OpI32Const, 0, OpBrTable, 1, 0, 1, OpEnd, OpDrop, OpEnd}, 9, CodeType, "br_table: expected a label that takes i32, as the ones before do, found one that takes nothing"},
		{"br_table type", nil, i64, []byte{OpBlock, 0x7f, OpI32Const, 0, OpI32Const, 0, OpBrTable, 1, 0, 1, OpEnd, OpDrop, OpI64Const, 0, OpEnd}, 6, CodeType, "br_table: expected i64, found i32"},
		{"br_table count", nil, nil, []byte{OpI32Const, 0, OpBrTable, 0x70, 0, OpEnd}, 3, CodeTruncated, "expected 113 labels, found only 2 bytes to the end of the function body"},
		{"arguments", nil, nil, []byte{OpI64Const, 0, OpI32Const, 0, OpCall, 1, OpEnd}, 4, CodeType, "call: expected [i32 i64], found [i64 i32]"},
		{"indirect through externref", nil, nil, []byte{OpI32Const, 0, OpCallIndirect, 1, 1, OpEnd}, 4, CodeType, "call_indirect: expected a table of funcref, found table 1 of externref"},
		{"select of two types", nil, nil, []byte{OpI32Const, 0, OpI64Const, 0, OpI32Const, 0, OpSelect, OpDrop, OpEnd}, 6, CodeType, "select: expected two operands of one type, found i32 and i64"},
		{"select of references", nil, nil, []byte{OpRefNull, 0x70, OpRefNull, 0x70, OpI32Const, 0, OpSelect, OpDrop, OpEnd}, 6, CodeType, "select: expected operands of a numeric type, found funcref and funcref"},
		{"select with two types", nil, nil, []byte{OpSelectT, 2, 0x7f, 0x7f, OpEnd}, 1, CodeType, "select: expected one type, found 2"},
		{"is_null of a number", nil, nil, []byte{OpI32Const, 0, OpRefIsNull, OpDrop, OpEnd}, 2, CodeType, "ref.is_null: expected a reference, found i32"},
		{"heap type", nil, nil, []byte{OpRefNull, 0x7f, OpDrop, OpEnd}, 1, CodeEncoding, "expected a heap type, found i32"},
		{"table.set", nil, nil, []byte{OpI32Const, 0, OpRefNull, 0x6f, OpTableSet, 0, OpEnd}, 4, CodeType, "table.set: expected funcref, found externref"},
		{"table.init", nil, nil, []byte{OpI32Const, 0, OpI32Const, 0, OpI32Const, 0, 0xfc, 0x0c, 0, 1, OpEnd}, 9, CodeType, "table.init: expected elements of type externref for table 1, found funcref"},
		{"table.copy", nil, nil, []byte{OpI32Const, 0, OpI32Const, 0, OpI32Const, 0, 0xfc, 0x0e, 0, 1, OpEnd}, 9, CodeType, "table.copy: expected elements of type funcref for table 0, found externref"},
		{"memory.fill", nil, nil, []byte{OpI32Const, 0, OpI64Const, 0, OpI32Const, 0, 0xfc, 0x0b, 0, OpEnd}, 6, CodeType, "memory.fill: expected [i32 i32 i32], found [i32 i64 i32]"},

		// Polymorphic stacks.
		{"dead operands", nil, i32, []byte{OpUnreachable, OpI32Add, OpEnd}, 0, 0, ""},
		{"dead wrong operand", nil, i32, []byte{OpUnreachable, OpI64Const, 0, OpI32Add, OpEnd}, 3, CodeType, "i32.add: expected [i32 i32], found i64"},
		{"dead select", nil, i32, []byte{OpUnreachable, OpSelect, OpEnd}, 0, 0, ""},
		{"dead select of one known", nil, i32, []byte{OpUnreachable, OpI64Const, 0, OpI32Const, 0, OpSelect, OpEnd}, 6, CodeType, "end: expected i32 as the results of the function, found i64"},
		{"dead select is_null", nil, i32, []byte{OpUnreachable, OpSelect, OpRefIsNull, OpEnd}, 0, 0, ""},
		{"dead br_if retypes", nil, i64, []byte{OpUnreachable, OpBrIf, 0, OpI32Eqz, OpDrop, OpEnd}, 3, CodeType, "i32.eqz: expected i32, found i64"},
		{"block in dead code is live", nil, nil, []byte{OpUnreachable, OpBlock, 0x40, OpDrop, OpEnd, OpEnd}, 3, CodeType, "drop: expected an operand of any type, found none"},
		{"dead result left", nil, nil, []byte{OpUnreachable, OpI32Const, 0, OpEnd}, 3, CodeType, "end: expected nothing as the results of the function, found i32"},
		{"dead br_table of two types", nil, i64, []byte{OpBlock, 0x7f, OpUnreachable, OpBrTable, 1, 0, 1, OpEnd, OpDrop, OpUnreachable, OpEnd}, 0, 0, ""},
		{"dead br_table of two arities", nil, nil, []byte{OpBlock, 0x7f, OpUnreachable, OpBrTable, 1, 0, 1, OpEnd, OpDrop, OpEnd}, 6, CodeType, "br_table: expected a label that takes i32, as the ones before do, found one that takes nothing"},
		{"else is live again", nil, i32, []byte{OpI32Const, 0, OpIf, 0x7f, OpUnreachable, OpElse, OpEnd, OpEnd}, 6, CodeType, "end: expected i32 as the results of the else, found nothing"},
	} {
		t.Run(c.name, c.run)
	}
}

// TestValidBodies has what is valid but easily refused.
func TestValidBodies(t *testing.T) {
	i32 := types(I32)
	for _, c := range []bodyCase{
		{name: "empty", body: []byte{OpEnd}},
		{name: "padded constant", results: i32, body: []byte{OpI32Const, 0x80, 0x80, 0x80, 0x80, 0x00, OpEnd}},
		{name: "padded negative constant", results: i32, body: []byte{OpI32Const, 0xff, 0xff, 0xff, 0xff, 0x7f, OpEnd}},
		{name: "padded index", params: i32, results: i32, body: []byte{OpLocalGet, 0x80, 0x80, 0x80, 0x80, 0x00, OpEnd}},
		{name: "multi-value", params: types(I32, I64), results: types(F32, F64), body: []byte{OpLocalGet, 0, OpLocalGet, 1, OpCall, 1, OpEnd}},
		{name: "block with parameters", params: i32, results: i32, body: []byte{OpLocalGet, 0, OpBlock, 3, OpI32Eqz, OpEnd, OpEnd}},
		{name: "long block type", params: i32, results: i32, body: []byte{OpLocalGet, 0, OpBlock, 0x83, 0, OpI32Eqz, OpEnd, OpEnd}},
		{name: "if with parameters", params: i32, results: i32, body: []byte{OpLocalGet, 0, OpLocalGet, 0, OpIf, 3, OpI32Eqz, OpEnd, OpEnd}},
		{name: "loop", params: i32, results: i32, body: []byte{OpLocalGet, 0, OpLoop, 3, OpLocalTee, 0, OpLocalGet, 0, OpBrIf, 0, OpEnd, OpEnd}},
		{name: "indirect", params: types(I32, I64), results: types(F32, F64), body: []byte{OpLocalGet, 0, OpLocalGet, 1, OpI32Const, 0, OpCallIndirect, 2, 0, OpEnd}},
		{name: "typed select", body: []byte{OpRefNull, 0x6f, OpRefNull, 0x6f, OpI32Const, 0, OpSelectT, 1, 0x6f, OpDrop, OpEnd}},
		{name: "tables", body: []byte{
			OpI32Const, 0, OpI32Const, 0, OpTableGet, 1, OpTableSet, 1,
			OpRefFunc, 0, OpI32Const, 1, 0xfc, 0x0f, 0, OpDrop,
			OpI32Const, 0, OpRefNull, 0x70, OpI32Const, 1, 0xfc, 0x11, 0,
			0xfc, 0x10, 0, OpDrop,
			OpI32Const, 0, OpI32Const, 0, OpI32Const, 0, 0xfc, 0x0c, 0, 0,
			OpI32Const, 0, OpI32Const, 0, OpI32Const, 0, 0xfc, 0x0e, 1, 1,
			0xfc, 0x0d, 0, OpEnd}},
		{name: "memories", body: []byte{
			OpI32Const, 0, OpI32Const, 0, OpI32Const, 0, 0xfc, 0x08, 0, 0,
			OpI32Const, 0, OpI32Const, 0, OpI32Const, 0, 0xfc, 0x0a, 0, 0,
			OpI32Const, 0, OpI32Const, 0, OpI32Const, 0, 0xfc, 0x0b, 0,
			0xfc, 0x09, 0, OpMemorySize, 0, OpMemoryGrow, 0, OpDrop, OpEnd}},
		{name: "saturating", results: types(I64), body: []byte{OpF64Const, 0, 0, 0, 0, 0, 0, 0, 0, 0xfc, 0x07, OpEnd}},
	} {
		t.Run(c.name, c.run)
	}
}

// TestLocals reads compressed declarations.
func TestLocals(t *testing.T) {
	decl := func(groups ...[]byte) []byte { return vec(groups...) }
	for _, c := range []struct {
		name, msg string
		fn        []byte
		locals    string
	}{
		{"two groups", "", cat(decl([]byte{2, 0x7e}, []byte{1, 0x70}), []byte{OpEnd}), "i32 i64 i64 funcref"},
		{"empty groups", "", cat(decl([]byte{0, 0x7e}, []byte{0, 0x7d}), []byte{OpEnd}), "i32"},
		{"most", "", cat(decl(cat(leb(MaxLocals-1), []byte{0x7f})), []byte{OpEnd}), strings.Repeat("i32 ", MaxLocals-1) + "i32"},
		{"too many", "50001 locals are over the limit of 50000", cat(decl(cat(leb(MaxLocals), []byte{0x7f})), []byte{OpEnd}), ""},
		{"far too many", "4294967296 locals are over the limit of 50000", cat(decl(cat(leb(1<<32-1), []byte{0x7f})), []byte{OpEnd}), ""},
		{"type", "expected the type of a local, found 0x40", cat(decl([]byte{1, 0x40}), []byte{OpEnd}), ""},
		{"SIMD", "SIMD is not supported yet (type 0x7b)", cat(decl([]byte{1, 0x7b}), []byte{OpEnd}), ""},
		{"cut", "expected the type of a local, found the end of the function body", decl([]byte{1}), ""},
		{"missing", "expected a number of locals, found the end of the function body", []byte{3, 0, 0x7f}, ""},
		{"empty body", "expected the number of local declarations, found the end of the function body", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode(oneFunc(types(I32), nil, c.fn))
			if err != nil {
				t.Fatal(err)
			}
			v := Validator{Mod: m}
			if err := v.Validate(0); err != nil {
				if err.Msg != c.msg {
					t.Fatalf("error %q, want %q", err.Msg, c.msg)
				}
				return
			}
			if c.msg != "" {
				t.Fatalf("no error, want %q", c.msg)
			}
			var names []string
			for _, l := range v.Locals {
				names = append(names, l.String())
			}
			if have := strings.Join(names, " "); have != c.locals {
				t.Errorf("locals %.100s, want %.100s", have, c.locals)
			}
		})
	}
}
