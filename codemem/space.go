package codemem

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
)

const (
	// hugeFrom is the expected size from which a space asks for huge pages:
	// first touch of 4 KiB pages costs 10-27 % of baseline compile time, and
	// below this a huge page could hold more than the module needs.
	hugeFrom = 4 << 20
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
	// NoExec makes Seal stop at read-only: code for another machine.
	NoExec bool
}

// States of a space.
const (
	stateFilling uint32 = iota // chunks are handed out and written
	stateSealed                // published: no byte changes any more
	stateFreed
)

// Space is the code memory of one module: one contiguous span of the arena,
// and more only if the guess was too low. NewChunk may be called by many
// goroutines at once; Seal and Free by one, when no other uses the space.
type Space struct {
	arena  *Arena
	opts   SpaceOptions
	chunk  uintptr // ordinary chunk size
	huge   bool
	filled prot
	sealed prot

	state   atomic.Uint32
	open    atomic.Int32 // open write scopes
	chunks  atomic.Int64
	cur     atomic.Pointer[span]
	openers atomic.Pointer[opener]
	calls   ledger

	mu    sync.Mutex // growth, Seal, Free; never held per function
	spans []*span
}

// span is contiguous mapped memory of a space. [lo, next) is handed out.
type span struct {
	lo       uintptr
	hi, next atomic.Uintptr
}

// NewSpace maps memory for o.Expect bytes of code. The error is a *FullError
// if the arena has no room at all, or a *SystemError.
func (a *Arena) NewSpace(o SpaceOptions) (*Space, error) {
	if int(o.Mode) >= len(modes) {
		return nil, &ModeError{Name: o.Mode.String()}
	}
	o.Workers = max(o.Workers, 1)
	o.Expect = max(o.Expect, 1)
	if o.Max > 0 {
		o.Expect = min(o.Expect, o.Max)
	}
	s := &Space{
		arena:  a,
		opts:   o,
		chunk:  chunkSize(o.Expect, o.Workers),
		huge:   o.Expect >= hugeFrom,
		filled: modes[o.Mode].filled,
		sealed: modes[o.Mode].sealed,
	}
	if o.NoExec {
		s.filled, s.sealed = protRW, protR
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.addSpan(uintptr(min(o.Expect, maxReserve)), 1); err != nil {
		return nil, err
	}
	return s, nil
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
	if err := s.mapFilled(lo, size); err != nil {
		s.arena.give(lo, lo+size)
		return err
	}
	sp := &span{lo: lo}
	sp.next.Store(lo)
	sp.hi.Store(lo + size)
	s.spans = append(s.spans, sp)
	s.cur.Store(sp)
	return nil
}

func (s *Space) mapFilled(lo, size uintptr) error {
	if err := remap(&s.calls, lo, size, s.filled); err != nil {
		return err
	}
	if s.huge {
		return adviseHuge(&s.calls, lo, size)
	}
	return nil
}

// grow makes room for need bytes after sp, the current span as the caller saw
// it, has run out. Room next to the span comes first, so that one mprotect
// can seal both; sizes double, so that there are few spans in any case.
func (s *Space) grow(sp *span, need uintptr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur.Load() != sp || sp.hi.Load()-sp.next.Load() >= need {
		return nil // another worker was faster
	}
	want, least := max(need, s.mapped()), alignUp(need, pageSize)
	hi := sp.hi.Load()
	for size := s.limit(alignUp(want, s.unit())); size >= least; size = smaller(size, least) {
		if !s.arena.takeAt(hi, size) {
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
	s.mu.Lock()
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
	if st := s.state.Load(); st != stateFilling {
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
		c, w := s.openChunk(sp, lo, lo+n, opener)
		return c, w, nil
	}
}

func (s *Space) fullNow() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full()
}

// Seal publishes the space: what no chunk owns on its last page becomes trap
// instructions, one mprotect per span (there is one, but for a guess that was
// too low) makes the code executable and read-only, and the unused rest goes
// back to the arena. All scopes must be closed. After an error only Free is
// left to call.
func (s *Space) Seal() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.state.Load(); st != stateFilling {
		return fmt.Errorf("codemem: sealing a space that is %s", stateName(st))
	}
	if n := s.open.Load(); n != 0 {
		return fmt.Errorf("codemem: sealing a space with %d open write scopes", n)
	}
	s.state.Store(stateSealed)
	kept := s.spans[:0]
	var errs []error
	for _, sp := range s.spans {
		next, hi := sp.next.Load(), sp.hi.Load()
		end := alignUp(next, pageSize)
		if end < hi {
			if err := s.returnRange(end, hi); err != nil {
				errs = append(errs, err)
			} else {
				sp.hi.Store(end)
			}
		}
		if next == sp.lo {
			if end < hi && sp.hi.Load() == hi { // could not be returned
				kept = append(kept, sp)
			}
			continue
		}
		kept = append(kept, sp)
		fillTraps(next, end-next)
		if s.sealed == s.filled {
			continue
		}
		if err := protect(&s.calls, sp.lo, end-sp.lo, s.sealed); err != nil {
			errs = append(errs, err)
			continue
		}
		s.opener(s.opts.Owner).switches.Add(1)
	}
	s.spans = kept
	return errors.Join(errs...)
}

// returnRange drops the pages of a range and gives its addresses back. A
// range that the system refuses to drop is lost to the arena, not reused.
func (s *Space) returnRange(lo, hi uintptr) error {
	if err := remap(&s.calls, lo, hi-lo, protNone); err != nil {
		return err
	}
	s.arena.give(lo, hi)
	return nil
}

// Free gives everything back: pages to the system, addresses to the arena.
// Scopes still open are revoked. Nothing may run or read the code any more.
func (s *Space) Free() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Swap(stateFreed) == stateFreed {
		return errors.New("codemem: space freed twice")
	}
	var errs []error
	for _, sp := range s.spans {
		if err := s.returnRange(sp.lo, sp.hi.Load()); err != nil {
			errs = append(errs, err)
		}
	}
	s.spans = nil
	return errors.Join(errs...)
}

// Range is a half-open range of addresses.
type Range struct{ Lo, Hi uintptr }

// Ranges gives the spans of a sealed space, ascending by address. Outside of
// them there is no code of this space.
func (s *Space) Ranges() []Range {
	s.mu.Lock()
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

func stateName(st uint32) string { return [...]string{"being filled", "sealed", "freed"}[st] }
