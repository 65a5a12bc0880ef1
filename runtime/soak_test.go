//go:build linux

package runtime

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// Traps, host calls, re-entry, growth, cancellation, closes and collections
// from many goroutines at once.
func TestSoak(t *testing.T) {
	s := newStore(t, Config{})
	var i *Instance
	var calls atomic.Int64
	i = startLooper(t, s, func(ctx context.Context) error {
		n := calls.Add(1)
		if n%7 == 0 {
			goruntime.Gosched()
		}
		if n%11 == 0 {
			goFault()
		}
		if n%501 == 0 {
			return errors.New("host says no")
		}
		return nil
	})
	m := wasmtest.New()
	none := m.Type(nil, nil)
	one := m.Type(types(decoder.I32), types(decoder.I32))
	m.ImportFunc("env", "host", none)
	m.Export("m", decoder.ExternMemory, m.Memory(1, 100))
	m.Func("load", one, nil, code(func(c *wasmtest.Code) { c.Get(0).Load(0x28, 0) }))
	m.Func("trap", one, nil, code(func(c *wasmtest.Code) { c.Get(0).I32(0).Op(0x6e) }))
	m.Func("deep", one, nil, code(func(c *wasmtest.Code) { c.Get(0).Call(3) }))
	m.Func("grow", one, nil, code(func(c *wasmtest.Code) { c.Get(0).Op(0x40, 0) }))
	m.Func("fib", one, nil, code(func(c *wasmtest.Code) {
		c.Get(0).I32(2).Op(0x49).Block(0x04, wasmtest.Result(decoder.I32)).Get(0).Op(0x05)
		c.Get(0).I32(1).Op(0x6b).Call(5).Get(0).I32(2).Op(0x6b).Call(5).Op(0x6a).End()
	}))
	bin := m.Bytes()
	mod := load(t, s, bin)
	shared, err := s.Instantiate(bg, mod, Imports{"env": {"host": i.Func("host")}})
	if err != nil {
		t.Fatal(err)
	}
	stop := time.Now().Add(1500 * time.Millisecond)
	if testing.Short() {
		stop = time.Now().Add(300 * time.Millisecond)
	}
	wantTrap := func(err error, kind TrapKind) bool {
		var trap *Trap
		return errors.As(err, &trap) && trap.Kind == kind && len(trap.Frames) > 0
	}
	jobs := []func(n int) string{
		func(n int) string {
			if _, err := shared.Call(bg, "load", 1<<31); !wantTrap(err, TrapMemoryOutOfBounds) {
				return "load: " + err.Error()
			}
			return ""
		},
		func(n int) string {
			if _, err := shared.Call(bg, "trap", 1); !wantTrap(err, TrapDivideByZero) {
				return "trap: " + err.Error()
			}
			return ""
		},
		func(n int) string {
			if n%10 == 0 {
				if _, err := shared.Call(bg, "deep", 1); !wantTrap(err, TrapStackOverflow) {
					return "deep: " + err.Error()
				}
			}
			if out, err := shared.Call(bg, "fib", 15); err != nil || out[0] != 610 {
				return "fib"
			}
			return ""
		},
		func(n int) string {
			ctx, cancel := context.WithTimeout(bg, time.Duration(n%3000)*time.Microsecond)
			defer cancel()
			_, err := i.Call(ctx, []string{"spin", "call", "leaf"}[n%3])
			if !errors.Is(err, context.DeadlineExceeded) && (err == nil || !strings.Contains(err.Error(), "host says no")) {
				return "cancel: " + err.Error()
			}
			return ""
		},
		func(n int) string {
			own, err := s.Instantiate(bg, mod, Imports{"env": {"host": i.Func("host")}})
			if err != nil {
				return err.Error()
			}
			defer own.Close()
			if out, err := own.Call(bg, "grow", 3); err != nil || out[0] != 1 {
				return "grow"
			}
			own.Memory("m").Bytes()[4*PageSize-4] = 7
			if out, err := own.Call(bg, "load", 4*PageSize-4); err != nil || out[0] != 7 {
				return "load after grow"
			}
			return ""
		},
		func(n int) string {
			if _, err := i.Call(bg, "host"); err != nil && err.Error() != "host says no" {
				return err.Error()
			}
			if n%50 == 0 {
				goruntime.GC()
			}
			return ""
		},
	}
	errs := make(chan string, 4*len(jobs))
	for k := range 2 * len(jobs) {
		go func() {
			job := jobs[k%len(jobs)]
			for n := 0; time.Now().Before(stop); n++ {
				if msg := job(n); msg != "" {
					errs <- msg
					return
				}
			}
			errs <- ""
		}()
	}
	for range 2 * len(jobs) {
		if msg := <-errs; msg != "" {
			t.Error(msg)
		}
	}
	if n := len(s.instances); n != 2 {
		t.Errorf("%d instances left, want 2", n)
	}
}
