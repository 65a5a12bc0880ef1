//go:build linux && amd64

package runtime

import (
	"errors"
	goruntime "runtime"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/wasmjit/wasmjit/asm/amd64"
)

// loop is a guest function that never returns.
func loop(t testing.TB) uintptr {
	return native(t, function(func(a *Asm) {
		var top Label
		a.Bind(&top)
		a.AluRI(ADD, S64, RAX, 1)
		a.JmpL(&top)
	}))
}

func TestNativeInterrupt(t *testing.T) {
	b := block(t)
	s := testStack(t, 0)
	entry := loop(t)
	stop := errors.New("stop")
	for i := range 20 {
		h := &handler{pre: func() error { return stop }}
		if i >= 10 {
			// A run that doesn't end at the first preemption.
			n := 0
			h.pre = func() error {
				if n++; n < 3 {
					s.interrupt()
					return nil
				}
				return stop
			}
		}
		if i%2 == 0 {
			time.AfterFunc(time.Millisecond, s.interrupt)
		} else {
			s.interrupt() // before the run begins
		}
		if fault, err := s.run(&nativeCall{Entry: entry, Inst: addrOf(b)}, h); err != stop || fault != nil {
			t.Fatalf("fault %v, error %v, want stop", fault, err)
		}
	}
	// While Go code runs: seen before native code goes on.
	b[6] = uint64(addrOf(b))
	h := &handler{host: func(*hostFrame) error { s.interrupt(); return nil }, pre: func() error { return stop }}
	if _, err := s.run(&nativeCall{Entry: reentrant(t), Inst: addrOf(b)}, h); err != stop {
		t.Errorf("error %v, want stop", err)
	}
	// Taken back.
	s.interrupt()
	s.clearInterrupt()
	c := &nativeCall{Entry: reentrant(t), Inst: addrOf(b)}
	mustRun(t, s, c, &handler{host: func(f *hostFrame) error { f.SetGP(9); return nil }})
	if c.RetGP != 9 {
		t.Errorf("result %d, want 9", c.RetGP)
	}
}

func TestNativeLoopAndGC(t *testing.T) {
	b := block(t)
	entry := loop(t)
	s := testStack(t, 0)
	stop := errors.New("stop")
	ended := make(chan error)
	var quit atomic.Bool
	h := &handler{pre: func() error {
		if quit.Load() {
			return stop
		}
		return nil
	}}
	go func() {
		_, err := s.run(&nativeCall{Entry: entry, Inst: addrOf(b)}, h)
		ended <- err
	}()
	for range 20 {
		goruntime.GC()
	}
	quit.Store(true)
	s.interrupt()
	if err := <-ended; err != stop {
		t.Fatalf("error %v, want stop", err)
	}
	if !syscallMode.Load() && h.preemptions < 2 {
		t.Errorf("%d preemptions during 20 collections", h.preemptions)
	}
}

func TestAsyncPreemptOff(t *testing.T) {
	for v, want := range map[string]bool{
		"": false, "asyncpreemptoff=1": true, "gctrace=0,asyncpreemptoff=1": true,
		"asyncpreemptoff=0": false, "asyncpreemptoff=1,asyncpreemptoff=0": false,
		"asyncpreemptoff=": false, "notasyncpreemptoff=1": false,
	} {
		if got := asyncPreemptOff(v); got != want {
			t.Errorf("GODEBUG=%q: %t, want %t", v, got, want)
		}
	}
}
