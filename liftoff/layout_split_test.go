package liftoff

import (
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
)

// In a split layout everything that the running program writes lies behind
// Fixed, everything else before it, and nothing overlaps.
func TestSplitLayout(t *testing.T) {
	defined := decoder.ConstExpr{{Op: decoder.ConstValue}}
	m := &decoder.Module{
		NumImportedFuncs: 2,
		Types:            make([]decoder.FuncType, 3),
		Memories:         make([]decoder.MemoryType, 1),
		Tables:           make([]decoder.TableType, 2),
		RefFuncs:         []uint32{1, 2, 5},
		Globals: []decoder.Global{
			{GlobalType: decoder.GlobalType{Type: decoder.I32, Mutable: true}}, // imported: a constant address
			{GlobalType: decoder.GlobalType{Type: decoder.I32, Mutable: true}, Init: defined},
			{GlobalType: decoder.GlobalType{Type: decoder.V128, Mutable: true}, Init: defined},
			{GlobalType: decoder.GlobalType{Type: decoder.I64}, Init: defined},
		},
	}
	plain, err := NewLayout(m)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewSplitLayout(m)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Fixed != 0 || l.Fixed != splitAlign {
		t.Errorf("fixed parts of %d and %d bytes", plain.Fixed, l.Fixed)
	}
	type piece struct{ at, size int32 }
	pieces := []piece{
		{0, InstHeader}, {l.Memories, 8}, {l.Tables, 16}, {l.SigIDs, 12},
		{l.Records, int32(l.NumRecords()) * RecSize},
		{l.Globals[0], 8}, {l.Globals[3], 8}, {l.Globals[1], 8}, {l.Globals[2], 16},
	}
	const fixed = 7 // the first pieces
	for i, a := range pieces {
		if inside := a.at+a.size <= l.Fixed; inside != (i < fixed) || a.at+a.size > l.Size {
			t.Errorf("piece %d: %d bytes at %d of %d, fixed %d", i, a.size, a.at, l.Size, l.Fixed)
		}
		for j, b := range pieces[:i] {
			if a.at < b.at+b.size && b.at < a.at+a.size {
				t.Errorf("pieces %d and %d overlap", i, j)
			}
		}
	}
	if l.Globals[2]%16 != 0 {
		t.Errorf("a vector at %d", l.Globals[2])
	}
}
