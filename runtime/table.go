package runtime

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

const entrySize = 8

// Table is a table of references, off the Go heap. The whole of what it may
// grow to is reserved, so its entries never move. All methods may be called
// from any goroutine.
type Table struct {
	store    *Store
	owner    *Instance // nil when made by NewTable
	declared decoder.TableType
	record   uintptr // liftoff table record
	// Of a locked store, for a table that its module's code never changes:
	// the record is one of the store's fixed pieces; the entries are
	// read-only, and may not even be unmapped.
	fixed, final, sealed bool

	mu        sync.Mutex // every change by Go; taken after the store's
	base      uintptr
	reserved  uintptr
	committed uintptr
	length    atomic.Uint64
}

// NewTable makes a table that belongs to the store, with the minimal number
// of entries, all of them init (0 is null).
func (s *Store) NewTable(t decoder.TableType, init uint64) (*Table, error) {
	if !s.life.enter() {
		return nil, errStoreClosed
	}
	defer s.life.leave()
	if err := s.checkRef(t.Elem, init); err != nil {
		return nil, err
	}
	tab, err := s.makeTable(t, false)
	if err != nil {
		return nil, err
	}
	tab.fill(0, init, t.Min)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables = append(s.tables, tab)
	return tab, nil
}

// makeTable makes one, with a record that can be made final if fixed is set.
func (s *Store) makeTable(t decoder.TableType, fixed bool) (*Table, error) {
	if !t.Elem.IsRef() {
		return nil, fmt.Errorf("table of %s, which is no reference type", t.Elem)
	}
	if t.Min > decoder.MaxTableSize {
		return nil, fmt.Errorf("table of %d entries is over the limit of %d", t.Min, decoder.MaxTableSize)
	}
	most := uint64(decoder.MaxTableSize)
	if t.HasMax {
		if t.Max < t.Min {
			return nil, fmt.Errorf("table with minimum %d over maximum %d", t.Min, t.Max)
		}
		most = min(most, t.Max)
	}
	tab := &Table{store: s, declared: t, fixed: fixed}
	alloc := s.blocks.alloc
	if fixed {
		alloc = s.fixed.alloc
	}
	var err error
	tab.base, tab.reserved, err = reserveUpTo(roundUp(uintptr(t.Min)*entrySize, PageSize), roundUp(uintptr(most)*entrySize, PageSize))
	if err != nil {
		return nil, err
	}
	if tab.record, err = alloc(16); err != nil {
		unmap(tab.base, tab.reserved)
		return nil, err
	}
	storeWord(tab.record+liftoff.TableRecBase, uint64(tab.base))
	if !tab.ensure(t.Min) {
		tab.release()
		return nil, fmt.Errorf("no memory for a table of %d entries", t.Min)
	}
	tab.setLen(t.Min)
	return tab, nil
}

// ensure commits memory for n entries. The caller holds mu or is the only one
// to know the table.
func (t *Table) ensure(n uint64) bool {
	need := roundUp(uintptr(n)*entrySize, pageSize)
	if need <= t.committed {
		return true
	}
	// Twice as much as there was, so that growing by one stays cheap;
	// untouched pages cost nothing.
	want := min(max(need, 2*t.committed), t.reserved)
	if want < need || commit(t.base+t.committed, want-t.committed) != nil {
		return false
	}
	t.committed = want
	return true
}

// setLen publishes the length; the entries below it are committed and set.
func (t *Table) setLen(n uint64) {
	t.length.Store(n)
	storeWord(t.record+liftoff.TableRecLen, n)
}

// Type gives the declared type of the table.
func (t *Table) Type() decoder.TableType { return t.declared }

// Len is the current number of entries.
func (t *Table) Len() uint64 { return t.length.Load() }

// Get gives entry i: 0 for null, else what Store.FuncOf or Store.ExternValue
// understand. ok is false beyond the end. A function read this way may be
// called as long as the store lives.
func (t *Table) Get(i uint64) (ref uint64, ok bool) {
	if !t.life().enter() {
		return 0, false
	}
	defer t.life().leave()
	t.mu.Lock()
	ok = i < t.Len()
	if ok {
		ref = t.entry(i)
	}
	t.mu.Unlock()
	if !ok {
		return 0, false
	}
	// Outside the lock: the store's comes first.
	if t.declared.Elem == decoder.FuncRef {
		ref = t.store.refOut(ref)
	}
	return ref, true
}

// Set writes entry i. It is false, and nothing changed, beyond the end or for
// a reference that isn't one of the table's type and store, and in a locked
// store for a table that its module never changes.
func (t *Table) Set(i, ref uint64) bool {
	if t.store.checkRef(t.declared.Elem, ref) != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.final || i >= t.Len() {
		return false
	}
	t.setEntry(i, ref)
	return true
}

// Grow adds delta entries, all of them init, and gives the length before. ok
// is false, and nothing changed, when that would pass the declared maximum or
// the limit of 10,000,000 entries, or for a wrong reference, and where Set is.
func (t *Table) Grow(delta, init uint64) (old uint64, ok bool) {
	if t.store.checkRef(t.declared.Elem, init) != nil {
		return t.Len(), false
	}
	return t.grow(delta, init)
}

func (t *Table) grow(delta, init uint64) (old uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old = t.Len()
	most := uint64(t.reserved / entrySize)
	if t.declared.HasMax {
		most = min(most, t.declared.Max)
	}
	most = min(most, decoder.MaxTableSize)
	if t.base == 0 || t.final || delta > most-old {
		return old, false
	}
	if !t.ensure(old + delta) {
		return old, false
	}
	// Entries beyond the length were never written and are null.
	if init != 0 {
		for i := old; i < old+delta; i++ {
			t.setEntry(i, init)
		}
	}
	t.setLen(old + delta)
	return old, true
}

// fill sets n entries from start. It is false, and nothing changed, when they
// aren't all there.
func (t *Table) fill(start, ref, n uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.final || !t.holds(start, n) {
		return false
	}
	for k := range n {
		t.setEntry(start+k, ref)
	}
	return true
}

// entry and setEntry are plain accesses: Go code holds mu, and compiled code
// reads and writes aligned words, which don't tear.
func (t *Table) entry(i uint64) uint64         { return *word(t.base + uintptr(i)*entrySize) }
func (t *Table) setEntry(i uint64, ref uint64) { *word(t.base + uintptr(i)*entrySize) = ref }

// holds reports whether entries [at, at+n) all exist, exact for any two
// 64-bit numbers.
func (t *Table) holds(at, n uint64) bool {
	size := t.Len()
	return at <= size && n <= size-at
}

func (t *Table) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == 0 {
		return
	}
	at, n := t.base, t.reserved
	if t.sealed {
		at, n = at+t.committed, n-t.committed
	}
	if n > 0 {
		unmap(at, n)
	}
	if !t.fixed {
		t.store.blocks.release(t.record, 16)
	}
	t.base = 0
	t.length.Store(0)
}

func (t *Table) kind() decoder.ExternKind { return decoder.ExternTable }
