//go:build linux

package runtime

import (
	"slices"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

func newTable(t *testing.T, s *Store, elem decoder.Type, l decoder.Limits) *Table {
	t.Helper()
	tab, err := s.NewTable(decoder.TableType{Elem: elem, Limits: l}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func contents(tab *Table) []uint64 {
	var all []uint64
	for k := range tab.Len() {
		v, _ := tab.Get(k)
		all = append(all, v)
	}
	return all
}

func TestTable(t *testing.T) {
	s := newStore(t, Config{})
	tab := newTable(t, s, decoder.ExternRef, between(2, 2000))
	base := tab.base
	a, b := s.NewExternRef("a"), s.NewExternRef(2)
	if !tab.Set(0, a) || !tab.Set(1, b) || tab.Set(2, a) || tab.Set(1<<63, a) {
		t.Error("Set has the wrong bounds")
	}
	if v, ok := tab.Get(1); !ok || s.ExternValue(v) != 2 {
		t.Errorf("Get(1) = %d, %v", v, ok)
	}
	if _, ok := tab.Get(2); ok {
		t.Error("Get beyond the end")
	}
	if old, ok := tab.Grow(1500, b); old != 2 || !ok {
		t.Fatalf("Grow = %d, %v", old, ok)
	}
	if v, ok := tab.Get(1501); !ok || v != b {
		t.Error("new entries aren't set")
	}
	for _, delta := range []uint64{499, 1 << 32, 1<<64 - 1} {
		if old, ok := tab.Grow(delta, 0); old != 1502 || ok {
			t.Errorf("Grow(%d) beyond the maximum = %d, %v", delta, old, ok)
		}
	}
	if tab.base != base || *word(tab.record + liftoff.TableRecBase) != uint64(base) || *word(tab.record + liftoff.TableRecLen) != 1502 {
		t.Error("the table moved or its record disagrees")
	}
	s.Close()
	if _, ok := tab.Get(0); ok || tab.Len() != 0 || tab.Set(0, 0) {
		t.Error("the table outlives its store")
	}
	if _, ok := tab.Grow(0, 0); ok {
		t.Error("the table grew after its store's close")
	}
}

func TestTableLimits(t *testing.T) {
	s := newStore(t, Config{})
	for _, l := range []decoder.Limits{atLeast(decoder.MaxTableSize + 1), between(2, 1)} {
		if _, err := s.NewTable(decoder.TableType{Elem: decoder.FuncRef, Limits: l}, 0); err == nil {
			t.Errorf("a table with limits %+v was made", l)
		}
	}
	if _, err := s.NewTable(decoder.TableType{Elem: decoder.I32}, 0); err == nil {
		t.Error("a table of i32 was made")
	}
	tab := newTable(t, s, decoder.FuncRef, atLeast(0))
	if _, ok := tab.Grow(decoder.MaxTableSize+1, 0); ok {
		t.Error("grew beyond the limit")
	}
	if old, ok := tab.Grow(decoder.MaxTableSize, 0); old != 0 || !ok {
		t.Errorf("Grow up to the limit = %d, %v", old, ok)
	}
}

func TestTableFuncs(t *testing.T) {
	s := newStore(t, Config{})
	tab := newTable(t, s, decoder.FuncRef, atLeast(2))
	f := s.NewFunc(decoder.FuncType{}, nil)
	ref := s.FuncRef(f)
	if ref == 0 || s.FuncOf(ref) != f || s.FuncRef(f) != ref {
		t.Fatal("a function isn't the one its reference names")
	}
	if !tab.Set(0, ref) || tab.Set(1, ref+8) || tab.Set(1, 1) {
		t.Error("Set takes what is no reference")
	}
	if _, ok := tab.Grow(1, 12345); ok || tab.fill(0, 0, 3) {
		t.Error("Grow takes what is no reference, or fill more than there is")
	}
	if got := contents(tab); !slices.Equal(got, []uint64{ref, 0}) {
		t.Errorf("contents %x", got)
	}
	other := newStore(t, Config{})
	if other.FuncRef(f) != 0 || other.FuncOf(ref) != nil {
		t.Error("a function has a reference in another store")
	}
	if s.FuncRef(nil) != 0 || s.FuncOf(0) != nil || s.ExternValue(0) != nil || s.ExternValue(99) != nil {
		t.Error("null isn't null")
	}
}

func TestTableCopy(t *testing.T) {
	s := newStore(t, Config{})
	fill := func(tab *Table, from uint64) {
		for k := range tab.Len() {
			tab.setEntry(k, from+k)
		}
	}
	a, b := newTable(t, s, decoder.ExternRef, atLeast(6)), newTable(t, s, decoder.ExternRef, atLeast(4))
	for _, c := range []struct {
		to, from    *Table
		dst, src, n uint64
		want        []uint64 // of to, nil if it must fail
	}{
		{a, a, 1, 0, 5, []uint64{10, 10, 11, 12, 13, 14}},
		{a, a, 0, 1, 5, []uint64{11, 12, 13, 14, 15, 15}},
		{a, a, 2, 2, 4, []uint64{10, 11, 12, 13, 14, 15}},
		{a, b, 2, 0, 4, []uint64{10, 11, 20, 21, 22, 23}},
		{b, a, 0, 2, 4, []uint64{12, 13, 14, 15}},
		{a, b, 6, 4, 0, []uint64{10, 11, 12, 13, 14, 15}},
		{a, b, 7, 4, 0, nil},
		{a, b, 0, 5, 0, nil},
		{a, b, 3, 0, 4, nil},
		{a, b, 0, 1, 4, nil},
		{a, b, 1<<32 - 1, 0, 1, nil},
	} {
		fill(a, 10)
		fill(b, 20)
		ok := tableCopy(c.to, c.from, c.dst, c.src, c.n)
		if ok != (c.want != nil) {
			t.Errorf("copy(%d, %d, %d) = %v", c.dst, c.src, c.n, ok)
		}
		if ok && !slices.Equal(contents(c.to), c.want) {
			t.Errorf("copy(%d, %d, %d): %d, want %d", c.dst, c.src, c.n, contents(c.to), c.want)
		}
	}
}

func TestGlobal(t *testing.T) {
	s := newStore(t, Config{})
	g := s.NewGlobal(decoder.GlobalType{Type: decoder.I32, Mutable: true}, 1<<40|5)
	if g.Get() != 5 {
		t.Errorf("an i32 global holds %#x", g.Get())
	}
	if err := g.Set(0xffff_ffff_8000_0000); err != nil || *word(g.cell) != 0x8000_0000 {
		t.Errorf("the cell holds %#x (%v)", *word(g.cell), err)
	}
	fixed := s.NewGlobal(decoder.GlobalType{Type: decoder.I64}, 1<<40)
	if fixed.Set(1) == nil || fixed.Get() != 1<<40 {
		t.Error("an immutable global was set")
	}
	fn := s.NewGlobal(decoder.GlobalType{Type: decoder.FuncRef, Mutable: true}, 0)
	if fn.Set(77) == nil || fn.Get() != 0 {
		t.Error("a global took what is no reference")
	}
	ref := s.FuncRef(s.NewFunc(decoder.FuncType{}, nil))
	if err := fn.Set(ref); err != nil || fn.Get() != ref {
		t.Errorf("a function global holds %#x, not %#x (%v)", fn.Get(), ref, err)
	}
	mustPanic(t, "NewGlobal of no reference", func() { s.NewGlobal(decoder.GlobalType{Type: decoder.FuncRef}, 77) })
	s.Close()
	if g.Get() != 0 || g.Set(1) == nil {
		t.Error("a global outlives its store")
	}
	mustPanic(t, "NewGlobal in a closed store", func() { s.NewGlobal(decoder.GlobalType{Type: decoder.I32}, 0) })
}
