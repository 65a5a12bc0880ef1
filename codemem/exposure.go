package codemem

import (
	"sync"
	"time"
)

// Exposure says for how long how much code could be written. Every physical
// page counts once, whatever its number of mappings: a page of Dual counts as
// writable and executable while one view is writable and the other executable.
type Exposure struct {
	// WritableExecutable is memory that was both at once, in byte seconds.
	WritableExecutable float64
	// WritableUnpublished is memory that was writable before it was
	// published, in byte seconds.
	WritableUnpublished float64
	// ExecutableTime and UnpublishedTime are how long any page was so.
	ExecutableTime, UnpublishedTime time.Duration
}

// exposure integrates an Exposure. The policy's events move its levels; in
// mode PKU rights are open for moments only, which charge adds.
type exposure struct {
	mu sync.Mutex
	at time.Time
	// executable is how many bytes can be executed and become writable
	// with open, unpublished how many bytes aren't published and do, own how
	// many unpublished ones are writable whatever open says.
	executable, unpublished, own int64
	open                         bool
	sum                          Exposure
}

// change moves the levels; the time since the last change counts at the old.
func (e *exposure) change(f func(e *exposure)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.advance()
	f(e)
}

func (e *exposure) advance() {
	now := time.Now()
	if !e.at.IsZero() {
		both, before := int64(0), e.own
		if e.open {
			both, before = e.executable, e.own+e.unpublished
		}
		e.sum.add(now.Sub(e.at), both, before)
	}
	e.at = now
}

func (x *Exposure) add(d time.Duration, both, before int64) {
	x.WritableExecutable += d.Seconds() * float64(both)
	x.WritableUnpublished += d.Seconds() * float64(before)
	if both > 0 {
		x.ExecutableTime += d
	}
	if before > 0 {
		x.UnpublishedTime += d
	}
}

// charge adds a moment of d for which everything was open.
func (e *exposure) charge(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sum.add(d, e.executable, e.unpublished)
}

// read gives the sums up to now.
func (e *exposure) read() Exposure {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.advance()
	return e.sum
}
