package codemem

import (
	"errors"
	"math/bits"
	"sync/atomic"
)

const (
	// hugeFrom is the expected size from which a space asks for huge pages:
	// first touch of 4 KiB pages costs 10-27 % of baseline compile time, 2 %
	// even of half a megabyte of code, which is what the least such guess comes
	// to. Less would leave most of a huge page unused.
	hugeFrom = 1 << 20
	// Chunks are between these sizes, and small enough that the tails which
	// the workers leave unused stay near a hundredth of the expected size.
	minChunk, maxChunk = 16 << 10, 2 << 20
	// A need over this, or over a sixteenth of the ordinary chunk size if
	// that is more, gets a chunk of its own.
	minOwn = 4 << 10
	// chunkAlign keeps two workers off one cache line.
	chunkAlign = 64
)

// SpaceOptions describe the code that a space is for.
type SpaceOptions struct {
	Mode Mode
	// Expect is an upper guess of the code size in bytes. Too low costs a few
	// more system calls, too high only address space while compiling.
	Expect int64
	// Max, if positive, limits the memory in bytes, rounded up to pages, that
	// the space may map; beyond it NewChunk gives a *FullError.
	Max int64
	// Workers is how many goroutines will hold chunks at a time; 0 means 1.
	Workers int
	// Owner names who seals the space, for the account of switches.
	Owner string
	// NoExec makes Seal stop at read-only: code for another machine. The mode
	// doesn't matter then.
	NoExec bool
	// Patched makes code that is added in batches, by scopes of Open, and
	// published through a jump table of Slots slots: it may change after the
	// first publication if the mode allows. Else chunks are filled and sealed.
	Patched bool
	Slots   int
}

// States of a space. ORDER: owner and Open compare them.
const (
	stateFilling uint32 = iota // code is added; nobody runs it yet
	stateLive                  // published; code may be added and slots patched
	stateSealed                // published: no byte changes any more
	stateFreed
)

// Space is the code memory of one module: one contiguous span of the arena,
// and more only if the guess was too low. NewChunk and the scopes may be used
// by many goroutines at once; Publish, Seal and Free by one, when no scope is
// open.
type Space struct {
	arena  *Arena
	opts   SpaceOptions
	mode   Mode
	policy *policy
	chunk  uintptr // ordinary chunk size
	huge   bool
	key    key // of a policy that is keyed

	state   atomic.Uint32
	open    atomic.Int32 // open write scopes
	chunks  atomic.Int64
	cur     atomic.Pointer[span]
	openers atomic.Pointer[opener]
	calls   ledger
	exposed exposure

	// mu is taken for growth, Publish, Seal and Free, never per function by
	// NewChunk; by the scopes of Open it is V8's allocation mutex.
	mu      Mutex
	spans   []*span
	writers int // open scopes that count as writers to the policy

	// The jump table. It lies in the first span and is written at tableDelta.
	slots      int
	table      Range
	tableDelta uintptr
}

// span is contiguous memory of a space. [lo, next) is handed out.
type span struct {
	lo        uintptr
	hi, next  atomic.Uintptr
	committed uintptr // accessible up to here, under a policy that commits

	// delta is what to add to an address to write there: 0, or the distance
	// to the view.
	delta uintptr
	view  view

	starts []uint64 // where slots may aim, a bit per 16 bytes
	// pages counts the functions on each page, where pages can be given up
	// one by one.
	pages map[uintptr]int
}

// NewSpace maps memory for o.Expect bytes of code. The error is a *ModeError
// if the mode can't be had, or doesn't go with what the options want, a
// *FullError if the arena has no room at all, or a *SystemError.
func (a *Arena) NewSpace(o SpaceOptions) (*Space, error) {
	mode, err := o.resolve()
	if err != nil {
		return nil, err
	}
	o.Workers = max(o.Workers, 1)
	o.Expect = max(o.Expect, 1)
	if o.Max > 0 {
		o.Expect = min(o.Expect, o.Max)
	}
	s := &Space{
		arena:  a,
		opts:   o,
		mode:   mode,
		policy: &policies[mode],
		chunk:  chunkSize(o.Expect, o.Workers),
	}
	if o.NoExec {
		s.policy = &foreign
	}
	if s.policy.keyed {
		if s.key, err = newKey(); err != nil {
			return nil, err
		}
	}
	s.huge = s.policy.huge && o.Expect >= hugeFrom
	if o.Patched {
		o.Expect += int64(alignUp(uintptr(o.Slots)*SlotSize, pageSize))
	}
	s.exposed.open = !s.policy.commit && !s.policy.keyed
	s.lock(nil)
	err = s.addSpan(uintptr(min(o.Expect, maxReserve)), 1)
	s.mu.Unlock()
	if err == nil && o.Patched {
		if err = s.initSlots(o.Slots); err != nil {
			_ = s.Free() // the first error says more
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// resolve gives the mode of the space.
func (o *SpaceOptions) resolve() (Mode, error) {
	if int(o.Mode) >= len(policies) {
		return o.Mode, &ModeError{Name: o.Mode.String()}
	}
	if o.NoExec {
		return Seal, nil
	}
	if !o.Patched && !o.Mode.Linkable() {
		return o.Mode, &ModeError{Name: o.Mode.String(), Reason: "it is for code that is published through slots"}
	}
	return Resolve(o.Mode, o.Patched)
}

// Mode is the mode of the space, never Auto.
func (s *Space) Mode() Mode { return s.mode }

// Exposure tells for how long code was writable, up to now.
func (s *Space) Exposure() Exposure { return s.exposed.read() }

// handedOut moves the levels of the exposure by n bytes that were handed out.
func (s *Space) handedOut(n int64) {
	s.exposed.change(func(e *exposure) {
		e.unpublished += n
		if s.policy.filled&protX != 0 {
			e.executable += n
		}
	})
}

func chunkSize(expect int64, workers int) uintptr {
	per := uint64(expect) / (32 * uint64(workers))
	size := uintptr(1) << max(bits.Len64(per)-1, 0)
	return min(max(size, minChunk), maxChunk)
}

// unit is the granularity of the spans.
func (s *Space) unit() uintptr {
	if s.huge {
		return hugePage
	}
	return pageSize
}

// addSpan maps a new current span of want bytes, or of fewer where the arena
// hasn't as many, but at least need. s.mu is held.
func (s *Space) addSpan(want, need uintptr) error {
	need = alignUp(need, pageSize)
	size := s.limit(alignUp(want, s.unit()))
	for ; size >= need; size = smaller(size, need) {
		align := s.unit()
		if size < align {
			align = pageSize
		}
		if lo, ok := s.arena.take(size, align); ok {
			return s.mapSpan(lo, size)
		}
	}
	return s.full()
}

// limit cuts size to what Max leaves; s.mu is held.
func (s *Space) limit(size uintptr) uintptr {
	if s.opts.Max <= 0 {
		return size
	}
	most, mapped := alignUp(uintptr(min(s.opts.Max, maxReserve)), pageSize), s.mapped()
	return min(size, most-min(most, mapped))
}

// smaller is the next size to try when size isn't to be had: half of it, need
// as the last, then 0.
func smaller(size, need uintptr) uintptr {
	if size <= need {
		return 0
	}
	return max(alignUp(size/2, pageSize), need)
}

func (s *Space) mapSpan(lo, size uintptr) error {
	sp := &span{lo: lo, committed: lo}
	sp.next.Store(lo)
	sp.hi.Store(lo + size)
	if s.policy.alias && s.state.Load() == stateFilling {
		v, err := newView(&s.calls, size, s.huge)
		if err != nil {
			s.arena.give(lo, lo+size)
			return err
		}
		sp.view, sp.delta = v, v.addr-lo
	} else if err := s.mapFilled(lo, size); err != nil {
		s.arena.give(lo, lo+size)
		return err
	}
	s.spans = append(s.spans, sp)
	s.cur.Store(sp)
	return nil
}

// mapFilled maps what a span in the making will be filled in. Batches of a
// live space are mapped one by one.
func (s *Space) mapFilled(lo, size uintptr) error {
	switch {
	case s.policy.commit:
		return adviseHuge(&s.calls, lo, size, false)
	case s.state.Load() == stateLive:
		return nil
	}
	if err := s.mapPages(lo, size); err != nil {
		return err
	}
	if s.huge {
		return adviseHuge(&s.calls, lo, size, true)
	}
	return nil
}

// mapPages gives a range fresh pages as the policy fills them.
func (s *Space) mapPages(lo, size uintptr) error {
	if s.policy.keyed {
		return tagPages(&s.calls, lo, size, s.key)
	}
	return remap(&s.calls, lo, size, s.policy.filled)
}

// grow makes room for need bytes after sp, the current span as the caller saw
// it, has run out. Room next to the span comes first, so that one mprotect
// can seal both; sizes double, so that there are few spans in any case.
func (s *Space) grow(sp *span, need uintptr) error {
	s.lock(nil)
	defer s.mu.Unlock()
	if s.cur.Load() != sp || sp.hi.Load()-sp.next.Load() >= need {
		return nil // another worker was faster
	}
	return s.growLocked(sp, need)
}

func (s *Space) growLocked(sp *span, need uintptr) error {
	want, least := max(need, s.mapped()), alignUp(need, pageSize)
	hi := sp.hi.Load()
	for size := s.limit(alignUp(want, s.unit())); size >= least; size = smaller(size, least) {
		if sp.view.open || !s.arena.takeAt(hi, size) { // a file doesn't grow
			continue
		}
		if err := s.mapFilled(hi, size); err != nil {
			s.arena.give(hi, hi+size)
			return err
		}
		sp.hi.Store(hi + size)
		return nil
	}
	return s.addSpan(want, need)
}

// mapped is the size of all spans; s.mu is held.
func (s *Space) mapped() uintptr {
	var n uintptr
	for _, sp := range s.spans {
		n += sp.hi.Load() - sp.lo
	}
	return n
}

// Used is how many bytes have been handed out in chunks.
func (s *Space) Used() int64 {
	s.lock(nil)
	defer s.mu.Unlock()
	return int64(s.used())
}

func (s *Space) used() uintptr {
	var n uintptr
	for _, sp := range s.spans {
		n += sp.next.Load() - sp.lo
	}
	return n
}

// full describes why there is no room; s.mu is held.
func (s *Space) full() error {
	limit := int64(s.used() + s.arena.largest())
	if s.opts.Max > 0 {
		limit = min(limit, s.opts.Max)
	}
	return &FullError{Limit: limit, Size: int64(s.arena.hi - s.arena.lo)}
}

// NewChunk hands out a piece of the space with room for need bytes and opens
// the scope to write it, on the account of opener. A large need gets a chunk
// of just this size, so that the rest of the caller's present chunk isn't
// wasted on its account.
//
// The error is a *FullError when arena or limit are exhausted.
func (s *Space) NewChunk(need int, opener string) (*Chunk, *WriteScope, error) {
	if need < 0 || need > maxReserve {
		return nil, nil, s.fullNow()
	}
	if st := s.state.Load(); st != stateFilling || s.opts.Patched {
		if s.opts.Patched {
			panic("codemem: chunk wanted of a space for batches")
		}
		panic("codemem: chunk wanted of a space that is " + stateName(st))
	}
	least := alignUp(uintptr(max(need, 1)), chunkAlign)
	size := max(s.chunk, least)
	if least > max(minOwn, s.chunk/16) {
		size = least
	}
	for {
		sp := s.cur.Load()
		lo := sp.next.Load()
		room := sp.hi.Load() - lo
		n := min(size, room)
		if n < least {
			if err := s.grow(sp, least); err != nil {
				return nil, nil, err
			}
			continue
		}
		if !sp.next.CompareAndSwap(lo, lo+n) {
			continue
		}
		s.chunks.Add(1)
		s.handedOut(int64(n))
		c := s.newScope(opener, true)
		c.place(sp, lo, lo+n)
		return c, &c.scope, nil
	}
}

func (s *Space) fullNow() error {
	s.lock(nil)
	defer s.mu.Unlock()
	return s.full()
}

// returnRange drops the pages of a range and gives its addresses back. A
// range that the system refuses to drop is lost to the arena, not reused.
func (s *Space) returnRange(lo, hi uintptr) error {
	if s.arena.immutable.Load() {
		return nil // it stays until the process ends
	}
	if err := remap(&s.calls, lo, hi-lo, protNone); err != nil {
		return err
	}
	s.arena.give(lo, hi)
	return nil
}

// Free gives everything back: pages to the system, addresses to the arena.
// Scopes still open are revoked. Nothing may run or read the code any more.
func (s *Space) Free() error {
	s.lock(nil)
	defer s.mu.Unlock()
	if s.state.Swap(stateFreed) == stateFreed {
		return errors.New("codemem: space freed twice")
	}
	var errs []error
	for _, sp := range s.spans {
		if err := errors.Join(sp.view.drop(&s.calls), s.returnRange(sp.lo, sp.hi.Load())); err != nil {
			errs = append(errs, err)
		}
	}
	s.spans = nil
	s.exposed.change(func(e *exposure) { e.executable, e.unpublished, e.own = 0, 0, 0 })
	return errors.Join(errs...)
}

// Range is a half-open range of addresses.
type Range struct{ Lo, Hi uintptr }

// Ranges gives the spans of a published space, ascending by address. Outside of
// them there is no code of this space.
func (s *Space) Ranges() []Range {
	s.lock(nil)
	defer s.mu.Unlock()
	var r []Range
	for _, sp := range s.spans {
		i := len(r)
		for i > 0 && r[i-1].Lo > sp.lo {
			i--
		}
		r = append(r, Range{})
		copy(r[i+1:], r[i:])
		r[i] = Range{sp.lo, sp.hi.Load()}
	}
	return r
}

// Counters gives the system calls issued for this space so far.
func (s *Space) Counters() Counters { return s.calls.read() }

// Chunks is how many chunks have been handed out.
func (s *Space) Chunks() int64 { return s.chunks.Load() }

func stateName(st uint32) string { return [...]string{"being filled", "live", "sealed", "freed"}[st] }
