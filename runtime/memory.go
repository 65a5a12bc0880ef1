package runtime

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

const (
	// PageSize is the size of a WebAssembly page in bytes (spec 4.2.8).
	PageSize = 64 << 10

	// maxPages is the largest 32-bit memory.
	maxPages = 1 << 16

	// guardReservation covers every address that 32-bit index + 32-bit
	// offset + an access of 16 bytes can form: below 2^33 + 14, so one unit
	// of 64 KiB follows the 8 GiB.
	guardReservation = 8<<30 + PageSize
)

// Memory is a linear memory. It never moves: Go slices and other threads hold
// its address. It grows in place, by making more of its reservation
// accessible. All methods may be called from any goroutine; the bytes
// themselves are shared memory without any ordering but the hardware's.
type Memory struct {
	store    *Store
	owner    *Instance // nil when made by NewMemory
	declared decoder.MemoryType
	limit    uint64  // pages it may ever have: the declared maximum and the store's cap
	record   uintptr // liftoff memory record

	mu       sync.Mutex // grow and release; taken after the store's
	base     uintptr
	reserved uintptr
	size     atomic.Uint64 // bytes
}

// NewMemory makes a memory that belongs to the store, to be imported by
// instances. It fails when the limits pass the store's cap or the address
// space can't be had.
func (s *Store) NewMemory(t decoder.MemoryType) (*Memory, error) {
	if !s.life.enter() {
		return nil, errStoreClosed
	}
	defer s.life.leave()
	m, err := s.makeMemory(t)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memories = append(s.memories, m)
	return m, nil
}

func (s *Store) makeMemory(t decoder.MemoryType) (*Memory, error) {
	limit := min(s.maxPages, maxPages)
	if t.Min > limit {
		return nil, fmt.Errorf("memory of %d pages is over the limit of %d", t.Min, limit)
	}
	if t.HasMax {
		limit = min(limit, t.Max)
	}
	if t.HasMax && t.Max < t.Min {
		return nil, fmt.Errorf("memory with minimum %d over maximum %d", t.Min, t.Max)
	}
	m := &Memory{store: s, declared: t, limit: limit}
	var err error
	if s.bounds == liftoff.BoundsGuard {
		m.reserved = guardReservation
		m.base, err = reserve(m.reserved)
	} else {
		m.base, m.reserved, err = reserveUpTo(uintptr(t.Min)*PageSize, uintptr(limit)*PageSize)
		m.limit = min(limit, uint64(m.reserved)/PageSize)
	}
	if err != nil {
		return nil, err
	}
	if err := commit(m.base, uintptr(t.Min)*PageSize); err != nil {
		unmap(m.base, m.reserved)
		return nil, err
	}
	if m.record, err = s.blocks.alloc(16); err != nil {
		unmap(m.base, m.reserved)
		return nil, err
	}
	storeWord(m.record+liftoff.MemRecBase, uint64(m.base))
	m.setSize(t.Min * PageSize)
	reservations.add(m.base, m.reserved)
	return m, nil
}

// reserveUpTo reserves most bytes, or, where the address space is limited, as
// much as there is down to least, leaving about half of the rest to the
// process. It reserves at least one page, so that a memory always has an
// address.
func reserveUpTo(least, most uintptr) (addr, n uintptr, err error) {
	least, most = max(least, PageSize), max(most, PageSize)
	if addr, err = reserve(most); err == nil {
		return addr, most, nil
	}
	for n = most; n > least; {
		n = max(least, n/2&^(PageSize-1))
		if addr, err = reserve(n); err != nil {
			continue
		}
		if spare := max(least, n/2&^(PageSize-1)); spare < n {
			unmap(addr+spare, n-spare)
			n = spare
		}
		return addr, n, nil
	}
	return 0, 0, err
}

func (m *Memory) setSize(bytes uint64) {
	m.size.Store(bytes)
	storeWord(m.record+liftoff.MemRecBytes, bytes)
}

// Type gives the declared type of the memory.
func (m *Memory) Type() decoder.MemoryType { return m.declared }

// Pages gives the current size in pages of 64 KiB.
func (m *Memory) Pages() uint64 { return m.size.Load() / PageSize }

// Bytes gives the current contents. The slice stays valid while the memory
// exists, that is until its instance or store is closed, and doesn't see
// later growth; it must not be used after that. Guest code may change the
// bytes at any time.
func (m *Memory) Bytes() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.base == 0 {
		return nil
	}
	return bytesAt(m.base, uintptr(m.size.Load()))
}

// Grow adds delta pages and gives the size before, in pages. ok is false, and
// nothing changed, when that would pass the declared maximum or the store's
// cap, or when the system has no memory for it.
func (m *Memory) Grow(delta uint64) (old uint64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old = m.Pages()
	if m.base == 0 || delta > m.limit-old {
		return old, false
	}
	if commit(m.base+uintptr(old)*PageSize, uintptr(delta)*PageSize) != nil {
		return old, false
	}
	m.setSize((old + delta) * PageSize)
	return old, true
}

// slice gives bytes [at, at+n), or false when they are not all inside. The
// comparison is exact for any two 64-bit numbers.
func (m *Memory) slice(at, n uint64) ([]byte, bool) {
	size := m.size.Load()
	if at > size || n > size-at {
		return nil, false
	}
	return bytesAt(m.base+uintptr(at), uintptr(n)), true
}

func (m *Memory) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.base == 0 {
		return
	}
	reservations.remove(m.base)
	unmap(m.base, m.reserved)
	m.store.blocks.release(m.record, 16)
	m.base = 0
	m.size.Store(0)
}

func (m *Memory) kind() decoder.ExternKind { return decoder.ExternMemory }
