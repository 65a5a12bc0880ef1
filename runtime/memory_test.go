//go:build linux

package runtime

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/testenv"
	"github.com/wasmjit/wasmjit/liftoff"
)

func eachBounds(t *testing.T, f func(t *testing.T, s *Store)) {
	t.Run("guard", func(t *testing.T) { f(t, newStore(t, Config{Bounds: liftoff.BoundsGuard})) })
	t.Run("explicit", func(t *testing.T) { f(t, newStore(t, Config{Bounds: liftoff.BoundsExplicit})) })
}

func TestMemoryGrow(t *testing.T) {
	eachBounds(t, func(t *testing.T, s *Store) {
		m, err := s.NewMemory(decoder.MemoryType{Limits: between(1, 5)})
		if err != nil {
			t.Fatal(err)
		}
		b := m.Bytes()
		if len(b) != PageSize {
			t.Fatalf("%d bytes, want one page", len(b))
		}
		b[0], b[PageSize-1] = 1, 2
		if old, ok := m.Grow(3); old != 1 || !ok {
			t.Fatalf("Grow(3) = %d, %v", old, ok)
		}
		grown := m.Bytes()
		if len(grown) != 4*PageSize || &grown[0] != &b[0] || grown[PageSize-1] != 2 {
			t.Error("the memory moved, lost bytes or has a wrong size")
		}
		grown[4*PageSize-1] = 3
		if m.Pages() != 4 || *word(m.record + liftoff.MemRecBytes) != 4*PageSize || *word(m.record + liftoff.MemRecBase) != uint64(m.base) {
			t.Error("the record disagrees")
		}
		for _, delta := range []uint64{2, 1 << 16, 1<<32 - 1, 1<<64 - 1} {
			if old, ok := m.Grow(delta); old != 4 || ok {
				t.Errorf("Grow(%d) beyond the maximum = %d, %v", delta, old, ok)
			}
		}
		if old, ok := m.Grow(0); old != 4 || !ok {
			t.Errorf("Grow(0) = %d, %v", old, ok)
		}
		if old, ok := m.Grow(1); old != 4 || !ok {
			t.Errorf("Grow(1) to the maximum = %d, %v", old, ok)
		}
		for at, in := range map[uintptr]bool{m.base: true, m.base + m.reserved - 1: true, m.base - 1: false, m.base + m.reserved: false} {
			if lo, ok := reservations.find(at); (ok && lo == m.base) != in {
				t.Errorf("the reservation at %#x isn't registered as it is: %#x is in %#x, %v", m.base, at, lo, ok)
			}
		}
		base := m.base
		s.Close()
		if _, ok := reservations.find(base); m.Bytes() != nil || m.Pages() != 0 || ok {
			t.Error("the memory outlives the store")
		}
		if _, ok := m.Grow(0); ok {
			t.Error("a memory grew after the store's close")
		}
		if _, err := s.NewMemory(decoder.MemoryType{}); err == nil {
			t.Error("a closed store made a memory")
		}
	})
}

func TestMemoryLimits(t *testing.T) {
	s := newStore(t, Config{MaxMemoryPages: 10})
	if _, err := s.NewMemory(decoder.MemoryType{Limits: atLeast(11)}); err == nil {
		t.Error("a memory over the store's cap was made")
	}
	m, err := s.NewMemory(decoder.MemoryType{Limits: between(0, 100)})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := m.Grow(11); ok {
		t.Error("grew beyond the store's cap")
	}
	if old, ok := m.Grow(10); old != 0 || !ok {
		t.Errorf("Grow(10) up to the cap = %d, %v", old, ok)
	}
	if b := m.Bytes(); len(b) != 10*PageSize {
		t.Errorf("%d bytes", len(b))
	}
}

func TestMemorySlice(t *testing.T) {
	s := newStore(t, Config{})
	m, err := s.NewMemory(decoder.MemoryType{Limits: atLeast(1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at, n uint64
		ok    bool
	}{
		{0, 0, true}, {0, PageSize, true}, {PageSize, 0, true}, {PageSize - 1, 1, true},
		{0, PageSize + 1, false}, {PageSize, 1, false}, {PageSize + 1, 0, false},
		{1<<32 - 1, 1, false}, {1<<64 - 1, 1, false}, {1, 1<<64 - 1, false}, {1<<64 - 1, 1<<64 - 1, false},
	} {
		if b, ok := m.slice(c.at, c.n); ok != c.ok || ok && uint64(len(b)) != c.n {
			t.Errorf("slice(%d, %d) = %d bytes, %v", c.at, c.n, len(b), ok)
		}
	}
}

// A process whose address space is limited gets explicit checks.
func TestBoundsFallBack(t *testing.T) {
	if os.Getenv("WASMJIT_TEST_CHILD") == "bounds" {
		// The Go runtime reserves some address space of its own first.
		lim := unix.Rlimit{Cur: 6 << 30, Max: 6 << 30}
		if err := unix.Setrlimit(unix.RLIMIT_AS, &lim); err != nil {
			t.Fatal(err)
		}
		if _, err := NewStore(Config{Bounds: liftoff.BoundsGuard}); err == nil {
			t.Error("guarded memories without the address space for them")
		} else if s := err.Error(); !strings.HasPrefix(s, "guarded memories: cannot reserve ") || strings.Contains(s, "\n") {
			t.Errorf("error %q", s)
		}
		s := newStore(t, Config{BoundsAuto: true})
		if s.Bounds() != liftoff.BoundsExplicit {
			t.Fatal("no explicit checks")
		}
		// A memory that may grow to 4 GiB takes part of what is left.
		m, err := s.NewMemory(decoder.MemoryType{Limits: atLeast(1)})
		if err != nil {
			t.Fatal(err)
		}
		n, err := s.NewMemory(decoder.MemoryType{Limits: atLeast(1)})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Memory{m, n} {
			if _, ok := m.Grow(1000); !ok {
				t.Errorf("a memory with %d bytes reserved can't grow by 1000 pages", m.reserved)
			}
			if _, ok := m.Grow(1<<16 - 1001); ok {
				t.Error("a memory grew beyond the address space")
			}
			m.Bytes()[1001*PageSize-1] = 1
		}
		return
	}
	if testenv.Emulated() {
		t.Skip("an emulator doesn't limit the address space")
	}
	if s := newStore(t, Config{BoundsAuto: true}); s.Bounds() != liftoff.BoundsGuard {
		t.Skip("this process can't reserve 8 GiB itself")
	}
	runChild(t, "bounds")
}

// runChild runs the calling test again in a process of its own, with
// WASMJIT_TEST_CHILD set to mode, and gives its output.
func runChild(t *testing.T, mode string, env ...string) string {
	t.Helper()
	cmd := testenv.Self("-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), "WASMJIT_TEST_CHILD="+mode), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
	return string(out)
}

func TestStackSize(t *testing.T) {
	for _, n := range []int{-1, 1<<30 + 1} {
		if s, err := NewStore(Config{StackSize: n}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("stack of %d bytes: %v, %v", n, s, err)
		}
	}
}
