package nativemodule

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/wasmjit/wasmjit/liftoff"
)

func TestLookup(t *testing.T) {
	a := testArena(t, 64<<20)
	dm := fakeModule(4, mixedSizes(1000)...)
	var all []*Module
	for _, workers := range []int{1, 3, 16} {
		all = append(all, mustBuild(t, dm, Options{Workers: workers, Arena: a}, chain(dm)))
	}
	for _, m := range all {
		for i := range dm.Bodies {
			fn := uint32(i) + 4
			lo, n := m.Entry(fn), m.Size(fn)
			for _, off := range []int{0, 1, n / 2, n - 1} {
				gm, gf, goff, ok := Lookup(lo + uintptr(off))
				if !ok || gm != m || gf != fn || goff != uint32(off) {
					t.Fatalf("function %d+%d: got %p %d+%d %v", fn, off, gm, gf, goff, ok)
				}
			}
			if n%16 != 0 {
				if _, _, _, ok := Lookup(lo + uintptr(n)); ok {
					t.Fatalf("the padding behind function %d was found", fn)
				}
			}
		}
	}
	lo, hi := a.Bounds()
	for _, pc := range []uintptr{0, 1, lo - 1, hi - 1, hi, ^uintptr(0)} {
		if _, _, _, ok := Lookup(pc); ok {
			t.Errorf("found code at %#x", pc)
		}
	}
	pc := all[1].Entry(10)
	if err := all[1].Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, ok := Lookup(pc); ok {
		t.Error("found code of a closed module")
	}
	if m, fn, _, ok := Lookup(all[2].Entry(10)); !ok || m != all[2] || fn != 10 {
		t.Error("closing one module lost another")
	}
}

func TestLifetime(t *testing.T) {
	a := testArena(t, 8<<20)
	dm := fakeModule(0, 100, 200)
	m := mustBuild(t, dm, Options{Arena: a}, chain(dm))
	free := a.Available()
	m.Retain()
	m.Retain()
	for range 2 { // the second Close does nothing
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Release(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, ok := Lookup(m.Entry(0)); !ok || a.Available() != free {
		t.Fatal("the code went while a reference was held")
	}
	if err := m.Release(); err != nil {
		t.Fatal(err)
	}
	if a.Available() != 8<<20 {
		t.Error("the code stayed after the last reference")
	}
	for name, f := range map[string]func(){"retain": m.Retain, "release": func() { _ = m.Release() }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of a freed module didn't panic", name)
				}
			}()
			f()
		}()
	}
}

func TestPositions(t *testing.T) {
	dm := fakeModule(1, mixedSizes(100)...)
	trap := liftoff.Position{Code: 5, Wasm: 77, Kind: liftoff.TrapDivideByZero}
	compiles := 0
	layout, err := liftoff.NewLayout(dm)
	if err != nil {
		t.Fatal(err)
	}
	m, err := compileWith(t.Context(), dm, layout, Options{Arena: testArena(t, 8<<20), Workers: 2}, func() (compiler, error) {
		return &positionFake{fake: fake{emit: chain(dm)}, trap: trap, compiles: &compiles}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	call := liftoff.Position{Code: 5, Wasm: 100*50 + 1}
	second := liftoff.Position{Code: 10, Wasm: 100*50 + 6}
	for range 3 {
		// The instruction behind the first call may trap too: same offset.
		if p, ok := m.Position(50, 5); !ok || p != trap {
			t.Errorf("trap: %+v, %v", p, ok)
		}
		if p, ok := m.CallPosition(50, 5); !ok || p != call {
			t.Errorf("call: %+v, %v", p, ok)
		}
		if p, ok := m.Position(50, 10); !ok || p != second {
			t.Errorf("call without a trap: %+v, %v", p, ok)
		}
		for _, off := range []uint32{0, 4, 6, 1 << 31} {
			if p, ok := m.Position(50, off); ok {
				t.Errorf("offset %d: %+v", off, p)
			}
		}
		for _, fn := range []uint32{0, 101, 1 << 31} {
			if p, ok := m.Position(fn, 5); ok {
				t.Errorf("function %d: %+v", fn, p)
			}
		}
	}
	if compiles != 1 {
		t.Errorf("compiled %d times for one function's positions", compiles)
	}
	if p, ok := m.Position(99, 5); ok { // its compile panics
		t.Errorf("function 99: %+v", p)
	}
	if _, ok := m.CallPosition(60, 5); !ok {
		t.Error("no position after another function's compile panicked")
	}
	for fn := uint32(10); fn < 90; fn++ { // more than are kept
		if p, ok := m.Position(fn, 5); !ok || p.Code != 5 {
			t.Errorf("function %d: %+v, %v", fn, p, ok)
		}
	}
}

// positionFake adds a trap behind the first call, in the wrong order.
type positionFake struct {
	fake
	trap     liftoff.Position
	compiles *int
}

func (c *positionFake) CompilePositions(fn uint32) (*liftoff.Code, error) {
	*c.compiles++
	if fn == 99 {
		panic("bad")
	}
	code, err := c.fake.CompilePositions(fn)
	code.Positions = append(code.Positions, c.trap)
	return code, err
}

// A thousand modules open at once, then closed, leave the arena one mapping.
func TestThousandModules(t *testing.T) {
	a := testArena(t, 128<<20)
	dm := fakeModule(0, mixedSizes(30)...)
	for range 2 {
		modules := make([]*Module, 1000)
		for i := range modules {
			modules[i] = mustBuild(t, dm, Options{Workers: 2, Arena: a}, chain(dm))
		}
		if m, fn, _, ok := Lookup(modules[500].Entry(7)); !ok || m != modules[500] || fn != 7 {
			t.Error("lookup among a thousand modules failed")
		}
		for i := range modules {
			if err := modules[i*7%1000].Close(); err != nil {
				t.Fatal(err)
			}
		}
		if a.Available() != 128<<20 {
			t.Fatalf("%d bytes available after all are closed", a.Available())
		}
		if text, err := os.ReadFile("/proc/self/maps"); err == nil {
			lo, hi := a.Bounds()
			// The kernel may merge the arena with an equal neighbour.
			n := 0
			for line := range strings.Lines(string(text)) {
				var l, h uintptr
				if _, err := fmt.Sscanf(line, "%x-%x", &l, &h); err == nil && l < hi && lo < h {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%d mappings left in the arena", n)
			}
		}
	}
	if all := index.Load(); len(*all) != 0 {
		t.Errorf("%d ranges left in the index", len(*all))
	}
}

// Compiles, lookups and closes at the same time in one arena.
func TestStress(t *testing.T) {
	a := testArena(t, 64<<20)
	dm := fakeModule(0, mixedSizes(300)...)
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := range 15 {
				m, err := build(t.Context(), dm, Options{Workers: 1 + g%3, Arena: a}, func(c *fake, fn uint32) error {
					if i%5 == 4 && fn == 200 {
						panic("bad")
					}
					return chain(dm)(c, fn)
				})
				if err != nil {
					if i%5 != 4 {
						t.Error(err)
					}
					continue
				}
				for fn := uint32(0); fn < 300; fn += 7 {
					if got, f, off, ok := Lookup(m.Entry(fn) + 1); !ok || got != m || f != fn || off != 1 {
						t.Errorf("lookup of function %d failed", fn)
					}
				}
				if p, ok := m.CallPosition(50, 5); !ok || p.Wasm != 5001 {
					t.Errorf("position %+v, %v", p, ok)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if a.Available() != 64<<20 {
		t.Error("code memory leaked")
	}
}
