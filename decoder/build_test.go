package decoder

import "slices"

// Helpers that build modules for the tests of this package.

func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }

func leb(v uint32) []byte {
	var b []byte
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// sized prefixes bytes with their length.
func sized(parts ...[]byte) []byte {
	b := cat(parts...)
	return cat(leb(uint32(len(b))), b)
}

func section(id byte, parts ...[]byte) []byte { return cat([]byte{id}, sized(parts...)) }

func vec(items ...[]byte) []byte { return cat(leb(uint32(len(items))), cat(items...)) }

func str(s string) []byte { return sized([]byte(s)) }

var header = []byte("\x00asm\x01\x00\x00\x00")

func module(sections ...[]byte) []byte { return cat(header, cat(sections...)) }

var typeCodes = [...]byte{I32: 0x7f, I64: 0x7e, F32: 0x7d, F64: 0x7c, V128: 0x7b, FuncRef: 0x70, ExternRef: 0x6f}

func typeBytes(t []Type) []byte {
	b := leb(uint32(len(t)))
	for _, x := range t {
		b = append(b, typeCodes[x])
	}
	return b
}

func types(t ...Type) []Type { return t }

func funcType(params, results []Type) []byte {
	return cat([]byte{0x60}, typeBytes(params), typeBytes(results))
}

// body makes a code section entry without locals.
func body(code ...byte) []byte { return sized([]byte{0}, code) }

// oneFunc is the module in which body tests run. Function 0 has the given type
// and body (local declarations and code). Around it are
//
//	types      1: [] -> []   2: [i32 i64] -> [f32 f64]   3: [i32] -> [i32]
//	functions  1: of type 2, undeclared for ref.func; 0 is declared
//	tables     0: funcref    1: externref
//	globals    0: i32, imported, immutable   1: i64, mutable
//
// one memory, a passive element segment of funcref, and a data segment.
func oneFunc(params, results []Type, fn []byte) []byte {
	return module(
		section(sectionType, vec(
			funcType(params, results),
			funcType(nil, nil),
			funcType(types(I32, I64), types(F32, F64)),
			funcType(types(I32), types(I32)))),
		section(sectionImport, vec(cat(str("m"), str("g"), []byte{3, 0x7f, 0}))),
		section(sectionFunction, vec([]byte{0}, []byte{2})),
		section(sectionTable, vec([]byte{0x70, 0, 1}, []byte{0x6f, 0, 1})),
		section(sectionMemory, vec([]byte{0, 1})),
		section(sectionGlobal, vec([]byte{0x7e, 1, OpI64Const, 0, OpEnd})),
		section(sectionElement, vec([]byte{1, 0, 1, 0})),
		section(sectionDataCount, []byte{1}),
		section(sectionCode, vec(sized(fn), body(OpUnreachable, OpEnd))),
		section(sectionData, vec(cat([]byte{1}, str("data")))),
	)
}
