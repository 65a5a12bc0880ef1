package codemem

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// hugePage is the size and alignment of what the kernel can back by one large
// page on amd64 and on arm64 with 4 KiB pages.
const hugePage = 2 << 20

// minDefault is the smallest reservation that Default settles for.
const minDefault = 64 << 20

// Arena is one contiguous reservation of address space for code. It spans
// less than 2 GiB, so any code in it reaches any other by a rel32.
type Arena struct {
	lo, hi uintptr
	calls  ledger

	mu   sync.Mutex
	free []extent // ascending, never adjacent to one another

	immutable atomic.Bool // its mappings can't change any more
}

type extent struct{ lo, hi uintptr }

// FullError reports that the arena, or the limit of a space, has no room.
type FullError struct {
	// Limit is the code space in bytes that the module could have had, Size
	// that of the whole arena.
	Limit, Size int64
}

func (e *FullError) Error() string {
	s := fmt.Sprintf("module needs more than %d MiB of code space", e.Limit>>20)
	if e.Limit < 1<<20 {
		s = fmt.Sprintf("module needs more than %d KiB of code space", e.Limit>>10)
	}
	if e.Limit < e.Size {
		s += fmt.Sprintf(" (of %d MiB in all)", e.Size>>20)
	}
	return s
}

// Default gives the process's arena, reserving it on first use: 2 GiB less a
// little, or less where the process may not have that much address space.
var Default = sync.OnceValues(func() (*Arena, error) {
	for size := int64(maxReserve); ; size /= 2 {
		a, err := NewArena(size)
		if err == nil || size/2 < minDefault {
			return a, err
		}
	}
})

// NewArena reserves an arena of its own, of size bytes rounded up to 2 MiB.
// Programs use Default: code in different arenas can't call one another
// directly. The error is a *SystemError, or says that size is out of range.
func NewArena(size int64) (*Arena, error) {
	if size <= 0 || size > maxReserve {
		return nil, fmt.Errorf("code arena of %d bytes: must be positive and at most %d", size, int64(maxReserve))
	}
	n := alignUp(uintptr(size), hugePage)
	a := &Arena{}
	lo, err := reserve(&a.calls, n)
	if err != nil {
		return nil, err
	}
	a.lo, a.hi = lo, lo+n
	a.free = []extent{{a.lo, a.hi}}
	return a, nil
}

// Bounds gives the address range that all code of the arena lies in.
func (a *Arena) Bounds() (lo, hi uintptr) { return a.lo, a.hi }

// Available is the address space in bytes that no space has taken.
func (a *Arena) Available() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	var n uintptr
	for _, e := range a.free {
		n += e.hi - e.lo
	}
	return int64(n)
}

// Close gives the reservation back. It fails while a space is open.
func (a *Arena) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.free) != 1 || a.free[0] != (extent{a.lo, a.hi}) {
		return fmt.Errorf("code arena is still in use")
	}
	a.free = nil
	return unmap(&a.calls, a.lo, a.hi-a.lo)
}

// take finds the first free place for size bytes.
func (a *Arena) take(size, align uintptr) (uintptr, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, e := range a.free {
		if lo := alignUp(e.lo, align); lo+size <= e.hi {
			a.cut(i, lo, lo+size)
			return lo, true
		}
	}
	return 0, false
}

// takeAt takes exactly [lo, lo+size), if it is free.
func (a *Arena) takeAt(lo, size uintptr) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, e := range a.free {
		if e.lo <= lo && lo+size <= e.hi {
			a.cut(i, lo, lo+size)
			return true
		}
	}
	return false
}

// cut removes [lo, hi) from free extent i, which contains it.
func (a *Arena) cut(i int, lo, hi uintptr) {
	e := a.free[i]
	switch {
	case e.lo == lo && e.hi == hi:
		a.free = slices.Delete(a.free, i, i+1)
	case e.lo == lo:
		a.free[i].lo = hi
	case e.hi == hi:
		a.free[i].hi = lo
	default:
		a.free[i].hi = lo
		a.free = slices.Insert(a.free, i+1, extent{hi, e.hi})
	}
}

// give returns [lo, hi), which must be mapped protNone again, and merges it
// with its free neighbours.
func (a *Arena) give(lo, hi uintptr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i, _ := slices.BinarySearchFunc(a.free, lo, func(e extent, lo uintptr) int {
		if e.lo < lo {
			return -1
		}
		return 1
	})
	if i > 0 && a.free[i-1].hi > lo || i < len(a.free) && a.free[i].lo < hi {
		panic("codemem: address space given back twice")
	}
	joinsPrev := i > 0 && a.free[i-1].hi == lo
	joinsNext := i < len(a.free) && a.free[i].lo == hi
	switch {
	case joinsPrev && joinsNext:
		a.free[i-1].hi = a.free[i].hi
		a.free = slices.Delete(a.free, i, i+1)
	case joinsPrev:
		a.free[i-1].hi = hi
	case joinsNext:
		a.free[i].lo = lo
	default:
		a.free = slices.Insert(a.free, i, extent{lo, hi})
	}
}

// largest is the size of the largest free extent.
func (a *Arena) largest() uintptr {
	a.mu.Lock()
	defer a.mu.Unlock()
	var n uintptr
	for _, e := range a.free {
		n = max(n, e.hi-e.lo)
	}
	return n
}
