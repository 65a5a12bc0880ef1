package nativemodule

import (
	"encoding/binary"
	"time"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
)

// Publication through slots, as V8 does it: finished functions are gathered
// in batches; a batch is added to code memory, then published by patching a
// slot of the jump table per function. Every call goes to a slot, so a
// function can be published again, as other code.
//
// The four entry points below add one function, add a batch, patch the jump
// table and free code. Each takes the scope that it writes with; where V8 9.2
// opened further scopes inside, Enter asks the policy of the mode for one.

// Openers that scopes of the entry points are charged to.
const (
	openerAdd         = "nativemodule.addBatch"
	openerAddFunction = "nativemodule.addFunction"
	openerPublish     = "nativemodule.publishCode"
	openerPatch       = "nativemodule.patchSlot"
	openerFree        = "nativemodule.freeCode"
	openerFreeOne     = "nativemodule.freeFunction"
)

// minBatchUnits and batchesPerWorker are V8's: a worker publishes eight times
// or so, but no less than ten functions at a time.
const (
	minBatchUnits    = 10
	batchesPerWorker = 8
)

// maxBatchBytes ends a batch early that would need a very large piece of
// contiguous code space (v8:13436).
const maxBatchBytes = 64 << 20

// batchUnits is how many functions worker k of n gathers before it publishes:
// differently many, so that workers don't come at the same time.
func batchUnits(o *Options, functions, n, k int) int {
	if o.BatchUnits > 0 {
		return o.BatchUnits
	}
	least := max(minBatchUnits, functions/n/batchesPerWorker)
	return least + least*k/n
}

// batch holds finished functions until they are added. Its buffers are reused.
type batch struct {
	code  []byte
	sites []uint32
	units []unit
	space int // bytes of code memory it needs
}

// unit is one function of a batch.
type unit struct {
	def       uint32
	code, end int // in batch.code
	sites     int // in batch.sites; they end where the next unit's begin
}

// codeAlign is what codemem aligns functions to.
const codeAlign = 16

func (b *batch) append(def uint32, code *liftoff.Code) {
	b.units = append(b.units, unit{def, len(b.code), len(b.code) + len(code.Bytes), len(b.sites)})
	b.code = append(b.code, code.Bytes...)
	b.sites = append(b.sites, code.CallSites...)
	b.space += (len(code.Bytes) + codeAlign - 1) &^ (codeAlign - 1)
}

func (b *batch) reset() {
	b.code, b.sites, b.units, b.space = b.code[:0], b.sites[:0], b.units[:0], 0
}

func (b *batch) sitesOf(i int) []uint32 {
	end := len(b.sites)
	if i+1 < len(b.units) {
		end = b.units[i+1].sites
	}
	return b.sites[b.units[i].sites:end]
}

// addAndPublish takes a batch through the pipeline for the goroutine that h
// stands for.
func (m *Module) addAndPublish(h *codemem.Holder, b *batch) error {
	if len(b.units) == 0 {
		return nil
	}
	start := time.Now()
	scope, err := m.space.Open(h, codemem.SiteBatch, openerAdd)
	if err != nil {
		return err
	}
	placed, err := m.addBatch(scope, b)
	if e := scope.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	m.batches.Add(1)
	codemem.Trace(codemem.Span{Kind: codemem.SpanBatch, Name: openerAdd, Start: start,
		Bytes: int64(len(b.code)), Count: int64(len(b.units))})
	if m.live.Load() {
		// The space may have grown. Whoever replaces code wants it replaced
		// when the call returns, and so publishes himself.
		register(m)
		return m.publishCode(h, placed)
	}
	return m.publisher.publish(m, h, placed)
}

// addBatch puts the functions of a batch into code memory.
func (m *Module) addBatch(scope *codemem.WriteScope, b *batch) ([]placed, error) {
	chunk, err := scope.Reserve(b.space)
	if err != nil {
		return nil, err
	}
	all := make([]placed, 0, len(b.units))
	for i, u := range b.units {
		//scopelint:ok mode fine only: V8 9.2's scope, for comparison
		p, err := m.addFunction(scope, chunk, u.def, b.code[u.code:u.end], b.sitesOf(i))
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// addFunction aims the calls of one function at slots and copies it to its
// place.
func (m *Module) addFunction(scope *codemem.WriteScope, chunk *codemem.Chunk, def uint32, code []byte, sites []uint32) (p placed, err error) {
	inner, err := scope.Enter(codemem.SiteFunction, openerAddFunction)
	if err != nil {
		return p, err
	}
	addr, ok := chunk.Alloc(len(code))
	if !ok {
		panic("nativemodule: a batch is larger than it said")
	}
	p = placed{entry: uint32(addr - m.base), size: uint32(len(code)), def: def}
	err = m.aimCalls(p, code, sites)
	if err == nil {
		inner.Write(addr, code)
	}
	if e := scope.Exit(inner); err == nil {
		err = e
	}
	return p, err
}

// aimCalls replaces the callee's index in each call field by the distance
// from the field's end to the callee's slot.
func (m *Module) aimCalls(p placed, code []byte, sites []uint32) error {
	for _, site := range sites {
		target, err := m.calleeIn(p.def, code, site)
		if err != nil {
			return err
		}
		field, reason := m.callTo(int64(m.space.Slot(int(target))) - int64(m.base) - int64(p.entry) - int64(site))
		if reason != "" {
			return &LinkError{Caller: m.imported + p.def, Callee: m.imported + target, Offset: site, Reason: reason}
		}
		binary.LittleEndian.PutUint32(code[site:], field)
	}
	return nil
}

// publishCode makes added code what the slots jump to. The order is what
// readers rely on: the code is in place and executable, then it is known to
// Lookup and to the code table, then the slot is patched. The space's lock is
// held throughout, as V8's is.
func (m *Module) publishCode(h *codemem.Holder, all []placed) (err error) {
	start := time.Now()
	m.space.Hold(h)
	defer m.space.Unhold()
	defer m.startPublishing()()
	if m.live.Load() {
		m.updateIndex(all, nil)
	}
	scope, err := m.space.Open(h, codemem.SitePublish, openerPublish)
	if err != nil {
		return err
	}
	bytes, err := m.patchJumpTable(scope, all)
	scope.MarkPublished(bytes)
	if e := scope.Close(); err == nil {
		err = e
	}
	m.publications.Add(1)
	codemem.Trace(codemem.Span{Kind: codemem.SpanBatch, Name: openerPublish, Start: start,
		Bytes: int64(bytes), Count: int64(len(all))})
	return err
}

// patchJumpTable enters functions in the code table and patches their slots.
// What the table had before is retired.
func (m *Module) patchJumpTable(scope *codemem.WriteScope, all []placed) (bytes int, err error) {
	for _, p := range all {
		old := m.table[p.def].Swap(p.packed())
		//scopelint:ok mode fine only: V8 9.2's scope, and the storm
		if err := m.patchSlot(scope, p); err != nil {
			return bytes, err
		}
		if old != 0 {
			m.retire(unpack(old, p.def))
		}
		bytes += int(p.size)
	}
	m.published.Add(int64(len(all)))
	m.endRetire()
	return bytes, nil
}

func (m *Module) patchSlot(scope *codemem.WriteScope, p placed) error {
	inner, err := scope.Enter(codemem.SitePatch, openerPatch)
	if err != nil {
		return err
	}
	err = inner.PatchSlot(int(p.def), m.base+uintptr(p.entry))
	if e := scope.Exit(inner); err == nil {
		err = e
	}
	return err
}

// freeCode frees replaced code that nobody runs.
func (m *Module) freeCode(scope *codemem.WriteScope, all []placed) error {
	for _, p := range all {
		//scopelint:ok mode fine only: V8 9.2's scope, for comparison
		if err := m.freeFunction(scope, p); err != nil {
			return err
		}
	}
	return nil
}

func (m *Module) freeFunction(scope *codemem.WriteScope, p placed) error {
	inner, err := scope.Enter(codemem.SiteFreeOne, openerFreeOne)
	if err != nil {
		return err
	}
	err = inner.FreeCode(m.base+uintptr(p.entry), int(p.size))
	if e := scope.Exit(inner); err == nil {
		err = e
	}
	return err
}
