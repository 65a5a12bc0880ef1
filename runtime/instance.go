package runtime

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// Instance is an instantiated module (spec 4.2.5). Its methods may be called
// from any goroutine, and calls may run concurrently; compiled code then
// shares memory without any synchronisation.
type Instance struct {
	store  *Store
	module *nativemodule.Module
	life   life

	handle uint64
	block  uintptr // liftoff.Layout lays it out
	sealed bool    // its constant part can't even be unmapped

	// Index spaces, imports first; of the functions only the imports.
	imported []*Func
	tables   []*Table
	memories []*Memory
	globals  []*Global
	sigs     []*signature // per type

	droppedElems, droppedDatas bitset

	mu      sync.Mutex
	funcs   map[uint32]*Func // defined functions that were asked for
	exports map[string]int   // built at the first look-up
}

// Instantiate links a module with imports, makes its memories, tables and
// globals, writes its active segments and runs its start function under ctx
// (spec 4.5.4). The module must have been compiled for the store's Bounds; it
// is retained as long as the instance needs it.
//
// The error is a *LinkError for an import, a *Trap for a segment that doesn't
// fit or a trap in the start function, what a host function returned, or an
// error that wraps ctx.Err(). Segments and code that ran before the failure
// keep their effect on what was imported, as the specification demands.
func (s *Store) Instantiate(ctx context.Context, m *nativemodule.Module, imports Imports) (*Instance, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx)
	}
	d := m.Decoded()
	if s.bounds == liftoff.BoundsExplicit && m.Options().Liftoff.Bounds != liftoff.BoundsExplicit && len(d.Memories) > 0 {
		return nil, fmt.Errorf("module is compiled for guarded memories, and the store checks bounds explicitly")
	}
	i := &Instance{
		store:        s,
		module:       m,
		droppedElems: make(bitset, (len(d.Elems)+63)/64),
		droppedDatas: make(bitset, (len(d.Datas)+63)/64),
	}
	i.life.end = i.end
	i.life.enter()
	defer i.life.leave()

	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errStoreClosed
	}
	s.instances[i] = struct{}{}
	m.Retain()
	s.mu.Unlock()

	err := i.link(imports)
	if err == nil {
		err = i.build()
	}
	if err == nil && s.locked {
		err = i.lock()
	}
	if err == nil {
		err = i.initialise(ctx)
	}
	if err != nil {
		i.life.close()
		return nil, err
	}
	return i, nil
}

// build allocates what the module defines and fills the instance block.
func (i *Instance) build() error {
	s, d, l := i.store, i.module.Decoded(), i.module.Layout()
	var block uintptr
	var err error
	if s.locked {
		block, err = i.mapBlock()
	} else {
		block, err = s.blocks.alloc(uintptr(l.Size))
	}
	if err != nil {
		return fmt.Errorf("instance block: %w", err)
	}
	i.block = block
	i.handle = s.handles.add(&object{inst: i})
	storeWord(block+liftoff.InstID, i.handle)

	for n := len(i.memories); n < len(d.Memories); n++ {
		m, err := s.makeMemory(d.Memories[n])
		if err != nil {
			return fmt.Errorf("memory %d: %w", n, err)
		}
		m.owner = i
		i.memories = append(i.memories, m)
	}
	for n, m := range i.memories {
		storeWord(block+uintptr(l.Memories)+8*uintptr(n), uint64(m.record))
	}
	if len(i.memories) > 0 {
		storeWord(block+liftoff.InstMemBase, uint64(i.memories[0].base))
	}
	for n := len(i.tables); n < len(d.Tables); n++ {
		t, err := s.makeTable(d.Tables[n], s.locked && !i.module.WritesTable(uint32(n)))
		if err != nil {
			return fmt.Errorf("table %d: %w", n, err)
		}
		t.owner = i
		i.tables = append(i.tables, t)
	}
	for n, t := range i.tables {
		storeWord(block+uintptr(l.Tables)+8*uintptr(n), uint64(t.record))
	}

	i.sigs = make([]*signature, len(d.Types))
	for n := range d.Types {
		i.sigs[n] = s.signature(&d.Types[n])
		*half(block + uintptr(l.SigIDs) + 4*uintptr(n)) = i.sigs[n].id
	}
	i.fillRecords()
	i.fillGlobals()
	return nil
}

// fillRecords writes the function records: imports, then the defined
// functions that can be referenced, in the order of Layout.Records.
func (i *Instance) fillRecords() {
	d, l := i.module.Decoded(), i.module.Layout()
	at := i.block + uintptr(l.Records)
	for _, f := range i.imported {
		fillRecord(at, f.entry, f.block, f.sig.id, f.index)
		at += liftoff.RecSize
	}
	for _, fn := range d.RefFuncs {
		if fn >= d.NumImportedFuncs {
			fillRecord(at, i.module.Entry(fn), i.block, i.sigs[d.Funcs[fn]].id, fn)
			at += liftoff.RecSize
		}
	}
}

func fillRecord(at, entry, block uintptr, sig, fn uint32) {
	storeWord(at+liftoff.RecEntry, uint64(entry))
	storeWord(at+liftoff.RecInst, uint64(block))
	*half(at + liftoff.RecSig) = sig
	*half(at + liftoff.RecFunc) = fn
}

func (i *Instance) fillGlobals() {
	d, l := i.module.Decoded(), i.module.Layout()
	for n := range d.Globals {
		at := i.block + uintptr(l.Globals[n])
		g := &d.Globals[n]
		if g.Init == nil {
			storeWord(at, uint64(i.globals[n].cell))
			continue
		}
		storeWord(at, narrow(g.Type, i.eval(g.Init)))
		i.globals = append(i.globals, &Global{store: i.store, owner: i, declared: g.GlobalType, cell: at})
	}
}

// function gives function fn; the same *Func each time.
func (i *Instance) function(fn uint32) *Func {
	if fn < uint32(len(i.imported)) {
		return i.imported[fn]
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	f := i.funcs[fn]
	if f == nil {
		f = &Func{
			store: i.store, inst: i, index: fn, block: i.block,
			sig:   i.sigs[i.module.Decoded().Funcs[fn]],
			entry: i.module.Entry(fn),
		}
		if _, ok := slices.BinarySearch(i.module.Decoded().RefFuncs, fn); ok {
			f.record = uintptr(i.funcRef(fn))
		}
		if i.funcs == nil {
			i.funcs = make(map[uint32]*Func)
		}
		i.funcs[fn] = f
	}
	return f
}

// funcRef gives the address of the record of fn, an import or one of the
// module's RefFuncs.
func (i *Instance) funcRef(fn uint32) uint64 {
	return uint64(i.block) + uint64(i.module.Layout().Record(fn))
}

// Module is what the instance was made from.
func (i *Instance) Module() *nativemodule.Module { return i.module }

// Export gives the export of that name, nil if there is none or the instance
// is closed. Asking again gives the same value.
func (i *Instance) Export(name string) Extern {
	if i.life.isClosed() {
		return nil
	}
	d := i.module.Decoded()
	i.mu.Lock()
	if i.exports == nil {
		i.exports = make(map[string]int, len(d.Exports))
		for n := range d.Exports {
			i.exports[d.Exports[n].Name] = n
		}
	}
	n, ok := i.exports[name]
	i.mu.Unlock()
	if !ok {
		return nil
	}
	x := d.Exports[n]
	switch x.Kind {
	case decoder.ExternFunc:
		return i.function(x.Index)
	case decoder.ExternTable:
		return i.tables[x.Index]
	case decoder.ExternMemory:
		return i.memories[x.Index]
	default:
		return i.globals[x.Index]
	}
}

// Func gives the exported function of that name, or nil.
func (i *Instance) Func(name string) *Func { f, _ := i.Export(name).(*Func); return f }

// Memory gives the exported memory of that name, or nil.
func (i *Instance) Memory(name string) *Memory { m, _ := i.Export(name).(*Memory); return m }

// Table gives the exported table of that name, or nil.
func (i *Instance) Table(name string) *Table { t, _ := i.Export(name).(*Table); return t }

// Global gives the exported global of that name, or nil.
func (i *Instance) Global(name string) *Global { g, _ := i.Export(name).(*Global); return g }

// Call calls the exported function of that name; see Func.Call.
func (i *Instance) Call(ctx context.Context, name string, args ...uint64) ([]uint64, error) {
	if i.life.isClosed() {
		return nil, errClosed
	}
	f := i.Func(name)
	if f == nil {
		return nil, fmt.Errorf("no exported function %q", name)
	}
	return f.Call(ctx, args...)
}

// Close gives up the instance: its exports can't be looked up any more, and
// its memory, tables, globals and hold on the module are freed, at once or
// when the last running call returns.
//
// They are kept until the store's Close, and its functions stay callable, if
// something may still reach them: when another instance imported an export of
// this one; when a reference to one of its functions was given to Go code (by
// Store.FuncRef, Table.Get, Global.Get, a result or an argument of a host
// function); or when it imports a table of functions, a mutable global of
// type funcref, or another instance's function that takes a funcref, through
// which compiled code can hand out references unseen. Store.Kept counts such
// instances.
//
// Closing twice is harmless; the error is always nil.
func (i *Instance) Close() error {
	i.life.close()
	return nil
}

// end is called by life.
func (i *Instance) end(whole bool) {
	if whole {
		i.store.memberEnded()
		return
	}
	i.store.mu.Lock()
	defer i.store.mu.Unlock()
	if !i.store.ended {
		i.freeParts()
		delete(i.store.instances, i)
	}
}

// freeParts frees what the instance owns, also after a failed build. The
// caller holds the store's mutex.
func (i *Instance) freeParts() {
	for _, m := range i.memories {
		if m.owner == i {
			m.release()
		}
	}
	for _, t := range i.tables {
		if t.owner == i {
			t.release()
		}
	}
	if i.block != 0 {
		i.store.handles.remove(i.handle)
		if i.store.locked {
			i.unmapBlock()
		} else {
			i.store.blocks.release(i.block, uintptr(i.module.Layout().Size))
		}
	}
	i.module.Release()
}

// bitset is a set of small numbers that goroutines may add to concurrently.
type bitset []uint64

func (b bitset) add(n uint32)      { atomic.OrUint64(&b[n/64], 1<<(n%64)) }
func (b bitset) has(n uint32) bool { return atomic.LoadUint64(&b[n/64])&(1<<(n%64)) != 0 }
