package codemem

import (
	"errors"
	"testing"
)

func testArena(t testing.TB, size int64) *Arena {
	t.Helper()
	a, err := NewArena(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestArenaCoalesces(t *testing.T) {
	a := testArena(t, 8*hugePage)
	const n = 16
	step := (a.hi - a.lo) / n
	var at [n]uintptr
	for i := range at {
		lo, ok := a.take(step, pageSize)
		if !ok || lo != a.lo+uintptr(i)*step {
			t.Fatalf("piece %d: got %#x, %v", i, lo, ok)
		}
		at[i] = lo
	}
	if _, ok := a.take(pageSize, pageSize); ok || len(a.free) != 0 {
		t.Fatal("a full arena gave a page")
	}
	// Odd pieces stand alone; then even ones join both neighbours.
	for i := 1; i < n; i += 2 {
		a.give(at[i], at[i]+step)
	}
	if len(a.free) != n/2 {
		t.Fatalf("free extents: got %d, want %d", len(a.free), n/2)
	}
	if lo, ok := a.take(step, pageSize); !ok || lo != at[1] {
		t.Fatalf("first fit: got %#x, want %#x", lo, at[1])
	}
	a.give(at[1], at[1]+step)
	if a.takeAt(at[2], step) {
		t.Fatal("took an extent that is in use")
	}
	for i := 0; i < n; i += 2 {
		a.give(at[i], at[i]+step)
	}
	if len(a.free) != 1 || a.free[0] != (extent{a.lo, a.hi}) {
		t.Fatalf("not coalesced: %v", a.free)
	}
	if !a.takeAt(at[3], step) || len(a.free) != 2 {
		t.Fatalf("taking from the middle: %v", a.free)
	}
	a.give(at[3], at[3]+step)
	mustPanic(t, "given back twice", func() { a.give(at[3], at[3]+step) })
}

func TestArenaAlignment(t *testing.T) {
	a := testArena(t, 4*hugePage)
	if a.lo%hugePage != 0 {
		t.Fatalf("arena at %#x", a.lo)
	}
	small, _ := a.take(pageSize, pageSize)
	big, ok := a.take(2*hugePage, hugePage)
	if !ok || big%hugePage != 0 || len(a.free) != 2 {
		t.Fatalf("aligned piece at %#x, free %v", big, a.free)
	}
	a.give(small, small+pageSize)
	a.give(big, big+2*hugePage)
}

func TestArenaPlaceDiffers(t *testing.T) {
	a, b := testArena(t, hugePage), testArena(t, hugePage)
	c := testArena(t, hugePage)
	if b.lo-a.lo == c.lo-b.lo || a.lo == b.lo {
		t.Errorf("arenas at %#x, %#x, %#x are not at random places", a.lo, b.lo, c.lo)
	}
}

func TestDefaultArena(t *testing.T) {
	a, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Default()
	lo, hi := a.Bounds()
	if a != b || hi-lo < minDefault || hi-lo >= 1<<31 {
		t.Fatalf("default arena [%#x, %#x)", lo, hi)
	}
}

func TestArenaBadSize(t *testing.T) {
	for _, size := range []int64{0, -1, maxReserve + 1, 1 << 62} {
		if _, err := NewArena(size); err == nil {
			t.Errorf("NewArena(%d) gave no error", size)
		}
	}
}

func TestArenaExhausted(t *testing.T) {
	a := testArena(t, 2*hugePage)
	s, err := a.NewSpace(SpaceOptions{Expect: 4 * hugePage})
	if err != nil {
		t.Fatal(err) // the guess is cut to what there is
	}
	_, err = a.NewSpace(SpaceOptions{Expect: 1})
	var full *FullError
	if !errors.As(err, &full) || full.Limit != 0 {
		t.Fatalf("second space: %v", err)
	}
	if _, _, err := s.NewChunk(2*hugePage, "test"); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.NewChunk(1, "test")
	if !errors.As(err, &full) || full.Limit != 2*hugePage {
		t.Fatalf("chunk: %v", err)
	}
	if want := "module needs more than 4 MiB of code space"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if err := s.Free(); err != nil {
		t.Fatal(err)
	}
	if a.Available() != 2*hugePage {
		t.Errorf("available after free: %d", a.Available())
	}
}

func TestParseMode(t *testing.T) {
	for _, name := range append(ModeNames(), "auto") {
		if got, err := ParseMode(name); err != nil || got.String() != name {
			t.Errorf("ParseMode(%q) = %v, %v", name, got, err)
		}
	}
	_, err := ParseMode("maybe")
	if want := `unknown code protection mode "maybe"; use off, fine, hoisted, seal, dual, pku`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	a := testArena(t, hugePage)
	if _, err := a.NewSpace(SpaceOptions{Mode: 77}); err == nil {
		t.Error("a mode that doesn't exist was accepted")
	}
}
