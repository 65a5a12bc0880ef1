package runtime

import (
	"sync"
	"sync/atomic"
)

// object is what the handle in an instance block's header stands for: an
// instance or a host function. Native memory holds the handle, never a Go
// pointer.
type object struct {
	inst *Instance
	host *Func
}

// handles maps handles to objects. Lookups take no lock: every host call
// makes one or two.
type handles struct {
	mu   sync.Mutex
	list atomic.Pointer[[]atomic.Pointer[object]]
	next uint64
	free []uint64
}

// add gives o a handle, never 0.
func (h *handles) add(o *object) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.free); n > 0 {
		id := h.free[n-1]
		h.free = h.free[:n-1]
		(*h.list.Load())[id].Store(o)
		return id
	}
	h.next++
	old := h.list.Load()
	if old == nil || h.next >= uint64(len(*old)) {
		grown := make([]atomic.Pointer[object], max(64, 2*h.next))
		if old != nil {
			for i := range *old {
				grown[i].Store((*old)[i].Load())
			}
		}
		h.list.Store(&grown)
	}
	(*h.list.Load())[h.next].Store(o)
	return h.next
}

// remove frees a handle for reuse.
func (h *handles) remove(id uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	(*h.list.Load())[id].Store(nil)
	h.free = append(h.free, id)
}

// get gives the object of a handle in use.
func (h *handles) get(id uint64) *object {
	return (*h.list.Load())[id].Load()
}
