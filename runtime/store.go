package runtime

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

// DefaultStackSize is the size in bytes of a native stack unless Config says
// otherwise.
const DefaultStackSize = 8 << 20

// Config sets what a store allows. The zero value is usable: guarded
// memories, or an error from NewStore where the address space for them can't
// be had.
type Config struct {
	// StackSize is the size in bytes of the stack that compiled code runs
	// on, per concurrent call; 0 means DefaultStackSize. A call that needs
	// more traps with TrapStackOverflow.
	StackSize int
	// Bounds is how memory accesses are checked. BoundsGuard reserves a
	// little over 8 GiB of address space per memory.
	Bounds liftoff.Bounds
	// BoundsAuto chooses: guarded where 8 GiB can be reserved, else
	// explicit checks. Bounds is ignored.
	BoundsAuto bool
	// MaxMemoryPages caps every memory, in pages of 64 KiB; 0 means 65,536.
	// Growing beyond it fails; a memory that starts larger is refused.
	MaxMemoryPages uint64
	// Locked makes everything constant in instances and host functions
	// read-only before code runs, and final where the kernel has mseal. What
	// was made final stays mapped until the process ends. Modules must be
	// compiled with liftoff.Options.SplitInstance. A table that no code of
	// its module changes is constant: Table.Set and Grow are false, and a
	// module that changes it can't import it.
	Locked bool
}

// Store owns instances and everything they share: memories, tables, globals,
// host functions, references and signature numbers (spec 4.2.3). Things of
// different stores can't be linked. A store may be used from many goroutines.
type Store struct {
	bounds    liftoff.Bounds
	maxPages  uint64
	stackSize int
	locked    bool

	blocks  blocks
	fixed   fixedPages // of a locked store
	handles handles
	life    life

	mu        sync.Mutex
	closed    bool
	ended     bool
	sigs      map[string]*signature
	instances map[*Instance]struct{}
	memories  []*Memory        // made by NewMemory
	tables    []*Table         // made by NewTable
	refs      map[uint64]*Func // function references that Go code was given
	externs   []any            // externref handle - 1
	// members counts the store itself and the instances whose end Close
	// waits for.
	members atomic.Int64
}

// NewStore makes an empty store, which must be closed: the garbage collector
// doesn't free what it holds. It fails on platforms that can't run compiled
// code, for a stack size out of range (the most is 1 GiB), and where guarded
// memories are asked for and 8 GiB of address space can't be reserved.
func NewStore(c Config) (*Store, error) {
	if err := liftoff.CheckHost(); err != nil {
		return nil, err
	}
	if err := nativeInit(); err != nil {
		return nil, err
	}
	s := &Store{
		bounds:    c.Bounds,
		maxPages:  c.MaxMemoryPages,
		stackSize: c.StackSize,
		locked:    c.Locked,
		sigs:      make(map[string]*signature),
		instances: make(map[*Instance]struct{}),
		refs:      make(map[uint64]*Func),
	}
	if s.maxPages == 0 || s.maxPages > maxPages {
		s.maxPages = maxPages
	}
	if s.stackSize == 0 {
		s.stackSize = DefaultStackSize
	}
	stack, err := acquireStack(s.stackSize)
	if err != nil {
		return nil, err
	}
	stack.release()
	if c.BoundsAuto {
		s.bounds = liftoff.BoundsGuard
	}
	if s.bounds == liftoff.BoundsGuard {
		// Decided before anything is compiled, since the mode is compiled in.
		addr, err := reserve(guardReservation)
		switch {
		case err == nil:
			unmap(addr, guardReservation)
		case c.BoundsAuto:
			s.bounds = liftoff.BoundsExplicit
		default:
			return nil, fmt.Errorf("guarded memories: %w", err)
		}
	}
	s.life.end = func(bool) { s.memberEnded() }
	return s, nil
}

// Bounds is the mode that modules must be compiled for to be instantiated in
// this store.
func (s *Store) Bounds() liftoff.Bounds { return s.bounds }

// Close frees all that belongs to the store: at once, or when the last
// running call returns. No call can start after it. Slices of memories must
// not be used any more. Closing twice is harmless; the error is always nil.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	list := make([]*Instance, 0, len(s.instances))
	for i := range s.instances {
		list = append(list, i)
	}
	s.mu.Unlock()

	s.members.Store(int64(len(list)) + 1)
	for _, i := range list {
		if !i.life.closeStore() {
			s.memberEnded()
		}
	}
	s.life.closeStore()
	return nil
}

// memberEnded frees the store with its last member.
func (s *Store) memberEnded() {
	if s.members.Add(-1) != 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.instances {
		i.freeParts()
	}
	for _, m := range s.memories {
		m.release()
	}
	for _, t := range s.tables {
		t.release()
	}
	s.blocks.close()
	s.fixed.close()
	s.ended = true
	s.instances, s.memories, s.tables, s.refs, s.externs = nil, nil, nil, nil, nil
}

// Kept counts the closed instances whose code and memory stay until the store
// is closed, because something of theirs may still be reached; see
// Instance.Close.
func (s *Store) Kept() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i := range s.instances {
		if i.life.isClosed() {
			n++
		}
	}
	return n
}

// Extern is what can be imported and exported: *Func, *Table, *Memory or
// *Global.
type Extern interface {
	kind() decoder.ExternKind
	home() *Store
	life() *life // how long it exists
}

func (f *Func) home() *Store   { return f.store }
func (t *Table) home() *Store  { return t.store }
func (m *Memory) home() *Store { return m.store }
func (g *Global) home() *Store { return g.store }

func (f *Func) life() *life   { return lifeOf(f.store, f.inst) }
func (t *Table) life() *life  { return lifeOf(t.store, t.owner) }
func (m *Memory) life() *life { return lifeOf(m.store, m.owner) }
func (g *Global) life() *life { return lifeOf(g.store, g.owner) }

func lifeOf(s *Store, owner *Instance) *life {
	if owner != nil {
		return &owner.life
	}
	return &s.life
}

var (
	errClosed      = errors.New("instance is closed")
	errStoreClosed = errors.New("store is closed")
)
