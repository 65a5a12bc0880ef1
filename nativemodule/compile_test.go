package nativemodule

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

var workerCounts = []int{1, 2, 3, 4, 8, 16}

// checkPlaced checks the code of every function against what emit gives with
// its calls linked, and that all other bytes of the code's pages are traps.
func checkPlaced(t *testing.T, m *Module, emit func(c *fake, fn uint32) error) {
	t.Helper()
	owned := make(map[uintptr]int)
	for i := range m.decoded.Bodies {
		fn := m.imported + uint32(i)
		c := &fake{emit: emit}
		want, _ := c.Compile(fn)
		for _, s := range want.CallSites {
			callee := binary.LittleEndian.Uint32(want.Bytes[s:])
			rel := m.Entry(callee) - (m.Entry(fn) + uintptr(s) + 4)
			binary.LittleEndian.PutUint32(want.Bytes[s:], uint32(rel))
		}
		if !bytes.Equal(m.Code(fn), want.Bytes) || m.Size(fn) != len(want.Bytes) {
			t.Fatalf("function %d: code differs", fn)
		}
		if m.Entry(fn)%16 != 0 {
			t.Fatalf("function %d at %#x", fn, m.Entry(fn))
		}
		owned[m.Entry(fn)] = len(want.Bytes)
	}
	if len(owned) != len(m.decoded.Bodies) {
		t.Fatalf("%d functions at %d addresses", len(m.decoded.Bodies), len(owned))
	}
	for _, r := range m.space.Ranges() {
		lo := r.Lo
		page := bytesAt(r.Lo, int(r.Hi-r.Lo))
		for i := 0; i < len(page); {
			if n, ok := owned[lo+uintptr(i)]; ok {
				i += n
				continue
			}
			if page[i] != codemem.TrapByte {
				t.Fatalf("unowned byte at %#x is %#x", lo+uintptr(i), page[i])
			}
			i++
		}
	}
}

func TestCompilePlacesAndLinks(t *testing.T) {
	dm := fakeModule(3, mixedSizes(3000)...)
	emit := chain(dm)
	for _, workers := range workerCounts {
		m := mustBuild(t, dm, Options{Workers: workers, Arena: testArena(t, 64<<20)}, emit)
		checkPlaced(t, m, emit)
		s := m.Stats()
		if s.Workers != workers || s.Functions != 3000 || s.CallSites != 2*(3000-8) || s.Spans != 1 {
			t.Errorf("%d workers: %+v", workers, s)
		}
		if n := s.Publish.Memory; n.MprotectRX.Calls != 1 || n.Mprotects() != 1 {
			t.Errorf("%d workers: mprotects at publish: %+v", workers, n)
		}
		if n := s.Compile.Memory.Mprotects() + s.Link.Memory.Mprotects(); n != 0 {
			t.Errorf("%d workers: %d mprotects before publish", workers, n)
		}
		var size int64
		for i := range dm.Bodies {
			size += int64(m.Size(uint32(i) + 3))
		}
		if s.CodeBytes != size || s.PaddingBytes <= 0 || s.BodyBytes != int64(dm.CodeEnd-dm.CodeStart) {
			t.Errorf("sizes: %+v", s)
		}
		if m.Entry(0) != 0 || m.Code(2) != nil || m.Size(3003) != 0 {
			t.Error("an import or an index out of range has code")
		}
	}
}

func TestOffMode(t *testing.T) {
	dm := fakeModule(0, mixedSizes(200)...)
	m := mustBuild(t, dm, Options{Protection: codemem.Off, Workers: 2, Arena: testArena(t, 8<<20)}, chain(dm))
	checkPlaced(t, m, chain(dm))
	s := m.Stats()
	if n := s.Compile.Memory.Mprotects() + s.Link.Memory.Mprotects() + s.Publish.Memory.Mprotects(); n != 0 {
		t.Errorf("%d mprotects in mode off", n)
	}
}

func TestEmptyModule(t *testing.T) {
	dm := fakeModule(2)
	m := mustBuild(t, dm, Options{Arena: testArena(t, 2<<20)}, nil)
	if s := m.Stats(); s.Functions != 0 || s.CodeBytes != 0 || s.Spans != 0 || s.Publish.Memory.Mprotects() != 0 {
		t.Errorf("%+v", s)
	}
	if _, _, _, ok := Lookup(m.base); ok {
		t.Error("found code in a module without any")
	}
}

// Functions larger than any chunk, and code far beyond the size guess.
func TestHugeFunctions(t *testing.T) {
	sizes := mixedSizes(100)
	dm := fakeModule(0, sizes...)
	emit := func(c *fake, fn uint32) error {
		c.call((fn + 1) % 100)
		if fn%10 == 0 {
			c.nop(3<<20 + int(fn))
		}
		c.call((fn + 99) % 100)
		c.ret()
		return nil
	}
	for _, workers := range []int{1, 4} {
		m := mustBuild(t, dm, Options{Workers: workers, Arena: testArena(t, 256<<20)}, emit)
		checkPlaced(t, m, emit)
		if s := m.Stats(); s.Spans > 3 || s.Publish.Memory.MprotectRX.Calls != int64(s.Spans) {
			t.Errorf("%d spans, %+v", s.Spans, s.Publish.Memory)
		}
	}
}

// The lowest function that fails is the one reported, however many fail, in
// whatever way, and whoever compiles them.
func TestLowestFailureIsReported(t *testing.T) {
	const n = 2000
	dm := fakeModule(1, mixedSizes(n)...)
	for _, bad := range [][]uint32{{1}, {n}, {700, 701, 1500}, {97*3 + 1, 97*7 + 1, 12}, {1999, 5, 1000, 6}} {
		lowest := bad[0]
		fails := make(map[uint32]bool)
		for _, fn := range bad {
			fails[fn] = true
			lowest = min(lowest, fn)
		}
		for _, workers := range workerCounts {
			for _, panics := range []bool{false, true} {
				var compiled [n + 1]atomic.Bool
				emit := func(c *fake, fn uint32) error {
					compiled[fn].Store(true)
					if fails[fn] && panics {
						panic(fmt.Sprintf("bad %d", fn))
					}
					if fails[fn] {
						return fmt.Errorf("bad %d", fn)
					}
					c.ret()
					return nil
				}
				m, err := build(context.Background(), dm, Options{Workers: workers, Arena: testArena(t, 16<<20)}, emit)
				want := fmt.Sprintf("bad %d", lowest)
				if panics {
					want = fmt.Sprintf("offset %#x: function %d: internal compiler error: bad %d",
						dm.Bodies[lowest-1].Start, lowest, lowest)
				}
				if m != nil || err == nil || err.Error() != want {
					t.Errorf("%d workers: got %v, want %s", workers, err, want)
				}
				var internal *InternalError
				if errors.As(err, &internal) != panics || panics && len(internal.Stack) == 0 {
					t.Errorf("error %#v", err)
				}
				for fn := uint32(1); fn <= lowest; fn++ {
					if !compiled[fn].Load() {
						t.Fatalf("function %d below the failure was not checked", fn)
					}
				}
			}
		}
	}
}

func TestNoCompiler(t *testing.T) {
	dm := fakeModule(0, 10, 20, 30)
	bad := errors.New("no back end")
	_, err := compileWith(context.Background(), dm, &liftoff.Layout{}, Options{Arena: testArena(t, 2<<20)},
		func() (compiler, error) { return nil, bad })
	if err != bad {
		t.Errorf("got %v", err)
	}
}

// A lack of code memory is reported as such, unless a function is invalid:
// that doesn't depend on the machine.
func TestArenaFull(t *testing.T) {
	dm := fakeModule(0, mixedSizes(500)...)
	for _, workers := range workerCounts {
		for _, invalid := range []bool{false, true} {
			emit := func(c *fake, fn uint32) error {
				if invalid && fn == 499 {
					return errors.New("invalid")
				}
				c.nop(30_000)
				return nil
			}
			a := testArena(t, 4<<20)
			_, err := build(context.Background(), dm, Options{Workers: workers, Arena: a}, emit)
			var full *codemem.FullError
			if invalid && (err == nil || err.Error() != "invalid") || !invalid && !errors.As(err, &full) {
				t.Errorf("%d workers: %v", workers, err)
			}
			if a.Available() != 4<<20 {
				t.Errorf("%d bytes available after the failure", a.Available())
			}
			_, err = build(context.Background(), dm, Options{Workers: workers, MaxCodeBytes: 1 << 20, Arena: a}, emit)
			if !invalid && (err == nil || err.Error() != "module needs more than 1 MiB of code space (of 4 MiB in all)") {
				t.Errorf("%d workers, limited: %v", workers, err)
			}
		}
	}
}

func TestCancel(t *testing.T) {
	dm := fakeModule(0, mixedSizes(3000)...)
	a := testArena(t, 16<<20)
	for _, workers := range workerCounts {
		for _, after := range []int64{0, 1, 500} {
			ctx, cancel := context.WithCancel(context.Background())
			var compiled atomic.Int64
			if after == 0 {
				cancel()
			}
			_, err := build(ctx, dm, Options{Workers: workers, Arena: a}, func(c *fake, fn uint32) error {
				if compiled.Add(1) == after {
					cancel()
				}
				c.ret()
				return nil
			})
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%d workers, cancelled after %d: %v", workers, after, err)
			}
			if got := compiled.Load(); got == 3000 || after == 0 && got != 0 {
				t.Errorf("%d workers, cancelled after %d: %d functions compiled", workers, after, got)
			}
			if a.Available() != 16<<20 {
				t.Fatal("code memory leaked")
			}
		}
	}
}

func TestLinkErrors(t *testing.T) {
	dm := fakeModule(2, mixedSizes(300)...)
	for name, c := range map[string]struct {
		arch liftoff.Arch
		emit func(c *fake)
		want string
	}{
		"import":  {emit: func(c *fake) { c.call(1) }, want: "function 150: call of function 1 at code offset 0x1: the callee is not a function of this module"},
		"beyond":  {emit: func(c *fake) { c.call(302) }, want: "function 150: call of function 302 at code offset 0x1: the callee is not"},
		"huge":    {emit: func(c *fake) { c.call(1<<32 - 1) }, want: "the callee is not a function of this module"},
		"outside": {emit: func(c *fake) { c.call(5); c.code.Bytes = c.code.Bytes[:4] }, want: "function 150: call of function 0 at code offset 0x1: the call site lies outside"},
		"arch":    {arch: liftoff.ARM64, emit: func(c *fake) { c.call(5) }, want: "function 150: call of function 0 at code offset 0x1: there is no direct call at the call site"},
	} {
		for _, workers := range []int{1, 4} {
			o := Options{Workers: workers, Arena: testArena(t, 4<<20), Liftoff: liftoff.Options{Arch: c.arch}}
			_, err := build(context.Background(), dm, o, func(f *fake, fn uint32) error {
				if fn == 150 || fn == 250 {
					c.emit(f)
				} else {
					f.ret()
				}
				return nil
			})
			var link *LinkError
			if !errors.As(err, &link) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %s", name, err, c.want)
			}
		}
	}
}

// Code for another machine is compiled and can be read, and that is all.
func TestForeignTarget(t *testing.T) {
	foreign := liftoff.ARM64
	if runtime.GOARCH == "arm64" {
		foreign = liftoff.AMD64
	}
	dm := fakeModule(0, mixedSizes(100)...)
	m := mustBuild(t, dm, Options{Arena: testArena(t, 4<<20), Liftoff: liftoff.Options{Arch: foreign}}, func(c *fake, fn uint32) error {
		c.op(1, fn)
		return nil
	})
	if m.Executable() {
		t.Error("foreign code is said to be executable")
	}
	if code := m.Code(7); !bytes.Equal(code, []byte{1, 7, 0, 0, 0}) {
		t.Errorf("code: %x", code)
	}
	if _, _, _, ok := Lookup(m.Entry(7)); ok {
		t.Error("foreign code is in the index")
	}
	if n := m.Stats().Publish.Memory; n.MprotectRX.Calls != 0 || n.MprotectOther.Calls != 1 {
		t.Errorf("foreign code was made executable: %+v", n)
	}
}

func TestProgressAndTimes(t *testing.T) {
	dm := fakeModule(5, mixedSizes(300)...)
	total := int(dm.CodeEnd - dm.CodeStart)
	last, calls := -1, 0
	var times []FuncTime
	release := make(chan struct{})
	var once sync.Once
	m := mustBuild(t, dm, Options{
		Arena:   testArena(t, 4<<20),
		Workers: 2,
		Progress: func(done, of int) {
			if of != total || done < last || done > total {
				t.Errorf("progress %d of %d after %d", done, of, last)
			}
			last = done
			calls++
			once.Do(func() { close(release) })
		},
		TraceTimes: func(f FuncTime) { times = append(times, f) },
	}, func(c *fake, fn uint32) error {
		<-release // so that at least one report comes while compiling
		c.nop(int(fn))
		return nil
	})
	if last != total || calls < 2 {
		t.Errorf("%d reports, the last of %d of %d", calls, last, total)
	}
	if len(times) != 300 {
		t.Fatalf("%d times", len(times))
	}
	for i, f := range times {
		body := dm.Bodies[i]
		if f.Func != uint32(i)+5 || f.Time <= 0 || f.BodyBytes != int(body.End-body.Start) || f.CodeBytes != m.Size(f.Func) || f.CompilerBytes != -1 {
			t.Fatalf("function %d: %+v", i+5, f)
		}
	}
}

// allocations counts what one compile allocates on the Go heap.
func allocations(t *testing.T, dm *decoder.Module, o Options) uint64 {
	emit := chain(dm)
	// Buffers grow to their final size in any one function's compile, so the
	// compilers of all rounds are the same.
	f := &fake{emit: emit}
	layout, err := liftoff.NewLayout(dm)
	if err != nil {
		t.Fatal(err)
	}
	least := ^uint64(0)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := compileWith(context.Background(), dm, layout, o, func() (compiler, error) { return f, nil })
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}

// Ten times the functions cost only what the larger buffers and more chunks
// allocate: nothing per function.
func TestNoAllocationPerFunction(t *testing.T) {
	a := testArena(t, 64<<20)
	small := allocations(t, fakeModule(0, mixedSizes(2000)...), Options{Workers: 1, Arena: a})
	large := allocations(t, fakeModule(0, mixedSizes(20000)...), Options{Workers: 1, Arena: a})
	if large > small+100 {
		t.Errorf("%d allocations for 2,000 functions, %d for 20,000", small, large)
	}
	t.Logf("%d allocations for 2,000 functions, %d for 20,000", small, large)
}
