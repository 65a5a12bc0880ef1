package codemem

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
)

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if s, _ := recover().(string); !strings.Contains(s, want) {
			t.Errorf("panic %q, want one with %q", s, want)
		}
	}()
	f()
}

func newSpace(t *testing.T, a *Arena, o SpaceOptions) *Space {
	t.Helper()
	s, err := a.NewSpace(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.state.Load() != stateFreed {
			if err := s.Free(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

func newChunk(t *testing.T, s *Space, need int) (*Chunk, *WriteScope) {
	t.Helper()
	c, w, err := s.NewChunk(need, "test")
	if err != nil {
		t.Fatal(err)
	}
	return c, w
}

func TestWriteSealRead(t *testing.T) {
	for _, o := range []SpaceOptions{{Owner: "sealer"}, {Mode: Off}, {NoExec: true}} {
		a := testArena(t, 4*hugePage)
		o.Expect = 100_000
		s := newSpace(t, a, o)
		c, w := newChunk(t, s, 0)
		code := bytes.Repeat([]byte{0x90}, 37)
		var at []uintptr
		for range 3 {
			addr, ok := c.Alloc(len(code))
			if !ok || addr%funcAlign != 0 {
				t.Fatalf("Alloc: %#x, %v", addr, ok)
			}
			w.Write(addr, code)
			at = append(at, addr)
		}
		w.Write32(at[1], 0xdeadbeef)
		if got := w.Read32(at[1]); got != 0xdeadbeef {
			t.Fatalf("Read32: %#x", got)
		}
		w.Close()
		if err := s.Seal(); err != nil {
			t.Fatal(err)
		}
		r := s.Ranges()
		if len(r) != 1 || r[0].Lo != at[0] || (r[0].Hi-r[0].Lo)%pageSize != 0 {
			t.Fatalf("ranges: %#x", r)
		}
		owned := make(map[uintptr]bool)
		for _, p := range at {
			for i := range code {
				owned[p+uintptr(i)] = true
			}
		}
		for i, b := range bytesAt(r[0].Lo, r[0].Hi-r[0].Lo) {
			if addr := r[0].Lo + uintptr(i); !owned[addr] && b != trapByte {
				t.Fatalf("unowned byte at offset %d is %#x", i, b)
			}
		}
		n := s.Counters()
		wantRX, wantOther := int64(1), int64(0)
		switch {
		case o.NoExec:
			wantRX, wantOther = 0, 1
		case o.Mode == Off:
			wantRX = 0
		}
		if n.MprotectRX.Calls != wantRX || n.MprotectOther.Calls != wantOther || n.MprotectRW.Calls != 0 {
			t.Errorf("%+v: %+v", o, n)
		}
		if used := int64(r[0].Hi - r[0].Lo); a.Available() != 4*hugePage-used {
			t.Errorf("available %d with %d used: the tail was not given back", a.Available(), used)
		}
		var got Account
		for _, acc := range s.Accounts() {
			if acc.Opener == "test" {
				got = acc
			}
		}
		if got.Scopes != 1 || got.Bytes != 3*37+4 || got.Switches != 0 {
			t.Errorf("account: %+v", got)
		}
		if o.Owner != "" {
			if acc := s.Accounts()[0]; acc.Opener != "sealer" || acc.Switches != 1 {
				t.Errorf("account of the sealer: %+v", acc)
			}
		}
		if err := s.Free(); err != nil {
			t.Fatal(err)
		}
		if a.Available() != 4*hugePage {
			t.Errorf("available after free: %d", a.Available())
		}
		if err := s.Free(); err == nil {
			t.Error("second Free gave no error")
		}
	}
}

func TestScopeMisuse(t *testing.T) {
	a := testArena(t, 4*hugePage)
	s := newSpace(t, a, SpaceOptions{Expect: 1 << 20})
	c, w := newChunk(t, s, 100)
	_, other := newChunk(t, s, 100)
	addr, _ := c.Alloc(100)
	code := make([]byte, 100)
	w.Write(addr, code)
	w.Write(c.hi-4, code[:4])

	var none *WriteScope
	var zero WriteScope
	mustPanic(t, "nil or zero", func() { none.Write(addr, code) })
	mustPanic(t, "nil or zero", func() { zero.Write32(addr, 1) })
	mustPanic(t, "nil or zero", func() { none.Close() })
	mustPanic(t, `scope of "test" may write`, func() { other.Write(addr, code) })
	mustPanic(t, "not 100 bytes", func() { w.Write(c.lo-1, code) })
	mustPanic(t, "not 4 bytes", func() { w.Write32(c.hi-3, 1) })
	mustPanic(t, "not 4 bytes", func() { w.Write32(c.hi+1<<40, 1) })
	mustPanic(t, "not 4 bytes", func() { w.Write32(^uintptr(0)-1, 1) })
	mustPanic(t, "not 4 bytes", func() { w.Read32(c.lo - 4) })

	if err := s.Seal(); err == nil || !strings.Contains(err.Error(), "2 open write scopes") {
		t.Fatalf("sealing under open scopes: %v", err)
	}
	copied := *w
	w.Close()
	mustPanic(t, "is closed", func() { w.Write(addr, code) })
	mustPanic(t, "is closed", func() { copied.Write32(addr, 1) })
	mustPanic(t, "is closed", func() { w.Close() })
	if _, ok := c.Alloc(c.Room() + 1); ok {
		t.Error("Alloc gave more than there is")
	}
	mustPanic(t, "is closed", func() { c.Alloc(1) })

	// Sealing revokes nothing that is closed; freeing revokes what is open.
	s2 := newSpace(t, a, SpaceOptions{Expect: 1 << 20})
	c2, w2 := newChunk(t, s2, 100)
	if err := s2.Free(); err != nil {
		t.Fatal(err)
	}
	mustPanic(t, "space that is freed", func() { w2.Write32(c2.lo, 1) })
	mustPanic(t, "space that is freed", func() { s2.NewChunk(1, "test") })
	other.Close()
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	mustPanic(t, "space that is sealed", func() { s.NewChunk(1, "test") })
	if err := s.Seal(); err == nil {
		t.Error("second Seal gave no error")
	}
}

func TestChunkSizes(t *testing.T) {
	for _, c := range []struct {
		expect  int64
		workers int
		want    uintptr
	}{
		{1, 1, minChunk},
		{1 << 20, 1, 32 << 10},
		{1 << 20, 16, minChunk},
		{64 << 20, 2, 1 << 20},
		{64 << 20, 16, 128 << 10},
		{1 << 31, 16, maxChunk},
	} {
		if got := chunkSize(c.expect, c.workers); got != c.want {
			t.Errorf("chunkSize(%d, %d) = %d, want %d", c.expect, c.workers, got, c.want)
		}
	}
}

func TestLargeNeedsOwnChunk(t *testing.T) {
	a := testArena(t, 32*hugePage)
	s := newSpace(t, a, SpaceOptions{Expect: 1 << 20})
	c, _ := newChunk(t, s, 1000)
	if uintptr(c.Room()) != s.chunk {
		t.Errorf("ordinary chunk of %d bytes, want %d", c.Room(), s.chunk)
	}
	big, w := newChunk(t, s, 20<<20) // far beyond the guess
	if big.Room() != 20<<20 {
		t.Errorf("chunk of %d bytes for a need of 20 MiB", big.Room())
	}
	addr, ok := big.Alloc(20 << 20)
	if !ok {
		t.Fatal("Alloc of the need failed")
	}
	w.Write(addr+20<<20-3, []byte{1, 2, 3})
	if big.Room() != 0 {
		t.Errorf("%d bytes left", big.Room())
	}
}

// The rest of a chunk that no other follows is handed out again.
func TestLastChunkIsShortened(t *testing.T) {
	a := testArena(t, 4*hugePage)
	s := newSpace(t, a, SpaceOptions{Expect: 1 << 20})
	c1, w1 := newChunk(t, s, 10)
	c2, w2 := newChunk(t, s, 10)
	c1.Alloc(100)
	c2.Alloc(100)
	w1.Close() // in the middle: filled
	if s.Used() != int64(2*s.chunk) {
		t.Errorf("used %d after closing the first of two", s.Used())
	}
	if b := bytesAt(c1.hi-1, 1); b[0] != trapByte {
		t.Error("the rest of the first chunk is not filled")
	}
	w2.Close()
	if s.Used() != int64(s.chunk+128) {
		t.Errorf("used %d after closing the last", s.Used())
	}
	c3, w3 := newChunk(t, s, 10)
	if c3.lo != c2.lo+128 {
		t.Errorf("next chunk at %#x, not behind %#x", c3.lo, c2.lo+128)
	}
	mustPanic(t, "is closed", func() { w2.Write32(c3.lo, 1) })
	w3.Close()
}

// A guess that is far too low still ends in few spans: growth doubles, next
// to the span if the arena is free there.
func TestGrowth(t *testing.T) {
	for _, blocked := range []bool{false, true} {
		a := testArena(t, 64*hugePage)
		s := newSpace(t, a, SpaceOptions{Expect: 4096, Workers: 2})
		if blocked {
			newSpace(t, a, SpaceOptions{Expect: 4096})
		}
		var scopes []*WriteScope
		for range 300 {
			_, w := newChunk(t, s, 5000)
			scopes = append(scopes, w)
		}
		for _, w := range scopes {
			w.Close()
		}
		if err := s.Seal(); err != nil {
			t.Fatal(err)
		}
		want := 1
		if blocked {
			want = 2
		}
		if n := s.Counters(); len(s.Ranges()) > want || n.MprotectRX.Calls != int64(len(s.Ranges())) {
			t.Errorf("blocked=%v: %d spans, %+v", blocked, len(s.Ranges()), n)
		}
		if s.Used() < 300*5000 || s.Chunks() != 300 {
			t.Errorf("used %d in %d chunks", s.Used(), s.Chunks())
		}
	}
}

func TestMax(t *testing.T) {
	a := testArena(t, 64*hugePage)
	s := newSpace(t, a, SpaceOptions{Expect: 10 << 20, Max: 100_000})
	var full *FullError
	total := 0
	for {
		_, _, err := s.NewChunk(30_000, "test")
		if errors.As(err, &full) {
			break
		}
		if err != nil || total > 100_000 {
			t.Fatalf("after %d bytes: %v", total, err)
		}
		total += 30_000
	}
	if total != 90_000 || full.Limit != 100_000 {
		t.Errorf("got %d bytes, limit %d", total, full.Limit)
	}
	if want := "module needs more than 97 KiB of code space (of 128 MiB in all)"; full.Error() != want {
		t.Errorf("got %q, want %q", full, want)
	}
	if _, _, err := s.NewChunk(-1, "test"); !errors.As(err, &full) {
		t.Errorf("negative need: %v", err)
	}
}

// Chunks that many workers take at once don't overlap.
func TestConcurrentChunks(t *testing.T) {
	a := testArena(t, 64*hugePage)
	s := newSpace(t, a, SpaceOptions{Expect: 100_000, Workers: 16})
	var wg sync.WaitGroup
	for id := range 16 {
		wg.Go(func() {
			mark := bytes.Repeat([]byte{byte(id + 1)}, 48)
			for range 50 {
				c, w, err := s.NewChunk(48, "worker")
				if err != nil {
					t.Error(err)
					return
				}
				var at []uintptr
				for addr, ok := c.Alloc(48); ok; addr, ok = c.Alloc(48) {
					w.Write(addr, mark)
					at = append(at, addr)
				}
				for _, addr := range at {
					if !bytes.Equal(bytesAt(addr, 48), mark) {
						t.Errorf("worker %d: its code at %#x was overwritten", id, addr)
						return
					}
				}
				w.Close()
			}
		})
	}
	wg.Wait()
	if acc := s.Accounts(); len(acc) != 1 || acc[0].Scopes != 16*50 {
		t.Errorf("accounts: %+v", acc)
	}
}
