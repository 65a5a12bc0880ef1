package liftoff

import (
	"fmt"
	"slices"

	"github.com/wasmjit/wasmjit/decoder"
)

// NewLayout lays out the instance block of m. It fails only when the block
// would pass 1 GiB, which disp32 addressing can't reach.
func NewLayout(m *decoder.Module) (*Layout, error) { return newLayout(m, false) }

// splitAlign is a multiple of every target's page size.
const splitAlign = 64 << 10

// NewSplitLayout lays out the block in two parts, so that the first can be
// made read-only: Fixed bytes that nothing writes once the instance is built,
// and behind them, on pages of their own, the mutable globals. Accesses to
// these take three bytes more each.
func NewSplitLayout(m *decoder.Module) (*Layout, error) { return newLayout(m, true) }

func newLayout(m *decoder.Module, split bool) (*Layout, error) {
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
	// globals takes the cells of those that are written, or of the others.
	globals := func(written bool) {
		for i := range m.Globals {
			g := &m.Globals[i]
			if split && written != (g.Mutable && g.Init != nil) {
				continue
			}
			if g.Type == decoder.V128 && g.Init != nil {
				l.Globals[i] = take(1, 16, 16)
			} else {
				l.Globals[i] = take(1, 8, 8)
			}
		}
	}
	globals(false) // all of them, unless split
	l.SigIDs = take(int64(len(m.Types)), 4, 4)
	l.Records = take(int64(m.NumImportedFuncs)+int64(len(l.refFuncs)), RecSize, 8)
	if split {
		l.Fixed = take(0, 0, splitAlign)
		globals(true)
	}
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
