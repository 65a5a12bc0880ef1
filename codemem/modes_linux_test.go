package codemem

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// modesHere gives the modes that this machine has.
func modesHere() (modes []Mode) {
	for _, m := range []Mode{Off, Fine, Hoisted, Seal, Dual, PKU} {
		if Check(m) == nil {
			modes = append(modes, m)
		}
	}
	return modes
}

func patchedSpace(t *testing.T, mode Mode, slots int) *Space {
	t.Helper()
	return newSpace(t, testArena(t, 64*hugePage), SpaceOptions{Mode: mode, Expect: 200_000, Patched: true, Slots: slots})
}

func open(t *testing.T, s *Space, h *Holder, site Site) *WriteScope {
	t.Helper()
	w, err := s.Open(h, site, "test")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func closeScope(t *testing.T, w *WriteScope) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// addCode adds one batch with the given functions.
func addCode(t *testing.T, s *Space, h *Holder, functions ...[]byte) (at []uintptr) {
	t.Helper()
	w := open(t, s, h, SiteBatch)
	need := 0
	for _, f := range functions {
		need += int(alignUp(uintptr(len(f)), funcAlign))
	}
	c, err := w.Reserve(need)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range functions {
		in, err := w.Enter(SiteFunction, "test.one")
		if err != nil {
			t.Fatal(err)
		}
		addr, ok := c.Alloc(len(f))
		if !ok {
			t.Fatal("no room in a batch")
		}
		in.Write(addr, f)
		if err := w.Exit(in); err != nil {
			t.Fatal(err)
		}
		at = append(at, addr)
	}
	closeScope(t, w)
	return at
}

// patch aims slot i at target.
func patch(t *testing.T, s *Space, h *Holder, i int, target uintptr) {
	t.Helper()
	s.Hold(h)
	defer s.Unhold()
	w := open(t, s, h, SitePublish)
	in, err := w.Enter(SitePatch, "test.patch")
	if err != nil {
		t.Fatal(err)
	}
	if err := in.PatchSlot(i, target); err != nil {
		t.Fatal(err)
	}
	if err := w.Exit(in); err != nil {
		t.Fatal(err)
	}
	closeScope(t, w)
}

// returns is code for amd64 that returns n.
func returns(n byte) []byte { return []byte{0xb8, n, 0, 0, 0, 0xc3} }

// Every mode takes code through batch, slot, publication, replacing and
// freeing; what no function owns is traps, and what is executable can't be
// written outside of scopes, but in mode Off.
func TestModes(t *testing.T) {
	for _, mode := range modesHere() {
		s := patchedSpace(t, mode, 3)
		h := NewHolder()
		at := addCode(t, s, h, returns(1), returns(2))
		for i, a := range at {
			patch(t, s, h, i, a)
		}
		if err := s.Publish(); err != nil {
			t.Fatal(mode, err)
		}
		check := func(when string, a uintptr, want byte) {
			t.Helper()
			if got := s.Read(a, 6); !bytes.Equal(got, returns(want)) {
				t.Fatalf("%v, %s: code is %x", mode, when, got)
			}
			if mode != PKU && !bytes.Equal(bytesAt(a, 6), returns(want)) {
				t.Fatalf("%v, %s: the views differ", mode, when)
			}
			for _, b := range s.Read(a+6, funcAlign-6) {
				if b != trapByte {
					t.Fatalf("%v, %s: unowned byte %#x", mode, when, b)
				}
			}
			if got := faults(func() { *(*byte)(pointer(a)) = 0xb8 }); got != (mode != Off) {
				t.Errorf("%v, %s: writing code faults: %v", mode, when, got)
			}
			if got := faults(func() { *(*byte)(pointer(s.Slot(2))) = trapByte }); got != (mode != Off) {
				t.Errorf("%v, %s: writing a slot faults: %v", mode, when, got)
			}
		}
		check("published", at[0], 1)
		if s.SlotTarget(0) != at[0] || s.SlotTarget(1) != at[1] || s.SlotTarget(2) != 0 {
			t.Errorf("%v: slots lead to %#x, %#x, %#x", mode, s.SlotTarget(0), s.SlotTarget(1), s.SlotTarget(2))
		}
		if !mode.Patchable() {
			_, err := s.Open(h, SiteBatch, "test")
			var refused *ModeError
			if !errors.As(err, &refused) {
				t.Errorf("%v: opening a scope in a sealed space: %v", mode, err)
			}
			continue
		}
		later := addCode(t, s, h, returns(3))
		patch(t, s, h, 0, later[0])
		check("replaced", later[0], 3)
		check("replaced", at[1], 2)
		s.Hold(h)
		w := open(t, s, h, SiteFree)
		for _, a := range []uintptr{at[0], later[0]} {
			in, err := w.Enter(SiteFreeOne, "test.free")
			if err != nil {
				t.Fatal(err)
			}
			if err := in.FreeCode(a, 6); err != nil {
				t.Fatal(err)
			}
			mustPanic(t, "where no function starts", func() { _ = in.FreeCode(a, 6) })
			if err := w.Exit(in); err != nil {
				t.Fatal(err)
			}
		}
		closeScope(t, w)
		s.Unhold()
		if !mode.Switching() && !faults(func() { _ = bytes.Clone(bytesAt(later[0], 1)) }) {
			t.Errorf("%v: the page of a freed batch is still readable", mode)
		}
		if mode == Dual {
			check("freed", at[0], 1) // its page holds another function
		} else if got := s.Read(at[0], 6); !bytes.Equal(got, bytes.Repeat([]byte{trapByte}, 6)) {
			t.Errorf("%v: freed code is %x", mode, got)
		}
		check("freed", at[1], 2)
		if err := s.Seal(); err != nil {
			t.Fatal(mode, err)
		}
		check("sealed", at[1], 2)
		if _, err := s.Open(h, SitePublish, "test"); err == nil {
			t.Errorf("%v: a scope in a sealed space", mode)
		}
	}
}

// All writes go through scopes that the policy counts: in the switching modes
// code is writable as long as one of them is open, and no longer; the nested
// ones only count.
func TestWriterCount(t *testing.T) {
	for _, mode := range []Mode{Fine, Hoisted} {
		if Check(mode) != nil {
			t.Skip("no writable and executable memory here")
		}
		s := patchedSpace(t, mode, 1)
		h, other := NewHolder(), NewHolder()
		code := addCode(t, s, h, returns(1))[0]
		writable := func() bool { return !faults(func() { *(*byte)(pointer(code)) = 0xb8 }) }
		calls := func() int64 { return s.Counters().OnCode() }
		if writable() {
			t.Fatalf("%v: code is writable outside of scopes", mode)
		}
		before := calls()
		a := open(t, s, h, SiteBatch)
		if !writable() || calls() != before+1 {
			t.Fatalf("%v: opening the first scope: writable %v, %d calls", mode, writable(), calls()-before)
		}
		b := open(t, s, other, SiteBatch)
		in, err := b.Enter(SiteFunction, "test.one")
		if err != nil {
			t.Fatal(err)
		}
		if (in != b) != (mode == Fine) {
			t.Errorf("%v: a scope of its own for a function: %v", mode, in != b)
		}
		closeScope(t, a)
		if err := b.Exit(in); err != nil {
			t.Fatal(err)
		}
		if !writable() || calls() != before+1 {
			t.Fatalf("%v: under the second scope: writable %v, %d calls", mode, writable(), calls()-before)
		}
		closeScope(t, b)
		if writable() || calls() != before+2 {
			t.Fatalf("%v: after the last scope: writable %v, %d calls", mode, writable(), calls()-before)
		}
		bytesBefore := s.Counters().MprotectRX.Bytes
		addCode(t, s, h, returns(1))
		if got, want := s.Counters().MprotectRX.Bytes-bytesBefore, int64(3*pageSize); got != want {
			t.Errorf("%v: a switch covers %d bytes, want %d: table and two batches", mode, got, want)
		}
		for _, m := range mappingsIn(t, code, code+1) {
			if m.perms != "r-xp" {
				t.Errorf("%v: code is %s", mode, m.perms)
			}
		}
		nested := int64(1)
		if mode == Fine {
			nested = 4 // a's was first; b and its inner one; those of addCode's functions
		}
		var got int64
		for _, acc := range s.Accounts() {
			got += acc.Nested
		}
		if got != nested {
			t.Errorf("%v: %d nested scopes, want %d", mode, got, nested)
		}
	}
}

// Auto is the mode that protects best, and what a machine or a space can't have
// is refused with a reason.
func TestResolve(t *testing.T) {
	for _, patched := range []bool{false, true} {
		want := Seal
		if patched {
			want = Dual
		}
		if Check(want) != nil {
			continue
		}
		if got, err := Resolve(Auto, patched); got != want || err != nil {
			t.Errorf("auto, patched %v: %v, %v", patched, got, err)
		}
	}
	a := testArena(t, 4*hugePage)
	for _, mode := range []Mode{Fine, Hoisted} {
		_, err := a.NewSpace(SpaceOptions{Mode: mode})
		var refused *ModeError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "published through slots") {
			t.Errorf("%v without slots: %v", mode, err)
		}
	}
	if err := Check(PKU); err != nil {
		_, got := a.NewSpace(SpaceOptions{Mode: PKU})
		if got == nil || got.Error() != err.Error() {
			t.Errorf("a space in a mode that isn't available: %v, want %v", got, err)
		}
	}
	if a.Available() != 4*hugePage {
		t.Error("a space that couldn't be had left something")
	}
}
