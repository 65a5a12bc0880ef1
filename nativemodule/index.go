package nativemodule

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/wasmjit/wasmjit/codemem"
)

// codeRange is a span of published code.
type codeRange struct {
	codemem.Range
	m *Module
}

// index is the process's published code, ascending by address. A reader loads
// it once; writers replace it whole, under indexMu.
var (
	index   atomic.Pointer[[]codeRange]
	indexMu sync.Mutex
)

// register enters the ranges of m's space, in place of those it had when it
// was smaller.
func register(m *Module) {
	indexMu.Lock()
	defer indexMu.Unlock()
	ranges := m.space.Ranges()
	if slices.Equal(ranges, m.registered) {
		return
	}
	m.registered = ranges
	var all []codeRange
	if old := index.Load(); old != nil {
		all = make([]codeRange, 0, len(*old)+len(ranges))
		for _, r := range *old {
			if r.m != m {
				all = append(all, r)
			}
		}
	}
	for _, r := range ranges {
		at := sort.Search(len(all), func(i int) bool { return all[i].Lo > r.Lo })
		all = slices.Insert(all, at, codeRange{r, m})
	}
	index.Store(&all)
}

func unregister(m *Module) {
	indexMu.Lock()
	defer indexMu.Unlock()
	old := index.Load()
	if old == nil {
		return
	}
	var all []codeRange
	for _, r := range *old {
		if r.m != m {
			all = append(all, r)
		}
	}
	index.Store(&all)
}

// Lookup finds the function whose code contains pc, and the offset of pc in
// it. It takes no lock. The module is not retained: the caller knows that it
// is alive, because something of it was just running.
func Lookup(pc uintptr) (m *Module, fn, off uint32, ok bool) {
	all := index.Load()
	if all == nil {
		return nil, 0, 0, false
	}
	i := sort.Search(len(*all), func(i int) bool { return (*all)[i].Hi > pc })
	if i == len(*all) || pc < (*all)[i].Lo {
		return nil, 0, 0, false
	}
	m = (*all)[i].m
	fn, off, ok = m.find(pc)
	if !ok {
		return nil, 0, 0, false
	}
	return m, fn, off, true
}

// find does the same within m.
func (m *Module) find(pc uintptr) (fn, off uint32, ok bool) {
	at := uint32(pc - m.base)
	if m.table != nil {
		p, ok := m.code.Load().find(at)
		return m.imported + p.def, at - p.entry, ok
	}
	m.byEntryOnce.Do(func() { m.byEntry = sortedBy(m.entries) })
	i := sort.Search(len(m.byEntry), func(i int) bool { return m.entries[m.byEntry[i]] > at })
	if i == 0 {
		return 0, 0, false
	}
	def := m.byEntry[i-1]
	if off = at - m.entries[def]; off >= m.sizes[def] {
		return 0, 0, false
	}
	return m.imported + def, off, true
}
