package codemem

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestMutex(t *testing.T) {
	var m Mutex
	h, other := NewHolder(), NewHolder()
	if h == other {
		t.Fatal("two holders are the same")
	}
	m.Lock(h, "x")
	m.Lock(h, "x")
	if !m.heldBy(h) || m.heldBy(other) || m.heldBy(nil) {
		t.Error("wrong holder")
	}
	m.Unlock()
	done := make(chan struct{})
	go func() {
		m.Lock(other, "x")
		m.Unlock()
		close(done)
	}()
	for m.Stats("x").Contended == 0 {
		runtime.Gosched()
	}
	select {
	case <-done:
		t.Error("a second holder got a lock that was held")
	case <-time.After(2 * time.Millisecond):
	}
	m.Unlock()
	<-done
	if s := m.Stats("x"); s.Acquired != 3 || s.Contended != 1 || s.Wait <= 0 || s.Name != "x" {
		t.Errorf("%+v", s)
	}
	n := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			h := NewHolder()
			for range 1000 {
				m.Lock(h, "x")
				m.Lock(h, "x")
				n++
				m.Unlock()
				m.Unlock()
			}
		})
	}
	wg.Wait()
	if s := m.Stats("x"); n != 8000 || s.Acquired != 16003 {
		t.Errorf("%d increments, %+v", n, s)
	}
}
