package nativemodule

import (
	"slices"
	"sort"
)

// placed is code in code memory. The entry is from the module's base.
type placed struct {
	entry, size, def uint32
}

// packed is the form in the code table; 0 is a function without code. The
// jump table lies first, so no entry is 0.
func (p placed) packed() uint64 { return uint64(p.size)<<32 | uint64(p.entry) }

func unpack(v uint64, def uint32) placed { return placed{uint32(v), uint32(v >> 32), def} }

// place gives where the present code of a defined function is.
func (m *Module) place(def uint32) placed {
	if m.table != nil {
		return unpack(m.table[def].Load(), def)
	}
	return placed{m.entries[def], m.sizes[def], def}
}

// numDefined is the number of functions that have a body.
func (m *Module) numDefined() int { return len(m.decoded.Bodies) }

// codeIndex lists the code of a live module by address: present code, and
// replaced code until it is freed, since somebody may still run it. A reader
// loads it once; writers replace it whole, holding the space's lock.
type codeIndex []placed

func (x codeIndex) find(at uint32) (p placed, ok bool) {
	i := sort.Search(len(x), func(i int) bool { return x[i].entry > at })
	if i == 0 {
		return p, false
	}
	p = x[i-1]
	return p, at-p.entry < p.size
}

// buildIndex lists all code, when the first compile is finished.
func (m *Module) buildIndex() {
	x := make(codeIndex, 0, len(m.table))
	for def := range m.table {
		if p := m.place(uint32(def)); p.size > 0 {
			x = append(x, p)
		}
	}
	slices.SortFunc(x, byEntry)
	m.code.Store(&x)
}

func byEntry(a, b placed) int {
	if a.entry < b.entry {
		return -1
	}
	return 1
}

// updateIndex adds and removes code. The space's lock is held.
func (m *Module) updateIndex(add, remove []placed) {
	old := *m.code.Load()
	x := make(codeIndex, 0, len(old)+len(add))
	gone := make(map[uint32]bool, len(remove))
	for _, p := range remove {
		gone[p.entry] = true
	}
	add = slices.Clone(add)
	slices.SortFunc(add, byEntry)
	for _, p := range old {
		for len(add) > 0 && add[0].entry < p.entry {
			x, add = append(x, add[0]), add[1:]
		}
		if !gone[p.entry] {
			x = append(x, p)
		}
	}
	x = append(x, add...)
	m.code.Store(&x)
}
