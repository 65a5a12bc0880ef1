package nativemodule

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/wasmjit/wasmjit/codemem"
)

// available gives the modes that this machine has.
func available() (modes []codemem.Mode) {
	for _, name := range codemem.ModeNames() {
		if m, err := codemem.ParseMode(name); err == nil && codemem.Check(m) == nil {
			modes = append(modes, m)
		}
	}
	return modes
}

func canRun(t *testing.T) {
	t.Helper()
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		t.Skip("the fake compiler emits amd64 code")
	}
}

// With one worker every mode issues exactly the mprotects that its ledger
// predicts, whatever the number of functions and of batches, and every term
// is charged to the opener that the ledger names.
func TestLedger(t *testing.T) {
	canRun(t)
	for _, mode := range available() {
		for _, n := range []int{0, 1, 7, 100, 1000} {
			for _, units := range []int{0, 1, 13, 5000} {
				if mode == codemem.Fine && n == 1000 && units == 1 {
					continue // the same terms, slowly
				}
				name := fmt.Sprintf("%v/N=%d/units=%d", mode, n, units)
				dm := fakeModule(2, mixedSizes(n)...)
				o := Options{Workers: 1, Protection: mode, Publish: PublishSlots, BatchUnits: units, Arena: testArena(t, 64<<20)}
				m := mustBuild(t, dm, o, chain(dm))
				s := m.Stats()
				l := s.Ledger
				per := units
				if per == 0 {
					per = max(10, n/8)
				}
				batches := int64((n + per - 1) / per)
				if l.Functions != int64(n) || l.Batches != batches || l.Publications != batches {
					t.Errorf("%s: N, B, P = %d, %d, %d, want %d, %d, %d", name, l.Functions, l.Batches, l.Publications, n, batches, batches)
				}
				var want, c int64
				if n > 0 {
					c = 2
				}
				switch mode {
				case codemem.Fine:
					want = int64(2*n) + 3*batches + c
				case codemem.Hoisted:
					want = 5*batches + c
				case codemem.Seal:
					want = min(int64(n), 1)
				}
				if got := m.space.Counters().OnCode(); got != want || l.Counted != want || l.Predicted != want || !l.Exact {
					t.Errorf("%s: %d mprotects on code, ledger %+v, want %d", name, got, l, want)
				}
				var sum int64
				for _, term := range l.Terms {
					if term.Predicted != term.Counted {
						t.Errorf("%s: term %+v", name, term)
					}
					sum += term.Counted
				}
				if sum != l.Counted {
					t.Errorf("%s: terms add up to %d of %d", name, sum, l.Counted)
				}
				if mode == codemem.Dual && s.Compile.Memory.Mprotects()+s.Publish.Memory.Mprotects() != 0 {
					t.Errorf("%s: mprotects %+v %+v", name, s.Compile.Memory, s.Publish.Memory)
				}
				if mode == codemem.Fine && n == 1000 && (l.HotBySwitches != openerPatch || l.HotByTime != openerPatch) {
					t.Errorf("%s: hot scope %q by switches, %q by time", name, l.HotBySwitches, l.HotByTime)
				}
			}
		}
	}
}

// The scopes of V8's pipelines: how many were opened, and how many of them
// were nested in others.
func TestScopesOpened(t *testing.T) {
	canRun(t)
	const n, b, units = 100, 10, 10
	type row struct{ scopes, nested, switches, commits int64 }
	for mode, want := range map[codemem.Mode]map[string]row{
		codemem.Fine: {
			codemem.TableOpener: {1, 0, 1, 1},
			openerAdd:           {b, 0, 2 * b, b},
			openerAddFunction:   {n, n, 0, 0},
			openerPatch:         {n, 0, 2 * n, 0},
		},
		codemem.Hoisted: {
			codemem.TableOpener: {1, 0, 1, 1},
			openerAdd:           {b, 0, 2 * b, b},
			openerPublish:       {b, 0, 2 * b, 0},
		},
		codemem.Seal: {
			codemem.TableOpener: {1, 0, 0, 0},
			openerAdd:           {b, 0, 0, 0},
			openerPublish:       {b, 0, 0, 0},
			openerSeal:          {0, 0, 1, 0},
		},
	} {
		dm := fakeModule(0, mixedSizes(n)...)
		m := mustBuild(t, dm, Options{Workers: 1, Protection: mode, Publish: PublishSlots, BatchUnits: units, Arena: testArena(t, 8<<20)}, chain(dm))
		got := make(map[string]row)
		for _, a := range m.Stats().Accounts {
			got[a.Opener] = row{a.Scopes, a.Nested, a.Switches, a.Commits}
			if a.Switches+a.Commits > 0 && a.Switching <= 0 {
				t.Errorf("%v: no time in %+v", mode, a)
			}
		}
		for name, w := range want {
			if got[name] != w {
				t.Errorf("%v: %s: got %+v, want %+v", mode, name, got[name], w)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("%v: further openers: %+v", mode, got)
		}
	}
}

// Code that is published through slots runs, in every mode and with several
// workers, and what each mode exposes is what it is known for.
func TestSlotsRun(t *testing.T) {
	canRun(t)
	dm := fakeModule(2, mixedSizes(2000)...)
	for _, mode := range available() {
		for _, workers := range []int{1, 4} {
			if mode == codemem.Fine && workers == 1 {
				continue
			}
			m := mustBuild(t, dm, Options{Workers: workers, Protection: mode, Publish: PublishSlots, Arena: testArena(t, 64<<20)}, chain(dm))
			for fn := uint32(2); fn < 2002; fn += 13 {
				if got, want := run(m.Entry(fn)), chainResult(dm, fn); got != want {
					t.Fatalf("%v: function %d gives %d, want %d", mode, fn, got, want)
				}
				at, n := m.Address(fn), m.Size(fn)
				if m.space.SlotTarget(int(fn-2)) != at || m.Entry(fn) == at {
					t.Fatalf("%v: slot of function %d leads to %#x, want %#x", mode, fn, m.space.SlotTarget(int(fn-2)), at)
				}
				gm, gf, off, ok := Lookup(at + uintptr(n) - 1)
				if !ok || gm != m || gf != fn || off != uint32(n-1) {
					t.Fatalf("%v: lookup of function %d: %d+%d, %v", mode, fn, gf, off, ok)
				}
			}
			if _, _, _, ok := Lookup(m.Entry(5)); ok {
				t.Errorf("%v: a slot was taken for a function", mode)
			}
			s := m.Stats()
			if s.Batches < int64(workers) || s.Publications > s.Batches || s.Batches > 20*int64(workers) {
				t.Errorf("%v, %d workers: %d batches, %d publications", mode, workers, s.Batches, s.Publications)
			}
			if locks := s.Locks; len(locks) != 2 || locks[0].Acquired < s.Batches || locks[1].Acquired < s.Batches || locks[0].Contended > locks[0].Acquired {
				t.Errorf("%v: locks %+v", mode, locks)
			}
			x := s.Exposure
			both := mode != codemem.Seal && mode != codemem.Dual
			if (x.WritableExecutable > 0) != both || (x.ExecutableTime > 0) != both {
				t.Errorf("%v: exposure %+v", mode, x)
			}
			if x.WritableUnpublished <= 0 {
				t.Errorf("%v: nothing was ever writable: %+v", mode, x)
			}
		}
	}
}

func TestPublishOptions(t *testing.T) {
	dm := fakeModule(0, 100)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Protection: codemem.Fine, Publish: PublishLinked}, "code protection mode fine publishes code through slots and can't link it"},
		{Options{Live: true, Publish: PublishLinked}, "linked code can't be replaced; publish it through slots"},
		{Options{Live: true, Protection: codemem.Seal}, "code protection mode seal is not available: code that was published in it can't be replaced; use dual"},
	} {
		_, err := build(t.Context(), dm, c.o, chain(dm))
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	canRun(t)
	for _, c := range []struct {
		o    Options
		want Options
	}{
		{Options{}, Options{Publish: PublishLinked, Protection: codemem.Seal}},
		{Options{Protection: codemem.Hoisted}, Options{Publish: PublishSlots, Protection: codemem.Hoisted}},
		{Options{Publish: PublishSlots}, Options{Publish: PublishSlots, Protection: codemem.Dual}},
		{Options{Live: true}, Options{Publish: PublishSlots, Protection: codemem.Dual}},
	} {
		c.o.Arena = testArena(t, 8<<20)
		m := mustBuild(t, dm, c.o, chain(dm))
		if o := m.Options(); o.Publish != c.want.Publish || o.Protection != c.want.Protection {
			t.Errorf("got %v, %v, want %v, %v", o.Publish, o.Protection, c.want.Publish, c.want.Protection)
		}
		if p, err := m.NewPatcher(); c.o.Live != (err == nil) || !c.o.Live && !errors.Is(err, ErrNotLive) {
			t.Errorf("patcher of %+v: %v", c.o, err)
		} else if err == nil {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Failures are the same through slots: the lowest function's, a lack of
// memory, a bad call site; and nothing is left behind.
func TestSlotsFailures(t *testing.T) {
	canRun(t)
	dm := fakeModule(1, mixedSizes(500)...)
	bad := func(c *fake, fn uint32) error {
		switch fn {
		case 300, 200:
			return fmt.Errorf("function %d is bad", fn)
		}
		return chain(dm)(c, fn)
	}
	foreign := func(c *fake, fn uint32) error {
		c.call(0) // an import
		return nil
	}
	for _, mode := range available() {
		for _, workers := range []int{1, 3} {
			a := testArena(t, 64<<20)
			_, err := build(t.Context(), dm, Options{Workers: workers, Protection: mode, Publish: PublishSlots, Arena: a}, bad)
			if err == nil || err.Error() != "function 200 is bad" {
				t.Errorf("%v: %v", mode, err)
			}
			_, err = build(t.Context(), dm, Options{Workers: workers, Protection: mode, Publish: PublishSlots, Arena: a}, foreign)
			var link *LinkError
			if !errors.As(err, &link) {
				t.Errorf("%v: %v", mode, err)
			}
			_, err = build(t.Context(), dm, Options{Workers: workers, Protection: mode, Publish: PublishSlots, Arena: a, MaxCodeBytes: 50_000}, chain(dm))
			var full *codemem.FullError
			if !errors.As(err, &full) {
				t.Errorf("%v: %v", mode, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err = build(ctx, dm, Options{Workers: workers, Protection: mode, Publish: PublishSlots, Arena: a}, chain(dm)); !errors.Is(err, context.Canceled) {
				t.Errorf("%v: %v", mode, err)
			}
			if a.Available() != 64<<20 {
				t.Errorf("%v: %d bytes available", mode, a.Available())
			}
		}
	}
}

// Functions are replaced: callers meet the new code, the old one is found
// until it is freed, and not before its readers have left.
// A live module whose neighbourhood is taken goes on in further ranges, which
// Lookup knows; when the arena is full, replacing fails and the module works on.
// Threads run through slots while others compile, patch and free what they
// run.
