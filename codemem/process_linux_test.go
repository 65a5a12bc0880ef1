package codemem

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// mapping is a line of /proc/self/maps.
type mapping struct {
	lo, hi uintptr
	perms  string
}

// mappingsIn gives the process's mappings that overlap [lo, hi).
func mappingsIn(t *testing.T, lo, hi uintptr) []mapping {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	var all []mapping
	for line := range strings.Lines(string(text)) {
		var m mapping
		if _, err := fmt.Sscanf(line, "%x-%x %s", &m.lo, &m.hi, &m.perms); err != nil {
			t.Fatal(err)
		}
		if m.lo < hi && lo < m.hi {
			all = append(all, m)
		}
	}
	return all
}

// residentIn is how much of the mappings that overlap [lo, hi) is in RAM.
func residentIn(t *testing.T, lo, hi uintptr) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	inside := false
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Rss:"); ok && inside {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			n += kib << 10
			continue
		}
		var l, h uintptr
		if line[0] >= 'a' || line[0] <= '9' { // fields begin with capitals
			if _, err := fmt.Sscanf(line, "%x-%x", &l, &h); err == nil {
				inside = l < hi && lo < h
			}
		}
	}
	return n
}

// faults reports whether f touches memory that it may not.
func faults(f func()) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() != nil }()
	f()
	return
}

func TestSealedIsNotWritable(t *testing.T) {
	for _, o := range []SpaceOptions{{Expect: 50_000}, {Expect: 8 << 20}, {Expect: 50_000, NoExec: true}, {Expect: 50_000, Mode: Off}} {
		a := testArena(t, 16*hugePage)
		s := newSpace(t, a, o)
		c, w := newChunk(t, s, 3*4096)
		addr, _ := c.Alloc(3 * 4096)
		poke := func() { *(*byte)(pointer(addr + 5000)) = 1 }
		if faults(poke) {
			t.Fatal("a page being filled is not writable")
		}
		perms := func() string {
			for _, m := range mappingsIn(t, addr, addr+1) {
				return m.perms
			}
			return ""
		}
		before := perms()
		w.Close()
		if err := s.Seal(); err != nil {
			t.Fatal(err)
		}
		want := [2]string{"rw-p", "r-xp"}
		if o.NoExec {
			want[1] = "r--p"
		}
		if o.Mode == Off {
			want = [2]string{"rwxp", "rwxp"}
		}
		if got := [2]string{before, perms()}; got != want {
			t.Errorf("%+v: protection %v, want %v", o, got, want)
		}
		if got := faults(poke); got != (o.Mode != Off) {
			t.Errorf("%+v: write to a sealed page faults: %v", o, got)
		}
		if end := s.Ranges()[0].Hi; !faults(func() { _ = bytes.Clone(bytesAt(end, 1)) }) {
			t.Errorf("%+v: what was given back is still readable", o)
		}
	}
}

// A thousand spaces open at once, then closed in a mixed order, leave the
// arena as it was: one mapping without a page in memory.
func TestThousandSpaces(t *testing.T) {
	const n = 1000
	a := testArena(t, 128*hugePage)
	lo, hi := a.Bounds()
	code := bytes.Repeat([]byte{0x90}, 20_000)
	for round := range 3 {
		spaces := make([]*Space, n)
		for i := range spaces {
			s, err := a.NewSpace(SpaceOptions{Expect: 80_000, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			c, w := newChunk(t, s, len(code))
			addr, _ := c.Alloc(len(code))
			w.Write(addr, code)
			w.Close()
			if err := s.Seal(); err != nil {
				t.Fatal(err)
			}
			spaces[i] = s
		}
		if got := len(mappingsIn(t, lo, hi)); got > 2*n+1 {
			t.Errorf("%d mappings for %d spaces", got, n)
		}
		if got := residentIn(t, lo, hi); got < n*20_000 {
			t.Errorf("%d bytes resident for %d spaces: the test measures nothing", got, n)
		}
		for i := range spaces {
			if err := spaces[(i*7)%n].Free(); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if got := mappingsIn(t, lo, hi); len(got) != 1 || got[0].perms != "---p" {
			t.Fatalf("round %d: mappings left: %v", round, got)
		}
		if a.Available() != int64(hi-lo) {
			t.Fatalf("round %d: available %d of %d", round, a.Available(), hi-lo)
		}
		if got := residentIn(t, lo, hi); got != 0 {
			t.Errorf("round %d: %d bytes still resident", round, got)
		}
	}
}

// The counters agree with what the process did: one mmap and one mprotect a
// space, one mmap for the tail, one to free.
func TestCountersAreExact(t *testing.T) {
	a := testArena(t, 16*hugePage)
	before := Totals()
	s := newSpace(t, a, SpaceOptions{Expect: 6 << 20})
	c, w := newChunk(t, s, 100)
	c.Alloc(100)
	w.Close()
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	if err := s.Free(); err != nil {
		t.Fatal(err)
	}
	got := s.Counters()
	type pair struct{ calls, bytes int64 }
	page := int64(pageSize) // all that is left of the chunk at Close
	for name, c := range map[string]struct {
		got  Counter
		want pair
	}{
		"mmap":        {got.Mmap, pair{3, 6<<20 + (6<<20 - page) + page}},
		"madvise":     {got.Madvise, pair{1, 6 << 20}},
		"mprotect rx": {got.MprotectRX, pair{1, page}},
		"mprotect rw": {got.MprotectRW, pair{0, 0}},
		"mprotect":    {got.MprotectOther, pair{0, 0}},
		"munmap":      {got.Munmap, pair{0, 0}},
	} {
		if (pair{c.got.Calls, c.got.Bytes}) != c.want || c.got.Calls > 0 && c.got.Ns <= 0 {
			t.Errorf("%s: got %+v, want %+v", name, c.got, c.want)
		}
	}
	if d := Totals().Sub(before); d != got || d.Mprotects() != 1 {
		t.Errorf("process %+v, space %+v", d, got)
	}
}

// The system's refusal is an error with its number, and the space can still be
// freed.
func TestSystemError(t *testing.T) {
	err := protect(&ledger{}, 0x1000, pageSize, protRX)
	if want := "code memory: mprotect to r-x of 4 KiB: cannot allocate memory"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
