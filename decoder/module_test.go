package decoder

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// everything is a module with an entry of each kind in every section.
func everything() []byte {
	i32Const := func(v byte) []byte { return []byte{OpI32Const, v, OpEnd} }
	return module(
		section(sectionCustom, str("first"), []byte("abc")),
		section(sectionType, vec(funcType(nil, nil), funcType(types(I32, ExternRef), types(F64, I64)))),
		section(sectionImport, vec(
			cat(str("env"), str("f"), []byte{0, 1}),
			cat(str("env"), str("t"), []byte{1, 0x6f, 1, 2, 3}),
			cat(str("env"), str("g"), []byte{3, 0x7f, 0}),
			cat(str(""), str("mut"), []byte{3, 0x7e, 1}))),
		section(sectionFunction, vec([]byte{0}, []byte{0}, []byte{1})),
		section(sectionTable, vec([]byte{0x70, 0, 10})),
		section(sectionMemory, vec([]byte{1, 1, 2})),
		section(sectionGlobal, vec(
			cat([]byte{0x7f, 0, OpGlobalGet, 0, OpI32Const, 5, OpI32Mul, OpI32Const, 0x7f, OpI32Add, OpEnd}),
			cat([]byte{0x7d, 1, OpF32Const, 1, 2, 3, 4, OpEnd}),
			cat([]byte{0x70, 0, OpRefFunc, 2, OpEnd}))),
		section(sectionExport, vec(
			cat(str("main"), []byte{0, 1}), cat(str("table"), []byte{1, 0}),
			cat(str("memory"), []byte{2, 0}), cat(str("é"), []byte{3, 2}))),
		section(sectionStart, []byte{1}),
		section(sectionElement, vec(
			cat([]byte{2, 1}, i32Const(1), []byte{0, 2, 1, 3}),
			[]byte{1, 0, 1, 1},
			cat([]byte{2, 1}, i32Const(2), []byte{0, 0}),
			[]byte{3, 0, 1, 0},
			cat([]byte{6, 1}, i32Const(3), []byte{0x70}, vec([]byte{OpRefFunc, 1, OpEnd}, []byte{OpRefNull, 0x70, OpEnd})),
			cat([]byte{5, 0x6f}, vec([]byte{OpRefNull, 0x6f, OpEnd})),
			cat([]byte{6, 0}, i32Const(4), []byte{0x6f}, vec()),
			cat([]byte{7, 0x70}, vec([]byte{OpRefFunc, 3, OpEnd})))),
		section(sectionDataCount, []byte{3}),
		section(sectionCode, vec(body(OpEnd), body(OpNop, OpEnd), body(OpUnreachable, OpEnd))),
		section(sectionData, vec(
			cat([]byte{0}, i32Const(8), str("zero")),
			cat([]byte{1}, str("one")),
			cat([]byte{2, 0}, i32Const(9), str("two")))),
		section(sectionCustom, str("last")),
	)
}

func TestDecode(t *testing.T) {
	m, err := Decode(everything())
	if err != nil {
		t.Fatal(err)
	}
	if err := ValidateBodies(m, 2); err != nil {
		t.Fatal(err)
	}
	konst := func(v uint64) ConstExpr { return ConstExpr{{Op: ConstValue, Type: I32, Bits: v}} }
	null := func(t Type) ConstExpr { return ConstExpr{{Op: ConstRefNull, Type: t}} }
	refFunc := func(i uint32) ConstExpr { return ConstExpr{{Op: ConstRefFunc, Type: FuncRef, Index: i}} }
	want := &Module{
		Types: []FuncType{{}, {types(I32, ExternRef), types(F64, I64)}},
		Imports: []Import{
			{"env", "f", ExternFunc, 0}, {"env", "t", ExternTable, 0},
			{"env", "g", ExternGlobal, 0}, {"", "mut", ExternGlobal, 1}},
		Funcs: []uint32{1, 0, 0, 1},
		Tables: []TableType{
			{ExternRef, Limits{2, 3, true}}, {FuncRef, Limits{10, 1<<32 - 1, false}}},
		Memories: []MemoryType{{Limits{1, 2, true}}},
		Globals: []Global{
			{GlobalType: GlobalType{I32, false}}, {GlobalType: GlobalType{I64, true}},
			{GlobalType{I32, false}, ConstExpr{
				{Op: ConstGlobal, Type: I32}, {Op: ConstValue, Type: I32, Bits: 5}, {Op: ConstI32Mul, Type: I32},
				{Op: ConstValue, Type: I32, Bits: 0xffffffff}, {Op: ConstI32Add, Type: I32}}},
			{GlobalType{F32, true}, ConstExpr{{Op: ConstValue, Type: F32, Bits: 0x04030201}}},
			{GlobalType{FuncRef, false}, refFunc(2)}},
		Exports: []Export{
			{"main", ExternFunc, 1}, {"table", ExternTable, 0}, {"memory", ExternMemory, 0}, {"é", ExternGlobal, 2}},
		Elems: []ElemSegment{
			{Type: FuncRef, Table: 1, Offset: konst(1), Funcs: []uint32{1, 3}},
			{Mode: SegmentPassive, Type: FuncRef, Funcs: []uint32{1}},
			{Type: FuncRef, Table: 1, Offset: konst(2), Funcs: []uint32{}},
			{Mode: SegmentDeclared, Type: FuncRef, Funcs: []uint32{0}},
			{Type: FuncRef, Table: 1, Offset: konst(3), Exprs: []ConstExpr{refFunc(1), null(FuncRef)}},
			{Mode: SegmentPassive, Type: ExternRef, Exprs: []ConstExpr{null(ExternRef)}},
			{Type: ExternRef, Table: 0, Offset: konst(4), Exprs: []ConstExpr{}},
			{Mode: SegmentDeclared, Type: FuncRef, Funcs: []uint32{3}},
		},
		NumImportedFuncs: 1, NumImportedTables: 1, NumImportedGlobals: 2,
		Start: 1, HasStart: true, DataCount: 3, HasDataCount: true,
		RefFuncs: []uint32{0, 1, 2, 3},
	}
	if d := cmp.Diff(want, m, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Module{}),
		cmpopts.IgnoreFields(Module{}, "Bytes", "Customs", "Bodies", "Datas", "CodeStart", "CodeEnd")); d != "" {
		t.Errorf("module (-want +have):\n%s", d)
	}
	text := func(start, end uint32) string { return string(m.Bytes[start:end]) }
	if len(m.Customs) != 2 || m.Customs[0].Name != "first" || text(m.Customs[0].Start, m.Customs[0].End) != "abc" || m.Customs[1].Name != "last" {
		t.Errorf("custom sections %+v", m.Customs)
	}
	var bodies []string
	for _, b := range m.Bodies {
		bodies = append(bodies, text(b.Start, b.End))
	}
	if !slices.Equal(bodies, []string{"\x00\x0b", "\x00\x01\x0b", "\x00\x00\x0b"}) {
		t.Errorf("bodies %q", bodies)
	}
	if s := text(m.CodeStart, m.CodeEnd); s[0] != 3 || !strings.HasSuffix(s, bodies[2]) {
		t.Errorf("code section %q", s)
	}
	var datas []string
	for _, d := range m.Datas {
		datas = append(datas, text(d.Start, d.End))
	}
	if !slices.Equal(datas, []string{"zero", "one", "two"}) || m.Datas[1].Mode != SegmentPassive || m.Datas[2].Offset[0].Bits != 9 {
		t.Errorf("data segments %q %+v", datas, m.Datas)
	}
	if s := m.FuncType(3).String(); s != "[i32 externref] -> [f64 i64]" {
		t.Errorf("function type %s", s)
	}
}

// TestDecodeKeepsBuffer checks that a padded buffer isn't copied, that another
// is, and that bytes behind the module don't matter.
func TestDecodeKeepsBuffer(t *testing.T) {
	b := everything()
	room := append(bytes.Clone(b), bytes.Repeat([]byte{0xff}, 2*Padding)...)
	m, err := Decode(room[:len(b)])
	if err != nil {
		t.Fatal(err)
	}
	if &m.Bytes[0] != &room[0] {
		t.Error("a padded buffer was copied")
	}
	m, err = Decode(slices.Clip(b))
	if err != nil {
		t.Fatal(err)
	}
	if &m.Bytes[0] == &b[0] || cap(m.Bytes) < len(b)+Padding {
		t.Error("a buffer without padding was kept")
	}
}

func TestRead(t *testing.T) {
	want := bytes.Repeat([]byte("wasm"), 3000)
	for _, hint := range []int64{0, 1, 511, 512, int64(len(want)) - 1, int64(len(want)), 1 << 20, -5} {
		for _, r := range []io.Reader{bytes.NewReader(want), iotest.OneByteReader(bytes.NewReader(want)), iotest.DataErrReader(bytes.NewReader(want))} {
			have, err := Read(r, hint)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(have, want) || cap(have)-len(have) < Padding {
				t.Errorf("hint %d: %d bytes of capacity %d, want %d", hint, len(have), cap(have), len(want))
			}
		}
	}
	broken := errors.New("broken")
	if _, err := Read(iotest.ErrReader(broken), 10); err != broken {
		t.Errorf("error %v, want it passed on", err)
	}
}

// TestLowestOffset puts errors into many bodies and behind them; the first
// must be reported whatever the number of workers.
func TestLowestOffset(t *testing.T) {
	bodies := make([][]byte, 200)
	funcs := make([][]byte, len(bodies))
	for i := range bodies {
		funcs[i] = []byte{0}
		bodies[i] = body(OpNop, OpEnd)
		if i >= 100 && i%3 == 0 {
			bodies[i] = body(OpDrop, OpEnd)
		}
	}
	parts := [][]byte{
		section(sectionType, vec(funcType(nil, nil))),
		section(sectionFunction, vec(funcs...)),
		section(sectionCode, vec(bodies...)),
	}
	m, err := Decode(module(parts...))
	if err != nil {
		t.Fatal(err)
	}
	want := m.ValidateBody(102).Error()
	for workers := range 9 {
		for range 20 {
			if err := ValidateBodies(m, workers); err == nil || err.Error() != want {
				t.Fatalf("%d workers: %v, want %s", workers, err, want)
			}
		}
	}
	_, err = Decode(module(append(parts, []byte{sectionData, 5, 9})...))
	if err == nil || err.Error() != want {
		t.Errorf("with a bad data section: %v, want %s", err, want)
	}
	_, err = Decode(module(append([][]byte{section(sectionMemory, []byte{9})}, parts...)...))
	if err == nil || !strings.HasPrefix(err.Error(), "offset 0xa: expected 9 memories") {
		t.Errorf("with a bad section before: %v", err)
	}
}
