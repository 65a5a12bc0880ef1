package codemem

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Seal publishes the space for good, or ends the changes of a live one. What
// no chunk owns on its last page becomes trap instructions, the code becomes
// executable and read-only as the mode has it (Seal: one mprotect per span,
// and there is one span, but for a guess that was too low), and the unused
// rest goes back to the arena. All scopes must be closed. After an error only
// Free is left to call.
func (s *Space) Seal() error { return s.finish(stateSealed) }

// Publish does the same for code that will change later: functions may be
// added, slots patched and replaced functions freed. In a mode that isn't
// Patchable it seals.
func (s *Space) Publish() error {
	if !s.policy.patchable {
		return s.Seal()
	}
	return s.finish(stateLive)
}

func (s *Space) finish(to uint32) error {
	s.lock(nil)
	defer s.mu.Unlock()
	from := s.state.Load()
	if from >= to {
		return fmt.Errorf("codemem: sealing a space that is %s", stateName(from))
	}
	if n := s.open.Load(); n != 0 {
		return fmt.Errorf("codemem: sealing a space with %d open write scopes", n)
	}
	s.state.Store(to)
	var errs []error
	s.spans = slices.DeleteFunc(s.spans, func(sp *span) bool {
		next, hi := sp.next.Load(), sp.hi.Load()
		end := alignUp(next, pageSize)
		if from == stateFilling && next > sp.lo {
			err := s.publishSpan(sp, next, end, to)
			if err == nil && !s.opts.NoExec {
				s.syncCode(sp.lo, end)
			}
			errs = append(errs, err)
		}
		if next == sp.lo || to == stateSealed {
			errs = append(errs, sp.view.drop(&s.calls))
		}
		if end < hi {
			if err := s.returnRange(end, hi); err != nil {
				errs = append(errs, err)
				return false // to be returned by Free
			}
			sp.hi.Store(end)
		}
		return next == sp.lo
	})
	if len(s.spans) > 0 {
		s.cur.Store(s.spans[len(s.spans)-1])
	}
	s.exposed.change(func(e *exposure) { s.settle(e, to) })
	return errors.Join(errs...)
}

// publishSpan makes the code of a span, up to next, executable and read-only;
// [next, end) is the rest of its last page.
func (s *Space) publishSpan(sp *span, next, end uintptr, to uint32) error {
	s.fillTraps(next+sp.delta, end-next)
	switch {
	case s.policy.alias:
		var keep uintptr
		if to == stateLive && s.slots > 0 && s.table.Lo == sp.lo {
			keep = s.tablePages()
		}
		return sp.view.publish(&s.calls, sp.lo, end-sp.lo, keep)
	case s.policy.commit || s.policy.sealed == s.policy.filled:
		return nil
	}
	start := time.Now()
	if err := protect(&s.calls, sp.lo, end-sp.lo, s.policy.sealed); err != nil {
		return err
	}
	s.opener(s.opts.Owner).switched(start)
	return nil
}

// settle sets the levels of the exposure for a published space.
func (s *Space) settle(e *exposure, to uint32) {
	e.unpublished = 0
	if s.policy.filled != s.policy.sealed {
		e.open = false
	}
	if s.policy.alias && s.slots > 0 && to == stateLive {
		e.executable = int64(s.tablePages()) // what scopes make writable
	}
}
