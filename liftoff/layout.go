package liftoff

import (
	"fmt"
	"slices"

	"github.com/wasmjit/wasmjit/decoder"
)

// NewLayout lays out the instance block of m. It fails only when the block
// would pass 1 GiB, which disp32 addressing can't reach.
func NewLayout(m *decoder.Module) (*Layout, error) {
	l := &Layout{imported: m.NumImportedFuncs, Globals: make([]int32, len(m.Globals))}
	first, _ := slices.BinarySearch(m.RefFuncs, m.NumImportedFuncs)
	l.refFuncs = m.RefFuncs[first:]
	at := int64(InstHeader)
	take := func(n, size, align int64) int32 {
		at = (at + align - 1) &^ (align - 1)
		off := at
		at += n * size
		return int32(min(off, 1<<30))
	}
	// Memories and tables come first so that they stay within disp8.
	l.Memories = take(int64(len(m.Memories)), 8, 8)
	l.Tables = take(int64(len(m.Tables)), 8, 8)
	for i := range m.Globals {
		g := &m.Globals[i]
		if g.Type == decoder.V128 && g.Init != nil {
			l.Globals[i] = take(1, 16, 16)
		} else {
			l.Globals[i] = take(1, 8, 8)
		}
	}
	l.SigIDs = take(int64(len(m.Types)), 4, 4)
	l.Records = take(int64(m.NumImportedFuncs)+int64(len(l.refFuncs)), RecSize, 8)
	if at > 1<<30 {
		return nil, fmt.Errorf("instance block of %d bytes is over 1 GiB", at)
	}
	l.Size = int32(at)
	return l, nil
}

// Record gives the offset of the record of function fn, which must be an
// import or one of Module.RefFuncs.
func (l *Layout) Record(fn uint32) int32 {
	if fn < l.imported {
		return l.Records + int32(fn)*RecSize
	}
	i, ok := slices.BinarySearch(l.refFuncs, fn)
	if !ok {
		panic("liftoff: function without a record")
	}
	return l.Records + int32(l.imported+uint32(i))*RecSize
}

// NumRecords is the number of function records.
func (l *Layout) NumRecords() int { return int(l.imported) + len(l.refFuncs) }
