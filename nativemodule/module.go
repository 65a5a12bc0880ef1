package nativemodule

import (
	"sync"
	"sync/atomic"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

// Module is the published code of one module. Its methods may be called by
// many goroutines at once.
//
// It is counted: Compile gives it with one reference, the owner's, which Close
// drops. Whoever may still run the code when the owner is gone (an instance, a
// foreign table entry, a frame) holds a reference of its own. With the last
// one the code memory goes; the other contents stay readable.
type Module struct {
	decoded  *decoder.Module
	layout   *liftoff.Layout
	options  Options
	compiler newCompiler
	space    *codemem.Space
	stats    Stats
	imported uint32
	written  uint64 // tables that the code may change

	// Per defined function of linked code: where it starts, from base, the
	// start of the arena, and its size in bytes.
	base    uintptr
	entries []uint32
	sizes   []uint32

	// The same for code that is published through slots, packed in one word;
	// nil for linked code. The slots are the space's.
	table                            []atomic.Uint64
	publisher                        publisher
	batches, publications, published atomic.Int64

	// Of a live module: set when its first compile is finished.
	live atomic.Bool
	code atomic.Pointer[codeIndex]
	life lifecycle

	registered []codemem.Range // in the index; guarded by indexMu

	refs   atomic.Int64
	closed atomic.Bool

	// byEntry lists the defined functions by address. Only traps need it, so
	// the first lookup makes it.
	byEntryOnce sync.Once
	byEntry     []uint32

	positions positions
}

// Decoded gives the module that was compiled.
func (m *Module) Decoded() *decoder.Module { return m.decoded }

// Layout gives the layout of its instance blocks.
func (m *Module) Layout() *liftoff.Layout { return m.layout }

// Options gives the options it was compiled with, Workers resolved.
func (m *Module) Options() Options { return m.options }

// Stats gives what the compile cost.
func (m *Module) Stats() *Stats { return &m.stats }

// Executable reports whether the code can run in this process: whether it was
// compiled for this machine.
func (m *Module) Executable() bool { return executable(m.options.Liftoff.Arch) }

// Entry gives the address to call function fn at, an index in the function
// index space, or 0 for an import or an index out of range. It doesn't change
// when the function's code is replaced: it is its slot, if it has one.
func (m *Module) Entry(fn uint32) uintptr {
	def := fn - m.imported
	if def >= uint32(m.numDefined()) {
		return 0
	}
	if m.table != nil {
		return m.space.Slot(int(def))
	}
	return m.base + uintptr(m.entries[def])
}

// Address gives the address of the present code of function fn, 0 for an
// import. Without slots it is the Entry.
func (m *Module) Address(fn uint32) uintptr {
	def := fn - m.imported
	if def >= uint32(m.numDefined()) {
		return 0
	}
	return m.base + uintptr(m.place(def).entry)
}

// Size gives the size of that code in bytes, 0 for an import.
func (m *Module) Size(fn uint32) int {
	def := fn - m.imported
	if def >= uint32(m.numDefined()) {
		return 0
	}
	return int(m.place(def).size)
}

// Code gives a copy of the code of function fn as it was placed, its calls
// linked, or nil for an import. The module must be open.
func (m *Module) Code(fn uint32) []byte {
	if m.table != nil { // so that it isn't freed meanwhile
		m.space.Hold(nil)
		defer m.space.Unhold()
	}
	if m.Size(fn) == 0 {
		return nil
	}
	p := m.place(fn - m.imported)
	return m.space.Read(m.base+uintptr(p.entry), int(p.size))
}

// publish seals the code and makes it known to Lookup, in this order.
func (m *Module) publish() error {
	if m.table != nil {
		m.buildIndex()
		if err := m.publisher.failure(); err != nil {
			return err
		}
	}
	publish := m.space.Seal
	if m.options.Live {
		publish = m.space.Publish
	}
	if err := publish(); err != nil {
		return err
	}
	m.live.Store(m.options.Live)
	if m.Executable() {
		register(m)
	}
	return nil
}

// measure fills the parts of the statistics that the result shows.
func (m *Module) measure() {
	s := &m.stats
	var mapped int64
	ranges := m.space.Ranges()
	for _, r := range ranges {
		mapped += int64(r.Hi - r.Lo)
	}
	for def := range m.numDefined() {
		s.CodeBytes += int64(m.place(uint32(def)).size)
	}
	s.PaddingBytes = mapped - s.CodeBytes
	s.Spans = len(ranges)
	s.Chunks = m.space.Chunks()
	s.Accounts = m.space.Accounts()
	s.Batches, s.Publications = m.batches.Load(), m.publications.Load()
	s.Exposure = m.space.Exposure()
	s.Locks = m.Live().Locks
	s.Ledger = m.makeLedger()
}

// Retain adds a reference. The caller must hold one, or know of one.
func (m *Module) Retain() {
	for {
		n := m.refs.Load()
		if n <= 0 {
			panic("nativemodule: module retained after its code was freed")
		}
		if m.refs.CompareAndSwap(n, n+1) {
			return
		}
	}
}

// Release drops a reference; with the last one the code memory is given back.
// The error, which only that one can have, is a *codemem.SystemError.
func (m *Module) Release() error {
	switch n := m.refs.Add(-1); {
	case n > 0:
		return nil
	case n < 0:
		panic("nativemodule: module released more often than retained")
	}
	unregister(m)
	return m.space.Free()
}

// Close drops the owner's reference. Later calls do nothing.
func (m *Module) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	return m.Release()
}
