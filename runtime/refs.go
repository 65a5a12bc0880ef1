package runtime

import (
	"fmt"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

// A reference is a uint64 outside Go's type system: the address of a function
// record, or the handle of an external value; 0 is null. Every function
// reference that Go code holds was handed out by refOut, which makes the
// function's instance live as long as the store; no other number is let in.

// FuncRef gives a reference to f, 0 for nil, for a table, a global or an
// argument. It is 0 too when f belongs to another store, and when its instance
// or store is gone. The function's instance is kept until the store is closed.
func (s *Store) FuncRef(f *Func) uint64 {
	if f == nil || f.store != s || !f.life().enter() {
		return 0
	}
	defer f.life().leave()
	return s.handOut(f)
}

// FuncOf gives the function of a reference, nil for null and for numbers that
// are no references.
func (s *Store) FuncOf(ref uint64) *Func {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refs[ref]
}

// NewExternRef gives a reference to a Go value. The store holds the value
// until it is closed: compiled code may keep copies anywhere.
func (s *Store) NewExternRef(v any) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.externs = append(s.externs, v)
	return uint64(len(s.externs))
}

// ExternValue gives the Go value of a reference, nil for null and for numbers
// that are no references.
func (s *Store) ExternValue(ref uint64) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ref == 0 || ref > uint64(len(s.externs)) {
		return nil
	}
	return s.externs[ref-1]
}

// refOut prepares a function reference that compiled code made for Go's eyes.
// It may lie in the record of an import; what comes out is the function's own.
func (s *Store) refOut(ref uint64) uint64 {
	if ref == 0 {
		return 0
	}
	o := s.handles.get(loadWord(uintptr(loadWord(uintptr(ref)+liftoff.RecInst)) + liftoff.InstID))
	if o.host != nil {
		return s.handOut(o.host)
	}
	return s.handOut(o.inst.function(*half(uintptr(ref) + liftoff.RecFunc)))
}

// handOut registers f, whose instance the caller holds, as known to Go.
func (s *Store) handOut(f *Func) uint64 {
	if f.inst != nil {
		f.inst.life.keep()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ref := uint64(f.record)
	if s.refs[ref] == nil {
		s.refs[ref] = f
	}
	return ref
}

// checkRef rejects values from Go that are no reference of type t. Values of
// other types pass.
func (s *Store) checkRef(t decoder.Type, ref uint64) error {
	if t != decoder.FuncRef || ref == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refs[ref] == nil {
		return fmt.Errorf("0x%x is no function reference of this store", ref)
	}
	return nil
}

// checkRefs does so for a list of values laid out in slots.
func (s *Store) checkRefs(types []decoder.Type, values []uint64) error {
	at := 0
	for _, t := range types {
		if err := s.checkRef(t, values[at]); err != nil {
			return err
		}
		at += 1
		if t == decoder.V128 {
			at++
		}
	}
	return nil
}

// refsOut prepares the function references among values.
func (s *Store) refsOut(types []decoder.Type, values []uint64) {
	at := 0
	for _, t := range types {
		if t == decoder.FuncRef {
			values[at] = s.refOut(values[at])
		}
		at += 1
		if t == decoder.V128 {
			at++
		}
	}
}
