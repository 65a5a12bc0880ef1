//go:build linux

package runtime

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
)

func TestEval(t *testing.T) {
	s := newStore(t, Config{})
	d := importing(decoder.ExternGlobal)
	d.Globals = []decoder.Global{
		{GlobalType: decoder.GlobalType{Type: decoder.I32}},
		{GlobalType: decoder.GlobalType{Type: decoder.I32}, Init: decoder.ConstExpr{{Op: decoder.ConstGlobal, Index: 0}}},
	}
	i := instantiate(t, s, d, Imports{"m": {"x": s.NewGlobal(decoder.GlobalType{Type: decoder.I32}, 0xfffffff0)}})
	c := func(v uint64) decoder.ConstInstr { return decoder.ConstInstr{Op: decoder.ConstValue, Bits: v} }
	op := func(o decoder.ConstOp) decoder.ConstInstr { return decoder.ConstInstr{Op: o, Index: 1} }
	for _, x := range []struct {
		e    decoder.ConstExpr
		want uint64
	}{
		{decoder.ConstExpr{c(1 << 40)}, 1 << 40},
		{decoder.ConstExpr{op(decoder.ConstGlobal)}, 0xfffffff0},
		{decoder.ConstExpr{op(decoder.ConstRefNull)}, 0},
		{decoder.ConstExpr{op(decoder.ConstGlobal), c(0x20), op(decoder.ConstI32Add)}, 0x10},
		{decoder.ConstExpr{c(1), c(2), op(decoder.ConstI32Sub)}, 0xffffffff},
		{decoder.ConstExpr{c(0x10001), c(0x10001), op(decoder.ConstI32Mul)}, 0x20001},
		{decoder.ConstExpr{c(1), c(2), op(decoder.ConstI64Sub)}, 1<<64 - 1},
		{decoder.ConstExpr{c(1 << 63), c(1<<63 + 3), op(decoder.ConstI64Add)}, 3},
		{decoder.ConstExpr{c(7), c(3), c(5), op(decoder.ConstI64Mul), op(decoder.ConstI64Add)}, 22},
	} {
		if got := i.eval(x.e); got != x.want {
			t.Errorf("%v = %#x, want %#x", x.e, got, x.want)
		}
	}
}

func TestActiveSegments(t *testing.T) {
	s := newStore(t, Config{})
	f := s.NewFunc(decoder.FuncType{}, nil)
	module := func() *decoder.Module {
		d := &decoder.Module{
			Types: []decoder.FuncType{{}}, Funcs: []uint32{0}, NumImportedFuncs: 1, NumImportedMemories: 1, NumImportedTables: 1,
			Imports: []decoder.Import{
				{Module: "m", Name: "f", Kind: decoder.ExternFunc},
				{Module: "m", Name: "m", Kind: decoder.ExternMemory},
				{Module: "m", Name: "t", Kind: decoder.ExternTable},
			},
			Memories: []decoder.MemoryType{{Limits: atLeast(1)}},
			Tables:   []decoder.TableType{{Elem: decoder.FuncRef, Limits: atLeast(4)}},
			RefFuncs: []uint32{0},
			Bytes:    []byte("..hello.."),
		}
		d.Elems = []decoder.ElemSegment{
			{Type: decoder.FuncRef, Offset: i32(2), Funcs: []uint32{0, 0}},
			{Type: decoder.FuncRef, Offset: i32(1), Exprs: []decoder.ConstExpr{{{Op: decoder.ConstRefFunc}}, {{Op: decoder.ConstRefNull}}}},
		}
		d.Datas = []decoder.DataSegment{{Offset: i32(10), Start: 2, End: 7}, {Offset: i32(65536), Start: 2, End: 2}}
		return d
	}
	var mem *Memory
	var tab *Table
	imports := func() Imports {
		var err error
		if mem, err = s.NewMemory(decoder.MemoryType{Limits: atLeast(1)}); err != nil {
			t.Fatal(err)
		}
		tab = newTable(t, s, decoder.FuncRef, atLeast(4))
		return Imports{"m": {"f": f, "m": mem, "t": tab}}
	}
	i := instantiate(t, s, module(), imports())
	ref := s.FuncRef(f)
	if got := contents(tab); !slices.Equal(got, []uint64{0, ref, 0, ref}) {
		t.Errorf("table %x", got)
	}
	if string(mem.Bytes()[9:16]) != "\x00hello\x00" {
		t.Errorf("memory %q", mem.Bytes()[9:16])
	}
	// Active segments are dropped.
	if i.tableInit(0, 0, 0, 0, 1) || !i.tableInit(0, 0, 0, 0, 0) || i.memoryInit(0, 0, 0, 0, 1) || !i.memoryInit(0, 0, 0, 0, 0) {
		t.Error("an active segment is still there, or an empty one of size 0 not")
	}

	// Segments that don't fit trap; those before them stay written.
	for _, c := range []struct {
		kind   TrapKind
		cause  string
		change func(d *decoder.Module)
		table  []uint64
		memory string
	}{
		{TrapTableOutOfBounds, "element segment 1: 2 elements at 3 don't fit in table of 4", func(d *decoder.Module) { d.Elems[1].Offset = i32(3) }, []uint64{0, 0, ref, ref}, ""},
		{TrapTableOutOfBounds, "element segment 0: 2 elements at 4294967295 don't fit in table of 4", func(d *decoder.Module) { d.Elems[0].Offset = i32(1<<32 - 1) }, []uint64{0, 0, 0, 0}, ""},
		{TrapMemoryOutOfBounds, "data segment 1: 0 bytes at 65537 don't fit in memory of 65536", func(d *decoder.Module) { d.Datas[1].Offset = i32(65537) }, []uint64{0, ref, 0, ref}, "hello"},
		{TrapMemoryOutOfBounds, "data segment 0: 5 bytes at 65532 don't fit in memory of 65536", func(d *decoder.Module) { d.Datas[0].Offset = i32(65532) }, []uint64{0, ref, 0, ref}, ""},
	} {
		d := module()
		c.change(d)
		_, err := s.Instantiate(bg, compile(t, s, d), imports())
		var trap *Trap
		if !errors.As(err, &trap) || trap.Kind != c.kind || !strings.HasSuffix(trap.Error(), c.cause) {
			t.Errorf("error %v, want %s: %s", err, c.kind, c.cause)
		}
		if got := contents(tab); !slices.Equal(got, c.table) {
			t.Errorf("%s: table %x, want %x", c.cause, got, c.table)
		}
		if got := strings.TrimRight(string(mem.Bytes()[10:15]), "\x00"); got != c.memory {
			t.Errorf("%s: memory %q, want %q", c.cause, got, c.memory)
		}
	}
}

func TestPassiveSegments(t *testing.T) {
	s := newStore(t, Config{})
	d := &decoder.Module{
		Memories: []decoder.MemoryType{{Limits: atLeast(1)}},
		Tables:   []decoder.TableType{{Elem: decoder.ExternRef, Limits: atLeast(3)}},
		Bytes:    []byte("abcdef"),
		Datas:    []decoder.DataSegment{{Mode: decoder.SegmentPassive, Start: 1, End: 5}},
		Elems: []decoder.ElemSegment{
			{Mode: decoder.SegmentPassive, Type: decoder.ExternRef, Exprs: []decoder.ConstExpr{i32(1), i32(2), i32(3)}},
			{Mode: decoder.SegmentDeclared, Type: decoder.ExternRef, Exprs: []decoder.ConstExpr{i32(1)}},
		},
		Exports: []decoder.Export{{Name: "m", Kind: decoder.ExternMemory}, {Name: "t", Kind: decoder.ExternTable}},
	}
	i := instantiate(t, s, d, nil)
	mem, tab := i.Memory("m"), i.Table("t")
	if !i.memoryInit(0, 0, 65534, 2, 2) || string(mem.Bytes()[65534:]) != "de" {
		t.Errorf("memory.init: %q", mem.Bytes()[65534:])
	}
	if i.memoryInit(0, 0, 65534, 0, 3) || i.memoryInit(0, 0, 0, 1, 4) || i.memoryInit(0, 0, 0, 5, 0) || i.memoryInit(0, 0, 65537, 0, 0) || i.memoryInit(0, 0, 0, 1<<32-1, 1<<32-1) {
		t.Error("memory.init out of bounds")
	}
	if !i.tableInit(0, 0, 1, 0, 2) || !slices.Equal(contents(tab), []uint64{0, 1, 2}) {
		t.Errorf("table.init: %d", contents(tab))
	}
	if i.tableInit(0, 0, 2, 0, 2) || i.tableInit(0, 0, 0, 2, 2) || i.tableInit(0, 0, 0, 4, 0) || i.tableInit(0, 0, 4, 0, 0) || i.tableInit(1, 0, 0, 0, 1) {
		t.Error("table.init out of bounds")
	}
	i.droppedDatas.add(0)
	i.droppedElems.add(0)
	if i.memoryInit(0, 0, 0, 0, 1) || !i.memoryInit(0, 0, 0, 0, 0) || i.tableInit(0, 0, 0, 0, 1) || !i.tableInit(0, 0, 0, 0, 0) {
		t.Error("a dropped segment isn't empty")
	}
}

func TestMemoryBulk(t *testing.T) {
	s := newStore(t, Config{})
	m, err := s.NewMemory(decoder.MemoryType{Limits: atLeast(1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []uint64{0, 1, 4095, 4096, 4097, 20000} {
		clear(m.Bytes())
		if !memoryFill(m, 7, 0xab, n) {
			t.Fatalf("fill of %d bytes failed", n)
		}
		for k, b := range m.Bytes() {
			if in := uint64(k) >= 7 && uint64(k) < 7+n; in != (b == 0xab) {
				t.Fatalf("fill of %d bytes at 7: byte %d is %#x", n, k, b)
			}
		}
		if !memoryFill(m, 7, 0, n) || slices.ContainsFunc(m.Bytes(), func(b byte) bool { return b != 0 }) {
			t.Fatalf("fill of %d zeros", n)
		}
	}
	copy(m.Bytes(), "abcdef")
	if !memoryCopy(m, m, 1, 0, 5) || string(m.Bytes()[:6]) != "aabcde" {
		t.Errorf("copy up: %q", m.Bytes()[:6])
	}
	if !memoryCopy(m, m, 0, 1, 5) || string(m.Bytes()[:6]) != "abcdee" {
		t.Errorf("copy down: %q", m.Bytes()[:6])
	}
	if memoryCopy(m, m, 65536, 0, 1) || memoryCopy(m, m, 0, 65535, 2) || memoryCopy(m, m, 65537, 0, 0) || !memoryCopy(m, m, 65536, 65536, 0) || memoryFill(m, 65535, 1, 2) || memoryFill(m, 1<<32-1, 1, 1<<32-1) {
		t.Error("wrong bounds")
	}
}
