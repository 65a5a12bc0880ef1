package codemem

import (
	"sync"
	"sync/atomic"
	"time"
)

// Holder is who holds the lock of a space: a goroutine, which Go gives no name
// that a recursive mutex could know it by. Each goroutine that publishes code
// has its own and passes it on.
type Holder struct{ _ byte }

// NewHolder makes the identity of one goroutine.
func NewHolder() *Holder { return &Holder{} }

// LockStats are the trips to a lock. Recursive ones count: V8 paid for them.
type LockStats struct {
	Name      string
	Acquired  int64         // times it was locked, recursively too
	Contended int64         // times somebody else had it
	Wait      time.Duration // sum of the times that contended trips waited
}

// Mutex is a mutex that counts. Its zero value is unlocked. A holder that has
// it may lock it again.
type Mutex struct {
	mu    sync.Mutex
	owner atomic.Pointer[Holder] // nil if it is free or its holder anonymous
	depth int                    // of recursion; the owner's

	acquired, contended, wait atomic.Int64
}

// Lock locks m for h; a nil h can't lock it again. The name is for the trace.
func (m *Mutex) Lock(h *Holder, name string) {
	m.acquired.Add(1)
	if h != nil && m.owner.Load() == h {
		m.depth++
		return
	}
	if !m.mu.TryLock() {
		start := time.Now()
		m.contended.Add(1)
		m.mu.Lock()
		m.wait.Add(int64(time.Since(start)))
		Trace(Span{Kind: SpanLockWait, Name: name, Start: start})
	}
	m.owner.Store(h)
	m.depth = 1
}

// Unlock undoes one Lock.
func (m *Mutex) Unlock() {
	if m.depth--; m.depth > 0 {
		return
	}
	m.owner.Store(nil)
	m.mu.Unlock()
}

// heldBy reports whether h has m.
func (m *Mutex) heldBy(h *Holder) bool { return h != nil && m.owner.Load() == h }

// Stats reads the figures.
func (m *Mutex) Stats(name string) LockStats {
	return LockStats{name, m.acquired.Load(), m.contended.Load(), time.Duration(m.wait.Load())}
}
