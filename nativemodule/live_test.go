package nativemodule

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wasmjit/wasmjit/codemem"
)

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
