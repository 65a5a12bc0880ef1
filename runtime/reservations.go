package runtime

import (
	"slices"
	"sync"
)

// reservations of all memories of the process, so that the address of a fault
// can be told to be a guest memory's or not.
var reservations registry

// registry is a set of disjoint address ranges, in ascending order.
type registry struct {
	mu     sync.RWMutex
	ranges []addrRange
}

type addrRange struct{ lo, hi uintptr }

func (r *registry) search(addr uintptr) (int, bool) {
	return slices.BinarySearchFunc(r.ranges, addr, func(a addrRange, at uintptr) int {
		switch {
		case a.hi <= at:
			return -1
		case a.lo > at:
			return 1
		}
		return 0
	})
}

func (r *registry) add(addr, n uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, _ := r.search(addr)
	r.ranges = slices.Insert(r.ranges, i, addrRange{addr, addr + n})
}

func (r *registry) remove(addr uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i, ok := r.search(addr); ok {
		r.ranges = slices.Delete(r.ranges, i, i+1)
	}
}

// find gives the start of the range that contains addr.
func (r *registry) find(addr uintptr) (lo uintptr, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	i, ok := r.search(addr)
	if !ok {
		return 0, false
	}
	return r.ranges[i].lo, true
}
