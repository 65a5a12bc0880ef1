package nativemodule

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wasmjit/wasmjit/codemem"
)

// lifecycle is what a live module knows of replaced code. Epochs tell when
// nobody runs it any more: each publication that replaces code begins one, a
// Reader notes the epoch in which it began to run, and code that was replaced
// in an epoch may go when every reader inside began in a later one.
type lifecycle struct {
	epoch atomic.Uint64

	// retired is guarded by the space's lock; pending is its part of the
	// publication under way.
	retired []retired
	pending int

	readersMu sync.Mutex
	readers   []*Reader

	replaced, freed, freedBytes atomic.Int64
}

type retired struct {
	placed
	epoch uint64 // readers of this epoch or a later one can't be in it
}

// retire notes code that was replaced. The space's lock is held.
func (m *Module) retire(p placed) {
	m.life.retired = append(m.life.retired, retired{placed: p})
	m.life.pending++
}

// endRetire begins the next epoch, after the slots were patched.
func (m *Module) endRetire() {
	l := &m.life
	if l.pending == 0 {
		return
	}
	epoch := l.epoch.Add(1)
	for i := range l.retired[len(l.retired)-l.pending:] {
		l.retired[len(l.retired)-l.pending+i].epoch = epoch
	}
	l.replaced.Add(int64(l.pending))
	l.pending = 0
}

// Reader is one goroutine that runs code of a live module. Whoever runs code
// of a module whose replaced code is freed does so between Enter and Exit of a
// Reader; the module counts on it.
type Reader struct {
	m     *Module
	epoch atomic.Uint64 // in which it entered, 0 outside
}

// NewReader registers a reader. Close ends it.
func (m *Module) NewReader() *Reader {
	r := &Reader{m: m}
	l := &m.life
	l.readersMu.Lock()
	defer l.readersMu.Unlock()
	l.readers = append(l.readers, r)
	return r
}

// Enter says that the goroutine is about to call code of the module. Calls
// may nest inside; Enter and Exit don't.
func (r *Reader) Enter() { r.epoch.Store(r.m.life.epoch.Load()) }

// Exit says that all its calls have returned.
func (r *Reader) Exit() { r.epoch.Store(0) }

// Close takes the reader out; it is outside.
func (r *Reader) Close() {
	l := &r.m.life
	l.readersMu.Lock()
	defer l.readersMu.Unlock()
	l.readers = slices.DeleteFunc(l.readers, func(o *Reader) bool { return o == r })
}

// oldest is the lowest epoch that a reader inside entered in.
func (l *lifecycle) oldest() uint64 {
	l.readersMu.Lock()
	defer l.readersMu.Unlock()
	low := ^uint64(0)
	for _, r := range l.readers {
		if e := r.epoch.Load(); e != 0 {
			low = min(low, e)
		}
	}
	return low
}

// Patcher changes the code of a live module. Several may work at the same
// time; each belongs to one goroutine.
type Patcher struct {
	m      *Module
	holder *codemem.Holder
	comp   compiler
	batch  batch
}

// ErrNotLive is the error of NewPatcher for a module that was not compiled
// with Options.Live, or in a mode whose published code can't change.
var ErrNotLive = errors.New("the module's code can't be replaced: it was compiled to stay as it is")

// NewPatcher gives a patcher, which holds a reference on the module until it
// is closed.
func (m *Module) NewPatcher() (*Patcher, error) {
	if !m.live.Load() {
		return nil, ErrNotLive
	}
	c, err := m.compiler()
	if err != nil {
		return nil, err
	}
	m.Retain()
	return &Patcher{m: m, holder: codemem.NewHolder(), comp: c}, nil
}

// Close releases the module.
func (p *Patcher) Close() error {
	if p.m == nil {
		return nil
	}
	m := p.m
	p.m = nil
	return m.Release()
}

// Replace compiles functions again and publishes them as one batch: calls
// that begin later run the new code. The old code stays, and Lookup finds it,
// until Free. fns are indices in the function index space; imports are passed
// over. The errors are Compile's.
func (p *Patcher) Replace(ctx context.Context, fns []uint32) error {
	p.batch.reset()
	for _, fn := range fns {
		if err := ctx.Err(); err != nil {
			return err
		}
		def := fn - p.m.imported
		if fn < p.m.imported || def >= uint32(p.m.numDefined()) {
			continue
		}
		code, err := p.comp.Compile(fn)
		if err != nil {
			return err
		}
		p.batch.append(def, code)
		if p.batch.space >= maxBatchBytes {
			//scopelint:ok a scope a batch, and only what is too large for one makes another
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return p.flush()
}

func (p *Patcher) flush() error {
	err := p.m.addAndPublish(p.holder, &p.batch)
	p.batch.reset()
	return err
}

// Free frees replaced code that no Reader can be running, and tells how many
// functions that were. Its addresses aren't used again while the module lives.
func (p *Patcher) Free() (functions int, err error) {
	m, l := p.m, &p.m.life
	m.space.Hold(p.holder)
	defer m.space.Unhold()
	if len(l.retired) == 0 {
		return 0, nil
	}
	m.space.Barrier() // no processor has fetched an old slot from here on
	oldest := l.oldest()
	var gone []placed
	l.retired = slices.DeleteFunc(l.retired, func(r retired) bool {
		if r.epoch > oldest {
			return false
		}
		gone = append(gone, r.placed)
		return true
	})
	if len(gone) == 0 {
		return 0, nil
	}
	m.updateIndex(nil, gone)
	scope, err := m.space.Open(p.holder, codemem.SiteFree, openerFree)
	if err != nil {
		return 0, err
	}
	err = m.freeCode(scope, gone)
	if e := scope.Close(); err == nil {
		err = e
	}
	for _, g := range gone {
		l.freedBytes.Add(int64(g.size))
	}
	l.freed.Add(int64(len(gone)))
	return len(gone), err
}

// LiveStats describe a live module since its compile began.
type LiveStats struct {
	Functions    int64 // defined functions
	Batches      int64 // added
	Publications int64 // of one or more batches
	Published    int64 // functions published, replacements included
	Replaced     int64 // functions whose code was replaced
	Freed        int64 // of these, freed
	FreedBytes   int64
	Memory       codemem.Counters
	Accounts     []codemem.Account
	Exposure     codemem.Exposure
	Locks        []codemem.LockStats
}

// Live reads the figures of now.
func (m *Module) Live() LiveStats {
	return LiveStats{
		Functions:    int64(m.numDefined()),
		Batches:      m.batches.Load(),
		Publications: m.publications.Load(),
		Published:    m.published.Load(),
		Replaced:     m.life.replaced.Load(),
		Freed:        m.life.freed.Load(),
		FreedBytes:   m.life.freedBytes.Load(),
		Memory:       m.space.Counters(),
		Accounts:     m.space.Accounts(),
		Exposure:     m.space.Exposure(),
		Locks:        m.lockStats(),
	}
}
