package nativemodule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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
func TestReplaceAndFree(t *testing.T) {
	canRun(t)
	dm := fakeModule(1, mixedSizes(300)...)
	for _, mode := range available() {
		if !mode.Patchable() {
			continue
		}
		const changing = 5 // what function 9 adds to
		var version atomic.Uint32
		emit := func(c *fake, fn uint32) error {
			if fn != changing {
				return chain(dm)(c, fn)
			}
			c.op(0xb8, 1+version.Load())
			c.ret()
			return nil
		}
		a := testArena(t, 64<<20)
		m := mustBuild(t, dm, Options{Workers: 1, Protection: mode, Live: true, Arena: a}, emit)
		p, err := m.NewPatcher()
		if err != nil {
			t.Fatal(err)
		}
		r := m.NewReader()
		entry, old, code := m.Entry(changing), m.Address(changing), m.Code(changing)
		before := m.Live()
		r.Enter()
		version.Store(41)
		if err := p.Replace(t.Context(), []uint32{0, changing, 1 << 31}); err != nil { // the import and what doesn't exist are passed over
			t.Fatal(err)
		}
		if m.Entry(changing) != entry || m.Address(changing) == old || run(entry) != 42 {
			t.Fatalf("%v: function gives %d", mode, run(entry))
		}
		if got := run(m.Entry(9)); got != 42+9 {
			t.Errorf("%v: its caller gives %d", mode, got)
		}
		if n, err := p.Free(); n != 0 || err != nil {
			t.Fatalf("%v: freed %d functions under a reader: %v", mode, n, err)
		}
		for _, at := range []uintptr{old, m.Address(changing)} {
			if gm, fn, off, ok := Lookup(at); !ok || gm != m || fn != changing || off != 0 {
				t.Errorf("%v: lookup: %d+%d, %v", mode, fn, off, ok)
			}
		}
		if run(old) != 1 || !bytes.Equal(m.space.Read(old, len(code)), code) {
			t.Errorf("%v: replaced code changed under its reader", mode)
		}
		r.Exit()
		r.Enter() // a reader that entered later doesn't matter
		if n, err := p.Free(); n != 1 || err != nil {
			t.Fatalf("%v: freed %d functions: %v", mode, n, err)
		}
		r.Exit()
		r.Close()
		if _, _, _, ok := Lookup(old); ok {
			t.Errorf("%v: freed code was found", mode)
		}
		if mode != codemem.Dual && slices.ContainsFunc(m.space.Read(old, len(code)), func(b byte) bool { return b != codemem.TrapByte }) {
			t.Errorf("%v: freed code is left: %x", mode, m.space.Read(old, len(code)))
		}
		all := make([]uint32, 300)
		for i := range all {
			all[i] = uint32(i) + 1
		}
		if err := p.Replace(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		if n, err := p.Free(); n != 300 || err != nil {
			t.Fatalf("%v: freed %d functions: %v", mode, n, err)
		}
		for fn := uint32(2); fn < 301; fn += 7 {
			want := run(m.Entry(fn))
			if m.space.SlotTarget(int(fn-1)) != m.Address(fn) || want == 0 {
				t.Fatalf("%v: function %d", mode, fn)
			}
		}
		l := m.Live()
		if l.Replaced != 301 || l.Freed != 301 || l.Published != 601 || l.Publications-before.Publications != 2 {
			t.Errorf("%v: %+v", mode, l)
		}
		switches := l.Memory.Sub(before.Memory)
		want := map[codemem.Mode]int64{
			codemem.Fine:    2*301 + 3*2 + 2*301, // 2N + 3B, and two per function freed
			codemem.Hoisted: 5*2 + 2*2,           // 5B, and two per Free
		}[mode]
		if got := switches.OnCode(); got != want {
			t.Errorf("%v: %d mprotects on code, want %d", mode, got, want)
		}
		if mode == codemem.Dual && switches.MprotectView.Calls != 2*2 {
			t.Errorf("dual: %d switches of the view", switches.MprotectView.Calls)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A live module whose neighbourhood is taken goes on in further ranges, which
// Lookup knows; when the arena is full, replacing fails and the module works on.
func TestLiveGrowth(t *testing.T) {
	canRun(t)
	dm := fakeModule(1, mixedSizes(400)...)
	all := make([]uint32, 400)
	for i := range all {
		all[i] = uint32(i) + 1
	}
	for _, mode := range available() {
		if !mode.Patchable() || mode == codemem.Fine { // which grows as Hoisted, slowly
			continue
		}
		a := testArena(t, 4<<20)
		o := Options{Workers: 1, Protection: mode, Live: true, Arena: a}
		m := mustBuild(t, dm, o, chain(dm))
		mustBuild(t, fakeModule(0, 1000), o, chain(fakeModule(0, 1000))) // in the way
		p, err := m.NewPatcher()
		if err != nil {
			t.Fatal(err)
		}
		var full *codemem.FullError
		for range 1000 {
			if err = p.Replace(t.Context(), all); err != nil {
				break
			}
			if n, err := p.Free(); n != len(all) || err != nil {
				t.Fatalf("%v: freed %d: %v", mode, n, err)
			}
		}
		if !errors.As(err, &full) {
			t.Fatalf("%v: %v", mode, err)
		}
		if r := m.space.Ranges(); len(r) < 2 {
			t.Errorf("%v: code lies in %d ranges: the test shows nothing", mode, len(r))
		}
		for _, fn := range all {
			at := m.Address(fn)
			if got, want := run(m.Entry(fn)), chainResult(dm, fn); got != want {
				t.Fatalf("%v: function %d gives %d, want %d", mode, fn, got, want)
			}
			if gm, gf, off, ok := Lookup(at); !ok || gm != m || gf != fn || off != 0 {
				t.Fatalf("%v: lookup of function %d: %d+%d, %v", mode, fn, gf, off, ok)
			}
		}
		if l := m.Live(); l.Replaced != l.Freed || l.Replaced%400 != 0 {
			t.Errorf("%v: %d of %d freed", mode, l.Freed, l.Replaced)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Threads run through slots while others compile, patch and free what they
// run.
func TestSlotsUnderFire(t *testing.T) {
	canRun(t)
	dm := fakeModule(1, mixedSizes(200)...)
	for _, mode := range available() {
		if !mode.Patchable() {
			continue
		}
		rounds := 60
		if mode == codemem.Fine {
			rounds = 15
		}
		m := mustBuild(t, dm, Options{Workers: 2, Protection: mode, Live: true, Arena: testArena(t, 256<<20)}, chain(dm))
		var stop atomic.Bool
		var runners, patchers sync.WaitGroup
		for range 2 {
			runners.Go(func() {
				r := m.NewReader()
				defer r.Close()
				for fn := uint32(1); !stop.Load(); fn = 1 + fn%200 {
					r.Enter()
					got, want := run(m.Entry(fn)), chainResult(dm, fn)
					at := m.Address(fn)
					_, found, _, ok := Lookup(at)
					r.Exit()
					if got != want || !ok || found != fn {
						t.Errorf("%v: function %d gives %d, want %d; found %d, %v", mode, fn, got, want, found, ok)
						return
					}
				}
			})
		}
		for k := range 2 {
			patchers.Go(func() {
				p, err := m.NewPatcher()
				if err != nil {
					t.Error(err)
					return
				}
				defer p.Close()
				for i := range rounds {
					var fns []uint32
					for j := range 1 + i%20 {
						fns = append(fns, 1+uint32(i*31+j*7+k)%200)
					}
					if err := p.Replace(t.Context(), fns); err != nil {
						t.Error(err)
						return
					}
					if _, err := p.Free(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		patchers.Wait()
		stop.Store(true)
		runners.Wait()
		p, err := m.NewPatcher()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Free(); err != nil {
			t.Fatal(err)
		}
		if l := m.Live(); l.Freed != l.Replaced || l.Replaced == 0 {
			t.Errorf("%v: %d of %d replaced functions freed", mode, l.Freed, l.Replaced)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
