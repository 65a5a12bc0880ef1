package runtime

import (
	"errors"
	"fmt"
	"sync"

	"github.com/wasmjit/wasmjit/decoder"
)

// In a locked store (Config.Locked) what compiled code trusts and never
// changes is read-only before any of it runs:
//
//   - of an instance: the base of memory 0, the addresses of the records of
//     memories and tables, immutable globals, the addresses of imported ones,
//     signature numbers, and the function records that references point to
//     and imports are called through;
//   - of a table that no code of its module changes: its entries, once the
//     active segments are written, its base and its length;
//   - of a host function: its record and the handle it is known by.
//
// So a call_indirect through such a table reads nothing that can be forged.
// What a program changes stays writable: mutable globals, memories, other
// tables, and the context block of each native stack, where compiled code
// saves its registers. An entry of another table may thus be made to point to
// a forged record; the code that it could name is still only published code.

// fixedPages hands out memory that is filled and then made final.
type fixedPages struct {
	mu        sync.Mutex
	all       []fixedRange
	next, end uintptr // the unused part of the newest range, if it is open
}

type fixedRange struct {
	lo, size uintptr
	final    bool // read-only
	sealed   bool // and can't even be unmapped
}

// fixedSlab is how much is mapped at a time for small pieces.
const fixedSlab = 16 << 10

// alloc gives n zeroed bytes, aligned to 16, to be filled before makeFinal.
func (f *fixedPages) alloc(n uintptr) (uintptr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n = roundUp(n, 16)
	if n > f.end-f.next {
		size := roundUp(max(n, fixedSlab), pageSize)
		a, err := mapRW(size)
		if err != nil {
			return 0, err
		}
		f.all = append(f.all, fixedRange{lo: a, size: size})
		f.next, f.end = a, a+size
	}
	a := f.next
	f.next += n
	return a, nil
}

// makeFinal makes all that was handed out read-only.
func (f *fixedPages) makeFinal() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next, f.end = 0, 0
	for i := range f.all {
		r := &f.all[i]
		if r.final {
			continue
		}
		sealed, err := makeFinal(r.lo, r.size)
		if err != nil {
			return err
		}
		r.final, r.sealed = true, sealed
	}
	return nil
}

// close unmaps what can be unmapped; the rest stays until the process ends.
func (f *fixedPages) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.all {
		if !r.sealed {
			unmap(r.lo, r.size)
		}
	}
	f.all, f.next, f.end = nil, 0, 0
}

var errNotSplit = errors.New("module is not compiled for a locked store; set liftoff.Options.SplitInstance")

// mapBlock maps the instance block of a locked store.
func (i *Instance) mapBlock() (uintptr, error) {
	l := i.module.Layout()
	if l.Fixed == 0 {
		return 0, errNotSplit
	}
	return mapRW(roundUp(uintptr(l.Size), pageSize))
}

// lock makes the constant part of the block final, and the host functions
// that were made so far.
func (i *Instance) lock() error {
	sealed, err := makeFinal(i.block, uintptr(i.module.Layout().Fixed))
	i.sealed = sealed
	if err == nil {
		err = i.store.fixed.makeFinal()
	}
	if err != nil {
		return fmt.Errorf("locked store: %w", err)
	}
	return nil
}

// lockTables makes the tables final that the module defines and never changes.
func (i *Instance) lockTables() error {
	for n, t := range i.tables {
		if t.owner != i || !t.fixed {
			continue
		}
		if err := t.makeFinal(); err != nil {
			return fmt.Errorf("locked store: table %d: %w", n, err)
		}
	}
	return nil
}

func (t *Table) makeFinal() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.committed > 0 {
		sealed, err := makeFinal(t.base, t.committed)
		if err != nil {
			return err
		}
		t.sealed = sealed
	}
	t.final = true
	return nil
}

// changesTable reports whether the module writes table n, by its code or its
// active segments.
func (i *Instance) changesTable(n uint32) bool {
	if i.module.WritesTable(n) {
		return true
	}
	for _, e := range i.module.Decoded().Elems {
		if e.Mode == decoder.SegmentActive && e.Table == n {
			return true
		}
	}
	return false
}

// unmapBlock undoes mapBlock, as far as that is possible.
func (i *Instance) unmapBlock() {
	at, n := i.block, roundUp(uintptr(i.module.Layout().Size), pageSize)
	if i.sealed {
		fixed := uintptr(i.module.Layout().Fixed)
		at, n = at+fixed, n-fixed
	}
	if n > 0 {
		unmap(at, n)
	}
}
