package codemem

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
)

// SlotSize is the size of a slot of the jump table in bytes. Slots are
// aligned to it, so that one store of 8 bytes replaces one: threads that run
// through it see the old jump or the new one.
const SlotSize = 8

// initSlots reserves the jump table, at the start of the space; every slot is
// a trap until it is patched.
func (s *Space) initSlots(n int) error {
	if n == 0 {
		return nil
	}
	w, err := s.Open(NewHolder(), SiteBatch, TableOpener)
	if err != nil {
		return err
	}
	c, err := w.Reserve(n * SlotSize)
	if err != nil {
		return err
	}
	s.table = Range{c.lo, c.lo + uintptr(n)*SlotSize}
	s.tableDelta = c.delta
	if err := w.Close(); err != nil { // fills it with traps
		return err
	}
	s.slots = n
	return nil
}

// TableOpener is the opener that the making of a jump table is charged to.
const TableOpener = "codemem.jumptable"

// tablePages is the size of the pages of the jump table.
func (s *Space) tablePages() uintptr { return alignUp(s.table.Hi-s.table.Lo, pageSize) }

// Slots is the number of slots of the jump table, 0 without one.
func (s *Space) Slots() int { return s.slots }

// Slot gives the address of slot i.
func (s *Space) Slot(i int) uintptr {
	if i < 0 || i >= s.slots {
		panic(fmt.Sprintf("codemem: slot %d of %d", i, s.slots))
	}
	return s.table.Lo + uintptr(i)*SlotSize
}

// SlotTarget gives the address that slot i jumps to, 0 if it is a trap.
func (s *Space) SlotTarget(i int) uintptr {
	at := s.Slot(i)
	var b [SlotSize]byte
	s.read(b[:], at)
	return slotTarget(at, binary.LittleEndian.Uint64(b[:]))
}

// PatchSlot aims slot i at target by one store: finished code of this space
// that wasn't freed, at its first byte; 0 makes the slot a trap. The scope is
// one for publishing, and its holder holds the space's lock, as V8 does: so
// the target can't be freed meanwhile. The error is a *ReachError.
func (w *WriteScope) PatchSlot(i int, target uintptr) error {
	c := w.owner()
	s := c.space
	if !c.patches() {
		panic(fmt.Sprintf("codemem: scope of %q may not patch slots", c.opener.name))
	}
	if !s.mu.heldBy(c.v8.holder) {
		panic(fmt.Sprintf("codemem: scope of %q patches slots without the space's lock", c.opener.name))
	}
	at := s.Slot(i)
	word := slotTrap
	if target != 0 {
		if !s.isTarget(target) {
			panic(fmt.Sprintf("codemem: slot %d aimed at %#x, which is no finished function", i, target))
		}
		var ok bool
		if word, ok = slotJump(at, target); !ok {
			return &ReachError{Slot: i}
		}
	}
	if s.policy.keyed {
		c.rights += s.key.store64(at, word)
	} else {
		atomic.StoreUint64((*uint64)(pointer(at+s.tableDelta)), word)
	}
	c.bytes += SlotSize
	if s.state.Load() == stateLive { // else all code is synced when it is published
		syncSlot(at)
	}
	return nil
}

// ReachError reports code that is too far from its slot for a jump: on arm64
// more than 128 MiB.
type ReachError struct{ Slot int }

func (e *ReachError) Error() string {
	return fmt.Sprintf("code of function %d is out of reach of its slot in the jump table", e.Slot)
}

// patches reports whether the policy gives this scope the slots.
func (c *Chunk) patches() bool {
	return c.v8 != nil && (c.v8.site == SitePatch || c.v8.site == SitePublish && !c.space.policy.sites[SitePatch])
}

// frees reports whether the policy gives this scope the freeing of code.
func (c *Chunk) frees() bool {
	return c.v8 != nil && (c.v8.site == SiteFreeOne || c.v8.site == SiteFree && !c.space.policy.sites[SiteFreeOne])
}

// MarkPublished says that n bytes of code are reachable now, for the exposure.
func (w *WriteScope) MarkPublished(n int) {
	s := w.owner().space
	if s.policy.filled&protX != 0 { // else publication is the switch itself
		s.exposed.change(func(e *exposure) { e.unpublished = max(e.unpublished-int64(n), 0) })
	}
}

// Targets of slots: a bit per possible start of a function.

const startsPerWord = 64

func (sp *span) addTargets(placed []Range) {
	for _, r := range placed {
		i := (r.Lo - sp.lo) / funcAlign
		for uintptr(len(sp.starts)) <= i/startsPerWord {
			sp.starts = append(sp.starts, 0)
		}
		sp.starts[i/startsPerWord] |= 1 << (i % startsPerWord)
	}
}

// target finds the word and the bit of addr, nil if it can't be a start.
func (sp *span) target(addr uintptr) (word *uint64, bit uint64) {
	if addr < sp.lo || addr >= sp.hi.Load() || addr%funcAlign != 0 {
		return nil, 0
	}
	i := (addr - sp.lo) / funcAlign
	if i/startsPerWord >= uintptr(len(sp.starts)) {
		return nil, 0
	}
	return &sp.starts[i/startsPerWord], 1 << (i % startsPerWord)
}

// isTarget reports whether addr is the start of a finished function; s.mu is
// held.
func (s *Space) isTarget(addr uintptr) bool {
	for _, sp := range s.spans {
		if word, bit := sp.target(addr); word != nil {
			return *word&bit != 0
		}
	}
	return false
}
