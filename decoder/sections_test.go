package decoder

import (
	"strings"
	"testing"
)

// TestSectionErrors pins what is said of each broken section, and where. The
// offset is counted from behind the header.
func TestSectionErrors(t *testing.T) {
	typ := section(sectionType, vec(funcType(nil, nil)))
	typI32 := section(sectionType, vec(funcType(types(I32), nil)))
	fn := section(sectionFunction, vec([]byte{0}))
	mem := section(sectionMemory, vec([]byte{0, 1}))
	tab := section(sectionTable, vec([]byte{0x70, 0, 1}))
	code := section(sectionCode, vec(body(OpEnd)))
	cut := func(b []byte, n int) []byte { return b[:len(b)-n] }
	global := func(init ...byte) []byte { return section(sectionGlobal, vec(cat([]byte{0x7f, 0}, init))) }
	imp := func(desc ...byte) []byte { return section(sectionImport, vec(cat(str("m"), str("n"), desc))) }
	exp := func(items ...[]byte) []byte { return section(sectionExport, vec(items...)) }
	i32 := func(b ...byte) []byte { return cat([]byte{OpI32Const, 0, OpEnd}, b) }

	for _, c := range []struct {
		name string
		b    []byte
		at   int
		code ErrorCode
		msg  string
	}{
		{"unknown section", []byte{14, 0}, 0, CodeSection, "expected a section, found section id 0x0e"},
		{"section length cut", []byte{1, 0x80}, 1, CodeTruncated, "expected the length of the type section, found the end of the file"},
		{"section length missing", []byte{1}, 1, CodeTruncated, "expected the length of the type section, found the end of the file"},
		{"section too long", []byte{1, 5, 0}, 1, CodeTruncated, "expected the type section of 5 bytes, found only 1 bytes to the end of the file"},
		{"section of 4 GiB", []byte{10, 0xff, 0xff, 0xff, 0xff, 0x0f}, 1, CodeTruncated, "expected the code section of 4294967295 bytes, found only 0 bytes to the end of the file"},
		{"section length too large", []byte{10, 0xff, 0xff, 0xff, 0xff, 0x1f}, 1, CodeLEB, "expected the length of the code section, found an integer that is too large"},
		{"twice", cat(typ, typ), 6, CodeSection, "expected one type section, found a second"},
		{"order", cat(mem, tab), 5, CodeSection, "expected the table section before the memory section, found it behind"},
		{"data count behind code", cat(typ, fn, code, section(sectionDataCount, []byte{0})), 16, CodeSection, "expected the data count section before the code section, found it behind"},
		{"left over", section(sectionMemory, vec([]byte{0, 1}), []byte{7, 7}), 5, CodeSection, "expected the end of the memory section, found 2 bytes more"},
		{"too short", section(sectionMemory, vec([]byte{1, 1})), 5, CodeTruncated, "expected the maximum of a memory, found the end of the memory section"},
		{"empty", section(sectionType), 2, CodeTruncated, "expected the number of types, found the end of the type section"},
		{"count", section(sectionFunction, leb(1000)), 2, CodeTruncated, "expected 1000 functions, found only 0 bytes to the end of the function section"},
		{"limit", section(sectionType, leb(1_000_001)), 2, CodeTooLarge, "1000001 types are over the limit of 1000000"},
		{"custom name", section(sectionCustom, []byte{5, 'a'}), 2, CodeTruncated, "expected the name of a custom section of 5 bytes, found only 1 bytes to the end of the custom section"},
		{"UTF-8", section(sectionCustom, str("aé\xff")), 6, CodeUTF8, "expected the name of a custom section in UTF-8, found byte 0xff"},

		{"type form", section(sectionType, vec([]byte{0x61, 0, 0})), 3, CodeEncoding, "expected a function type (0x60), found 0x61"},
		{"gc type", section(sectionType, vec([]byte{0x5f, 0})), 3, CodeUnsupported, "garbage collection (GC) is not supported yet (type form 0x5f)"},
		{"value type", section(sectionType, vec([]byte{0x60, 1, 0x7a, 0})), 5, CodeEncoding, "expected a value type, found 0x7a"},
		{"v128", section(sectionType, vec([]byte{0x60, 0, 1, 0x7b})), 6, CodeUnsupported, "SIMD is not supported yet (type 0x7b)"},
		{"parameters", section(sectionType, vec(cat([]byte{0x60}, leb(1001)))), 4, CodeTooLarge, "1001 parameters are over the limit of 1000"},

		{"import kind", imp(5, 0), 7, CodeEncoding, "expected an import kind (0-3), found 0x05"},
		{"tag import", imp(4, 0, 0), 7, CodeUnsupported, "exception handling is not supported yet (import of a tag)"},
		{"import type", imp(0, 0), 8, CodeIndex, "unknown type 0: the module has 0 types"},
		{"mutability", imp(3, 0x7f, 4), 9, CodeEncoding, "expected the mutability of a global (0 or 1), found 0x04"},
		{"two memories", cat(imp(2, 0, 1), mem), 13, CodeUnsupported, "multiple memories are not supported yet (second memory)"},
		{"shared memory", imp(2, 3, 1, 2), 8, CodeUnsupported, "threads (shared memories and atomics) are not supported yet (memory limits with flags 0x03)"},
		{"64-bit memory", imp(2, 4, 1), 8, CodeUnsupported, "64-bit memories and tables are not supported yet (memory limits with flags 0x04)"},
		{"page size", imp(2, 8, 1, 0), 8, CodeUnsupported, "custom page sizes are not supported yet (memory limits with flags 0x08)"},
		{"limits", imp(2, 0x10, 1), 8, CodeEncoding, "expected limits (0x00 or 0x01), found 0x10"},
		{"table limits", imp(1, 0x70, 8, 1), 9, CodeEncoding, "expected limits (0x00 or 0x01), found 0x08"},
		{"memory size", imp(2, 0, 0x81, 0x80, 0x04), 8, CodeLimits, "expected a memory of at most 65536 pages, found 65537"},
		{"memory maximum", imp(2, 1, 3, 2), 10, CodeLimits, "expected a maximum of the memory not below its minimum of 3, found 2"},
		{"table of numbers", imp(1, 0x7f, 0, 1), 8, CodeEncoding, "expected a reference type (funcref or externref), found i32"},
		{"typed table", imp(1, 0x64, 0, 1), 8, CodeUnsupported, "typed function references are not supported yet (type 0x64)"},

		{"no code", cat(typ, fn), 10, CodeCount, "expected a code section with 1 bodies, found none"},
		{"no code before data", cat(typ, fn, section(sectionData, vec())), 10, CodeCount, "expected a code section with 1 bodies, found none"},
		{"code without functions", code, 2, CodeCount, "expected 0 function bodies, as the function section says, found 1"},
		{"body too long", cat(typ, fn, section(sectionCode, vec([]byte{9, 0}))), 13, CodeTruncated, "expected a function body of 9 bytes, found only 1 bytes to the end of the code section"},
		{"tag section", section(sectionTag, vec([]byte{0, 0})), 0, CodeUnsupported, "exception handling is not supported yet (tag section)"},

		{"global type", global(OpI64Const, 0, OpEnd), 7, CodeType, "the initialiser of a global: expected i32, found i64"},
		{"no initialiser", global(OpEnd), 5, CodeType, "the initialiser of a global: expected i32, found nothing"},
		{"two values", global(OpI32Const, 0, OpI32Const, 0, OpEnd), 9, CodeType, "the initialiser of a global: expected i32, found [i32 i32]"},
		{"operands", global(OpI32Const, 0, OpI64Const, 0, OpI32Add, OpEnd), 9, CodeType, "the initialiser of a global: i32.add: expected i32 and i32, found [i32 i64]"},
		{"not constant", global(OpI32Const, 0, OpI32Eqz, OpEnd), 7, CodeConst, "the initialiser of a global: expected a constant instruction, found i32.eqz"},
		{"not constant behind a prefix", global(OpF32Const, 0, 0, 0, 0, 0xfc, 0, OpEnd), 10, CodeConst, "the initialiser of a global: expected a constant instruction, found i32.trunc_sat_f32_s"},
		{"no opcode", global(0xff, OpEnd), 5, CodeOpcode, "expected an opcode, found 0xff, which is none"},
		{"vector", global(0xfd, 0x0c, OpEnd), 5, CodeUnsupported, "SIMD is not supported yet (opcode 0xfd 0x0c v128.const)"},
		{"later global", global(OpGlobalGet, 0, OpEnd), 6, CodeIndex, "unknown global 0: the module has 0 here"},
		{"mutable global", cat(imp(3, 0x7f, 1), global(OpGlobalGet, 0, OpEnd)), 16, CodeConst, "expected an immutable global in a constant expression, found global 0, which is mutable"},
		{"defined global", section(sectionGlobal, vec(cat([]byte{0x7f, 0}, i32()), []byte{0x7f, 0, OpGlobalGet, 0, OpEnd})), 11, CodeUnsupported, "garbage collection (GC) is not supported yet (global 0, which is not imported, in a constant expression)"},
		{"constant cut", global(OpI32Const), 6, CodeTruncated, "expected an i32 constant, found the end of the global section"},
		{"float cut", global(OpF64Const, 1, 2), 6, CodeTruncated, "expected 8 bytes of a constant, found the end of the global section"},
		{"unknown function", global(OpRefFunc, 0, OpEnd), 6, CodeIndex, "unknown function 0: the module has 0"},
		{"expression cut", global(OpI32Const, 0), 7, CodeTruncated, "expected the initialiser of a global, found the end of the global section"},

		{"export twice", cat(mem, exp(cat(str("a"), []byte{2, 0}), cat(str("a"), []byte{2, 0}))), 12, CodeDuplicate, `expected export names to be unique, found "a" again`},
		{"export kind", exp(cat(str("a"), []byte{5, 0})), 5, CodeEncoding, "expected an export kind (0-3), found 0x05"},
		{"export index", exp(cat(str("a"), []byte{1, 2})), 6, CodeIndex, "unknown table 2: the module has 0"},
		{"start type", cat(typI32, fn, section(sectionStart, []byte{0})), 13, CodeStart, "expected a start function without parameters and results, found function 0 with type [i32] -> []"},
		{"start index", section(sectionStart, []byte{3}), 2, CodeIndex, "unknown function 3: the module has 0"},

		{"element flags", section(sectionElement, vec([]byte{8, 0})), 3, CodeEncoding, "expected the flags of an element segment (0-7), found 8"},
		{"element table", section(sectionElement, vec(cat([]byte{0}, i32(0)))), 4, CodeIndex, "unknown table 0: the module has 0"},
		{"element kind", section(sectionElement, vec([]byte{1, 1, 0})), 4, CodeEncoding, "expected the element kind 0x00, found 0x01"},
		{"element type", cat(tab, section(sectionElement, vec(cat([]byte{6, 0}, i32(0x6f, 0))))), 14, CodeType, "expected elements of type funcref for table 0, found externref"},
		{"element offset", cat(tab, section(sectionElement, vec([]byte{0, OpI64Const, 0, OpEnd, 0}))), 12, CodeType, "the offset of an element segment: expected i32, found i64"},
		{"element", section(sectionElement, vec([]byte{1, 0, 1, 2})), 6, CodeIndex, "unknown function 2: the module has 0"},
		{"element expression", section(sectionElement, vec([]byte{5, 0x70, 1, OpRefNull, 0x6f, OpEnd})), 8, CodeType, "an element: expected funcref, found externref"},

		{"data flags", section(sectionData, vec([]byte{3, 0})), 3, CodeEncoding, "expected the flags of a data segment (0-2), found 3"},
		{"data memory", section(sectionData, vec(cat([]byte{0}, i32(0)))), 4, CodeIndex, "unknown memory 0: the module has 0"},
		{"data length", section(sectionData, vec([]byte{1, 2, 0})), 4, CodeTruncated, "expected the bytes of a data segment of 2 bytes, found only 1 bytes to the end of the data section"},
		{"data count", cat(section(sectionDataCount, []byte{2}), section(sectionData, vec([]byte{1, 0}))), 5, CodeCount, "expected 2 data segments, as the data count section says, found 1"},
		{"data missing", section(sectionDataCount, []byte{2}), 3, CodeCount, "expected 2 data segments, as the data count section says, found 0"},
		{"data count cut", cat(section(sectionDataCount), code), 2, CodeTruncated, "expected the number of data segments, found the end of the data count section"},
		{"file cut", cut(mem, 1), 1, CodeTruncated, "expected the memory section of 3 bytes, found only 2 bytes to the end of the file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode(module(c.b))
			checkError(t, err, headerSize, c.at, c.code, c.msg)
		})
	}
}

func TestHeader(t *testing.T) {
	for _, c := range []struct {
		name, b, want string
	}{
		{"empty", "", "offset 0x0: not a WebAssembly module: the file is empty"},
		{"text", " \n(module)", "offset 0x0: not a WebAssembly module: the file is WebAssembly text; assemble it first"},
		{"comment", ";; a module\n(module)", "offset 0x0: not a WebAssembly module: the file is WebAssembly text; assemble it first"},
		{"other text", "#!/bin/sh\n", "offset 0x0: not a WebAssembly module: the file is text"},
		{"HTML", "<!DOCTYPE html>", "offset 0x0: not a WebAssembly module: the file looks like HTML or XML"},
		{"gzip", "\x1f\x8b\x08\x00", "offset 0x0: not a WebAssembly module: the file is compressed with gzip; decompress it first"},
		{"brotli", "\x6b\x8d\x00UnityWeb Compressed Content (brotli)", "offset 0x0: not a WebAssembly module: the file is compressed with brotli; decompress it first"},
		{"zstd", "\x28\xb5\x2f\xfd\x00", "offset 0x0: not a WebAssembly module: the file is compressed with zstd; decompress it first"},
		{"zip", "PK\x03\x04", "offset 0x0: not a WebAssembly module: the file is a zip archive"},
		{"ELF", "\x7fELF", "offset 0x0: not a WebAssembly module: the file is an ELF object"},
		{"bytes", "\x01\x02", "offset 0x0: not a WebAssembly module: expected bytes 00 61 73 6d at the start, found 01 02"},
		{"magic only", "\x00asm", "offset 0x4: expected the version, found the end of the file"},
		{"half a version", "\x00asm\x01\x00", "offset 0x6: expected the version, found the end of the file"},
		{"version 2", "\x00asm\x02\x00\x00\x00", "offset 0x4: expected version 1, found bytes 02 00 00 00"},
		{"component", "\x00asm\x0d\x00\x01\x00", "offset 0x4: this is a WebAssembly component, not a core module; the component model is not supported yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode([]byte(c.b))
			if err == nil || err.Error() != c.want {
				t.Errorf("error\n have %v\n want %s", err, c.want)
			}
			if e := err.(*Error); e.IsUnsupported() != (c.name == "component") {
				t.Errorf("feature %q", e.Feature)
			}
		})
	}
}

// TestErrorText checks that an error is one line whatever names the module has.
func TestErrorText(t *testing.T) {
	for name, want := range map[string]string{
		"":                       "offset 0x10: function 3: bad",
		"main":                   "offset 0x10: function 3 (main): bad",
		"größe":                  "offset 0x10: function 3 (größe): bad",
		"a\nb\x1b[31m":           `offset 0x10: function 3 (a\nb\x1b[31m): bad`,
		"x\u202ey":               `offset 0x10: function 3 (x\u202ey): bad`,
		strings.Repeat("x", 300): "offset 0x10: function 3 (" + strings.Repeat("x", 200) + "...): bad",
	} {
		e := Error{Offset: 16, Func: 3, FuncName: name, Msg: "bad"}
		if e.Error() != want {
			t.Errorf("have %s\nwant %s", e.Error(), want)
		}
	}
	if e := (&Error{Offset: 8, Func: -1, Msg: "bad"}); e.Error() != "offset 0x8: bad" {
		t.Errorf("have %s", e)
	}
}
