//go:build linux

package runtime

import (
	"testing"
)

func TestBlocks(t *testing.T) {
	var b blocks
	defer b.close()
	type piece struct{ at, n uintptr }
	var live []piece
	for n := uintptr(1); n <= 64<<10; n = n*2 + 3 {
		for range 3 {
			at, err := b.alloc(n)
			if err != nil {
				t.Fatal(err)
			}
			if at%16 != 0 {
				t.Errorf("alloc(%d) = %#x, not 16-byte aligned", n, at)
			}
			for k, v := range bytesAt(at, n) {
				if v != 0 {
					t.Fatalf("alloc(%d): byte %d is %d", n, k, v)
				}
			}
			for _, p := range live {
				if at < p.at+p.n && p.at < at+n {
					t.Fatalf("alloc(%d) = %#x overlaps %d bytes at %#x", n, at, p.n, p.at)
				}
			}
			live = append(live, piece{at, n})
			for k := range bytesAt(at, n) {
				bytesAt(at, n)[k] = 0xff
			}
		}
	}
	slabs := len(b.slabs)
	for _, p := range live {
		b.release(p.at, p.n)
	}
	if len(b.large) != 0 {
		t.Errorf("%d large pieces left", len(b.large))
	}
	// Released pieces are used again, and zeroed.
	for _, p := range live {
		at, err := b.alloc(p.n)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range bytesAt(at, p.n) {
			if v != 0 {
				t.Fatalf("alloc(%d) after release: byte %d is %d", p.n, k, v)
			}
		}
	}
	if len(b.slabs) != slabs {
		t.Errorf("%d slabs after a round of release and alloc, %d before", len(b.slabs), slabs)
	}
}

func TestRegistry(t *testing.T) {
	var r registry
	for _, at := range []uintptr{0x5000, 0x1000, 0x9000, 0x3000} {
		r.add(at, 0x1000)
	}
	want := map[uintptr]bool{0xfff: false, 0x1000: true, 0x1fff: true, 0x2000: false, 0x3000: true, 0x5800: true, 0x6000: false, 0x9fff: true, 0xa000: false}
	for at, in := range want {
		if lo, ok := r.find(at); ok != in || ok && lo != at&^0xfff {
			t.Errorf("find(%#x) = %#x, %v", at, lo, ok)
		}
	}
	r.remove(0x3000)
	for at, in := range map[uintptr]bool{0x1000: true, 0x3000: false, 0x5000: true} {
		if _, ok := r.find(at); ok != in {
			t.Errorf("after remove: find(%#x) = %v", at, ok)
		}
	}
}

func TestHandles(t *testing.T) {
	var h handles
	objects := make([]*object, 1000)
	ids := make([]uint64, len(objects))
	for k := range objects {
		objects[k] = new(object)
		if ids[k] = h.add(objects[k]); ids[k] == 0 {
			t.Fatal("handle 0 was given out")
		}
	}
	for k, id := range ids {
		if h.get(id) != objects[k] {
			t.Fatalf("get(%d) is another object", id)
		}
	}
	h.remove(ids[7])
	o := new(object)
	if id := h.add(o); id != ids[7] || h.get(id) != o {
		t.Errorf("a freed handle isn't used again: got %d, freed %d", id, ids[7])
	}
}

func TestLife(t *testing.T) {
	var ended []bool
	fresh := func() *life {
		ended = nil
		l := new(life)
		l.end = func(whole bool) { ended = append(ended, whole) }
		return l
	}
	check := func(what string, want ...bool) {
		t.Helper()
		if len(ended) != len(want) || len(want) == 1 && ended[0] != want[0] {
			t.Errorf("%s: ended %v, want %v", what, ended, want)
		}
	}
	l := fresh()
	if !l.enter() {
		t.Error("can't enter while open")
	}
	l.close()
	check("close during a call")
	if l.enter() {
		t.Error("entered after close")
	}
	check("refused entry")
	l.leave()
	check("last leave", false)
	l.close()
	check("second close", false)
	if l.keep() || l.closeStore() {
		t.Error("kept after the end")
	}

	l = fresh()
	for range 2 {
		if !l.keep() {
			t.Error("can't keep while open")
		}
	}
	l.close()
	check("close of what is kept")
	if !l.enter() {
		t.Error("can't enter what is kept")
	}
	if !l.closeStore() {
		t.Error("had ended before the store's close")
	}
	check("store's close during a call")
	if l.enter() {
		t.Error("entered after the store's close")
	}
	l.leave()
	check("last leave after the store's close", true)
}
