package codemem

import (
	"fmt"
	"time"
)

// writer is what a scope of the slots pipeline has besides its bytes: the
// place in the pipeline that it was opened at, whose goroutine it belongs to,
// and which rights the policy gives a scope at that place.
type writer struct {
	holder *Holder
	site   Site
	// counted: it raised the space's writer count and has to lower it.
	counted bool
	// nested shares the bytes of the scope that it was entered from.
	nested bool
	placed []Range // allocations; their starts become targets for slots
	own    view    // the writable view of a batch in a live space of mode Dual
}

// Open opens a scope for one of the entry points: SiteBatch to add code,
// SitePublish to patch slots, SiteFree to free code. Where the policy has no
// scope at this place, what comes back has no rights itself; Enter gives them
// at the inner places. h is the goroutine's identity.
//
// Under a policy that switches, the first scope makes code writable and the
// last one closed ends that. The error is a *SystemError, or a *ModeError
// when the space was sealed for good.
func (s *Space) Open(h *Holder, site Site, name string) (*WriteScope, error) {
	if st := s.state.Load(); st == stateSealed {
		return nil, &ModeError{Name: s.mode.String(), Reason: "published code can't be changed in a sealed space"}
	} else if st > stateLive {
		panic("codemem: write scope wanted of a space that is " + stateName(st))
	}
	if h == nil {
		panic("codemem: Open without a holder")
	}
	c := s.newScope(name, s.policy.sites[site])
	c.v8 = &writer{holder: h, site: site}
	return c.begin()
}

// Enter opens the scope of an inner place within w if the policy has one
// there, else it gives w itself. Exit closes what Enter opened.
func (w *WriteScope) Enter(site Site, name string) (*WriteScope, error) {
	c := w.owner()
	if c.v8 == nil || !c.space.policy.sites[site] {
		return w, nil
	}
	in := c.space.newScope(name, true)
	in.span, in.lo, in.hi, in.at, in.delta = c.span, c.lo, c.hi, c.hi, c.delta
	in.v8 = &writer{holder: c.v8.holder, site: site, nested: true}
	return in.begin()
}

// Exit ends what Enter began: it closes in unless it is w itself.
func (w *WriteScope) Exit(in *WriteScope) error {
	if in == w {
		return nil
	}
	return in.Close()
}

// begin raises the writer count if the scope is a writer to the policy.
func (c *Chunk) begin() (*WriteScope, error) {
	s := c.space
	if s.raises(c.v8.site) {
		if err := s.raise(c); err != nil {
			c.end()
			return nil, err
		}
		c.v8.counted = true
	}
	return &c.scope, nil
}

// raises reports whether a scope at site needs the switch of the policy now.
func (s *Space) raises(site Site) bool {
	switch s.policy.toggle {
	case toggleRange:
		return s.policy.sites[site]
	case toggleTable:
		// Before the first publication the views are writable anyway.
		return site == SitePublish && s.state.Load() == stateLive
	}
	return false
}

// raise counts a writer; the first switches.
func (s *Space) raise(c *Chunk) error {
	s.lock(c.v8.holder)
	defer s.mu.Unlock()
	if s.writers++; s.writers > 1 {
		c.opener.nested.Add(1)
		return nil
	}
	err := s.toggle(c.opener, true)
	if err != nil {
		s.writers--
	}
	return err
}

// lower counts a writer off; the last switches back.
func (s *Space) lower(c *Chunk) error {
	s.lock(c.v8.holder)
	defer s.mu.Unlock()
	if s.writers--; s.writers > 0 {
		return nil
	}
	return s.toggle(c.opener, false)
}

// toggle switches what the policy switches; s.mu is held.
func (s *Space) toggle(o *opener, open bool) error {
	if s.policy.toggle == toggleTable {
		p := protNone
		if open {
			p = protRW
		}
		start := time.Now()
		if err := protectView(&s.calls, s.table.Lo+s.tableDelta, s.tablePages(), p); err != nil {
			return err
		}
		o.switched(start)
		s.exposed.change(func(e *exposure) { e.open = open })
		return nil
	}
	p := s.policy.sealed
	if open {
		p = s.policy.filled
	}
	for _, sp := range s.spans {
		if sp.committed == sp.lo {
			continue
		}
		start := time.Now()
		if err := protect(&s.calls, sp.lo, sp.committed-sp.lo, p); err != nil {
			return err
		}
		o.switched(start)
	}
	s.exposed.change(func(e *exposure) { e.open = open })
	return nil
}

func (o *opener) switched(start time.Time) {
	o.switches.Add(1)
	o.switching.Add(int64(time.Since(start)))
}

// Reserve gives a scope for adding a batch its bytes: whole pages, so that
// batches never share one and each commits its own. It is called once.
func (w *WriteScope) Reserve(need int) (*Chunk, error) {
	c := w.owner()
	if c.v8 == nil || c.v8.site != SiteBatch || c.hi != 0 {
		panic(fmt.Sprintf("codemem: scope of %q may not reserve code memory", c.opener.name))
	}
	s := c.space
	if need <= 0 || need > maxReserve {
		return nil, s.fullNow()
	}
	size := alignUp(uintptr(need), pageSize)
	s.lock(c.v8.holder)
	defer s.mu.Unlock()
	sp := s.cur.Load()
	if sp.hi.Load()-sp.next.Load() < size {
		if err := s.growLocked(sp, size); err != nil {
			return nil, err
		}
		sp = s.cur.Load()
	}
	lo := sp.next.Load()
	c.place(sp, lo, lo+size)
	if err := s.commit(c); err != nil {
		c.lo, c.hi, c.at = 0, 0, 0
		return nil, err
	}
	sp.next.Store(lo + size)
	s.chunks.Add(1)
	return c, nil
}

// commit makes the pages of a batch writable; s.mu is held.
func (s *Space) commit(c *Chunk) error {
	size := c.hi - c.lo
	switch {
	case s.policy.commit:
		start := time.Now()
		if err := protect(&s.calls, c.lo, size, s.policy.filled); err != nil {
			return err
		}
		c.opener.commits.Add(1)
		c.opener.switching.Add(int64(time.Since(start)))
		c.span.committed = c.hi
	case s.state.Load() != stateLive: // mapped with its span
	case s.policy.alias:
		v, err := newView(&s.calls, size, false)
		if err != nil {
			return err
		}
		c.v8.own, c.delta = v, v.addr-c.lo
		s.exposed.change(func(e *exposure) { e.own += int64(size) })
		return nil
	default:
		if err := s.mapPages(c.lo, size); err != nil {
			return err
		}
	}
	s.handedOut(int64(size))
	return nil
}

// closeWriter is Close for the scopes of Open and Enter.
func (c *Chunk) closeWriter() error {
	s, v := c.space, c.v8
	var err error
	if !v.nested && c.hi != 0 {
		c.fillRest()
		err = s.finishBatch(c)
	}
	c.end()
	if v.counted {
		if e := s.lower(c); err == nil {
			err = e
		}
	}
	return err
}

// finishBatch makes the functions of a batch targets for slots. In a live
// space of mode Dual the writable view of the batch ends here, and the other
// begins: its bytes never change again.
func (s *Space) finishBatch(c *Chunk) error {
	s.lock(c.v8.holder)
	defer s.mu.Unlock()
	if v := &c.v8.own; v.size != 0 {
		size := int64(v.size)
		err := v.publish(&s.calls, c.lo, c.hi-c.lo, 0)
		s.exposed.change(func(e *exposure) { e.own -= size })
		if err != nil {
			return err
		}
	}
	if s.state.Load() == stateLive { // else all code is synced when it is published
		s.syncCode(c.lo, c.hi)
	}
	if s.policy.toggle != toggleRange {
		c.span.countPages(c.v8.placed)
	}
	if s.slots > 0 {
		c.span.addTargets(c.v8.placed)
	}
	return nil
}

// lock takes the space's lock.
func (s *Space) lock(h *Holder) { s.mu.Lock(h, lockName) }

// lockName is the lock of a space in figures and traces: V8's allocation mutex.
const lockName = "allocation"

// Hold takes the space's lock for h, as V8 does throughout publishing; h may
// open and close scopes meanwhile.
func (s *Space) Hold(h *Holder) { s.lock(h) }

// Unhold undoes Hold.
func (s *Space) Unhold() { s.mu.Unlock() }

// Lock gives the figures of the space's lock.
func (s *Space) Lock() LockStats { return s.mu.Stats(lockName) }
