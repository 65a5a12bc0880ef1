package runtime

import (
	"fmt"

	"github.com/wasmjit/wasmjit/decoder"
)

// Global is a global variable. Its cell lives off the Go heap, where compiled
// code reads and writes it; an access from Go is atomic and unordered.
type Global struct {
	store    *Store
	owner    *Instance // nil when made by NewGlobal
	declared decoder.GlobalType
	cell     uintptr
}

// NewGlobal makes a global that belongs to the store. bits is the value: an
// integer (i32 in the low half), the bits of a float, or a reference. It
// panics in a closed store and for a reference that isn't one.
func (s *Store) NewGlobal(t decoder.GlobalType, bits uint64) *Global {
	if !s.life.enter() {
		panic("runtime: NewGlobal: " + errStoreClosed.Error())
	}
	defer s.life.leave()
	if err := s.checkRef(t.Type, bits); err != nil {
		panic("runtime: NewGlobal: " + err.Error())
	}
	g := &Global{store: s, declared: t}
	cell, err := s.blocks.alloc(16)
	if err != nil {
		panic("runtime: NewGlobal: " + err.Error())
	}
	g.cell = cell
	storeWord(cell, narrow(t.Type, bits))
	return g
}

// Type gives the type of the global.
func (g *Global) Type() decoder.GlobalType { return g.declared }

// Get gives the value as NewGlobal takes it, and 0 once the global's instance
// or store is gone.
func (g *Global) Get() uint64 {
	if !g.life().enter() {
		return 0
	}
	defer g.life().leave()
	v := narrow(g.declared.Type, loadWord(g.cell))
	if g.declared.Type == decoder.FuncRef {
		v = g.store.refOut(v)
	}
	return v
}

// Set writes the value. It fails for an immutable global, a reference that
// isn't one of the global's type and store, and after the end of the global's
// instance or store.
func (g *Global) Set(bits uint64) error {
	if !g.declared.Mutable {
		return fmt.Errorf("global is immutable")
	}
	if err := g.store.checkRef(g.declared.Type, bits); err != nil {
		return err
	}
	if !g.life().enter() {
		return errClosed
	}
	defer g.life().leave()
	storeWord(g.cell, narrow(g.declared.Type, bits))
	return nil
}

func (g *Global) kind() decoder.ExternKind { return decoder.ExternGlobal }

// narrow clears what doesn't belong to a value of type t: the upper half of
// 32-bit values, which no register may carry into compiled code.
func narrow(t decoder.Type, bits uint64) uint64 {
	if t == decoder.I32 || t == decoder.F32 {
		return uint64(uint32(bits))
	}
	return bits
}
