package nativemodule

import (
	"slices"
	"time"

	"github.com/wasmjit/wasmjit/codemem"
)

// Overlap is what goroutines did for one phase while another was on: with
// slots, batches are published while other workers compile.
type Overlap struct {
	// Wall is the sum of the times that goroutines spent on it.
	Wall time.Duration
	// Memory counts their system calls on code memory. The clock's phases
	// have counted these, too, as their own.
	Memory codemem.Counters
}

// startPublishing begins to charge the calling goroutine's work to the phase
// publish. It has the lock of the space, and still has when it calls end:
// that keeps everybody else's system calls out, and guards the sums.
func (m *Module) startPublishing() (end func()) {
	if m.live.Load() { // its compile is over
		return func() {}
	}
	leave := func() {}
	if m.options.Step != nil {
		leave = m.options.Step("publish")
	}
	start, before := time.Now(), m.space.Counters()
	return func() {
		o := &m.stats.Publishing
		o.Wall += time.Since(start)
		o.Memory = o.Memory.Add(m.space.Counters().Sub(before))
		leave()
	}
}

// lockStats reads the figures of the module's locks.
func (m *Module) lockStats() []codemem.LockStats {
	return []codemem.LockStats{m.space.Lock(), m.publisher.mu.Stats(publishLock)}
}

// locksSince gives the trips made since an earlier reading, nil for none.
func locksSince(now, before []codemem.LockStats) []codemem.LockStats {
	since := slices.Clone(now)
	for i := range before {
		since[i].Acquired -= before[i].Acquired
		since[i].Contended -= before[i].Contended
		since[i].Wait -= before[i].Wait
	}
	return since
}
