package arm64

import (
	"testing"
	"unsafe"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/wasmjit/wasmjit/internal/asmtest"
)

// newAsm is a buffer with plenty of room.
func newAsm(room int, far bool) *Asm {
	a := new(Asm)
	a.Reset(0, far)
	a.Reserve(room)
	return a
}

// target decodes the branch at a position and gives the one it refers to.
func target(t *testing.T, a *Asm, at int) int {
	t.Helper()
	inst, err := arm64asm.Decode(a.buf[at : at+4])
	if err != nil {
		t.Fatalf("at %d: % x: %v", at, a.buf[at:at+4], err)
	}
	for _, arg := range inst.Args {
		if d, ok := arg.(arm64asm.PCRel); ok {
			return at + int(d)
		}
	}
	t.Fatalf("at %d: %v has no relative operand", at, inst)
	return 0
}

func TestLabelSize(t *testing.T) {
	if n := unsafe.Sizeof(Label{}); n != 8 {
		t.Errorf("a Label takes %d bytes", n)
	}
}

// use is a branch of any kind to a label.
func use(a *Asm, kind int, l *Label) {
	switch kind {
	case 0:
		a.JumpL(l)
	case 1:
		a.BCondL(Cond(kind&7), l)
	case 2:
		a.CbzL(true, S64, X7, l)
	case 3:
		a.AdrL(X3, l)
	default:
		a.TbzL(false, X9, 40, l)
	}
}

// TestLabelForward gives a label uses of every kind before it is bound, in
// both forms, with a second list of uses interleaved.
func TestLabelForward(t *testing.T) {
	for _, far := range []bool{false, true} {
		a := newAsm(1<<20, far)
		var l, other Label
		var uses, others []int
		for i := range 3000 {
			if i%7 == 6 {
				others = append(others, a.Pos())
				a.JumpL(&other)
				continue
			}
			kind := i % 5
			use(a, kind, &l)
			uses = append(uses, a.Pos()-4) // the jump of a long form is last
			if far && kind != 0 && kind != 3 && target(t, a, a.Pos()-8) != a.Pos() {
				t.Fatalf("use %d: the opposite branch doesn't skip the jump", i)
			}
			if l.Bound() {
				t.Fatal("bound by a use")
			}
		}
		a.Bind(&l)
		pos := a.Pos()
		a.Nop()
		a.Bind(&other)
		if a.TooFar() || l.Pos() != pos || other.Pos() != pos+4 {
			t.Errorf("too far: %v, bound at %d and %d, want %d and %d", a.TooFar(), l.Pos(), other.Pos(), pos, pos+4)
		}
		for _, at := range uses {
			if to := target(t, a, at); to != pos {
				t.Fatalf("at %d: to %d, want %d", at, to, pos)
			}
		}
		for _, at := range others {
			if to := target(t, a, at); to != pos+4 {
				t.Fatalf("at %d: to %d, want %d", at, to, pos+4)
			}
		}
	}
}

// TestLabelBackward jumps back to a label from within and from beyond each
// kind's reach.
func TestLabelBackward(t *testing.T) {
	for _, tc := range []struct {
		name  string
		kind  int
		reach int
	}{{"b.cond", 1, 1 << 20}, {"cbnz", 2, 1 << 20}, {"tbz", 4, 1 << 15}} {
		for _, d := range []int{0, 4, tc.reach - 4, tc.reach, tc.reach + 4, 3 * tc.reach} {
			a := newAsm(4<<20, false)
			var l Label
			a.Bind(&l)
			a.SetPos(d)
			use(a, tc.kind, &l)
			n := 4
			if d > tc.reach {
				n = 8
			}
			if a.Pos() != d+n || target(t, a, a.Pos()-4) != 0 || a.TooFar() {
				t.Errorf("%s over %d bytes: %d bytes of code to %d", tc.name, d, a.Pos()-d, target(t, a, a.Pos()-4))
			}
		}
	}
}

// TestTooFar binds labels at the last place each short branch reaches and at
// the first that it doesn't.
func TestTooFar(t *testing.T) {
	for _, tc := range []struct {
		kind  int
		reach int
	}{{1, 1 << 20}, {2, 1 << 20}, {4, 1 << 15}} {
		for _, d := range []int{tc.reach - 4, tc.reach} {
			for _, far := range []bool{false, true} {
				a := newAsm(2<<20, far)
				var l Label
				use(a, tc.kind, &l)
				at := a.Pos() - 4
				a.SetPos(at + d)
				a.Bind(&l)
				if want := d == tc.reach && !far; a.TooFar() != want {
					t.Errorf("kind %d over %d bytes, far %v: TooFar %v", tc.kind, d, far, a.TooFar())
				} else if !want && target(t, a, at) != at+d {
					t.Errorf("kind %d over %d bytes, far %v: to %d", tc.kind, d, far, target(t, a, at))
				}
				a.Reset(0, far)
				if a.TooFar() {
					t.Error("TooFar survives Reset")
				}
			}
		}
	}
}

// TestShortReach is the same with a reach that tests of large functions use.
func TestShortReach(t *testing.T) {
	a := newAsm(4096, false)
	a.SetReach(64, 32, 1<<20)
	var l Label
	a.BCondL(EQ, &l)
	a.SetPos(64)
	a.Bind(&l)
	if !a.TooFar() {
		t.Error("64 bytes reached")
	}
	a.Reset(0, false)
	l = Label{}
	a.Bind(&l)
	a.SetPos(68)
	a.BCondL(EQ, &l)
	if a.Pos() != 76 || target(t, a, 72) != 0 {
		t.Error("no long form over 68 bytes")
	}
	a.Reset(0, true)
	at := a.BCondFar(LT)
	a.CbzFar(false, S32, X1)
	a.PatchBranch(at, 4000)
	if target(t, a, at) != 4000 || a.TooFar() {
		t.Error("long form does not reach")
	}
	a.SetReach(64, 32, 64)
	asmtest.MustPanic(t, "jump", errReach, func() { a.PatchBranch(at, 4000) })
}

// TestLongList gives a label uses that are further apart than their own
// fields can tell.
func TestLongList(t *testing.T) {
	a := newAsm(4<<20, false)
	var l Label
	a.JumpL(&l)
	a.SetPos(3 << 20)
	a.BCondL(EQ, &l)
	a.Bind(&l)
	if !a.TooFar() {
		t.Error("a list of uses that can't be told went unnoticed")
	}
	a = newAsm(4<<20, true)
	l = Label{}
	a.JumpL(&l)
	a.SetPos(3 << 20)
	a.BCondL(EQ, &l)
	a.Bind(&l)
	if a.TooFar() || target(t, a, 0) != a.Pos() || target(t, a, a.Pos()-4) != a.Pos() {
		t.Error("long forms don't reach")
	}
}

// TestLinkCall checks the linker's part of a call at both ends of its reach.
func TestLinkCall(t *testing.T) {
	a := newAsm(64, false)
	const most = 1<<26 - 1
	for _, v := range []uint32{0, 1, 999_999, most} {
		at := a.BL(v)
		if got, ok := CallTarget(a.read32(at)); !ok || got != v {
			t.Errorf("value %d read back as %d, %v", v, got, ok)
		}
	}
	asmtest.MustPanic(t, "BL", errImm, func() { a.BL(most + 1) })
	at := a.Pos()
	a.Nop()
	if _, ok := CallTarget(a.read32(at)); ok {
		t.Error("a nop taken for a call")
	}
	for _, tc := range []struct {
		d  int64
		ok bool
	}{{0, true}, {4, true}, {-4, true}, {1<<27 - 4, true}, {1 << 27, false}, {-1 << 27, true}, {-1<<27 - 4, false}, {2, false}, {1 << 40, false}} {
		w, ok := LinkCall(tc.d)
		if ok != tc.ok {
			t.Errorf("distance %d: %v", tc.d, ok)
		}
		if !ok {
			continue
		}
		a.write32(0, w)
		if got := int64(target(t, a, 0)); got != tc.d {
			t.Errorf("distance %d linked as %d", tc.d, got)
		}
	}
}

// TestLinkFarCall does the same for far calls.
func TestLinkFarCall(t *testing.T) {
	a := newAsm(64, false)
	for _, v := range []uint32{0, 1, 4095, 4096, 999_999, 1<<32 - 1} {
		at := a.CallFar(X16, v)
		if got, ok := FarCallTarget(a.read32(at), a.read32(at+4)); !ok || got != v {
			t.Errorf("value %d read back as %d, %v", v, got, ok)
		}
	}
	if _, ok := FarCallTarget(a.read32(4), a.read32(8)); ok {
		t.Error("add and blr taken for a far call")
	}
	adrp, add := a.read32(0), a.read32(4)
	for _, tc := range []struct {
		at, target uint64
		ok         bool
	}{
		{0x1000, 0x1000, true}, {0x1ffc, 0x2000, true}, {0x2000, 0x1ff0, true}, {0x5000_0000_1234, 0x5000_7fff_fff0, true},
		{1 << 40, 1<<40 + 1<<32 - 4096, true}, {1 << 40, 1<<40 + 1<<32, false}, {1 << 40, 1<<40 - 1<<32, true}, {1 << 40, 1<<40 - 1<<32 - 4, false},
	} {
		x, y, ok := LinkFarCall(adrp, add, tc.at, tc.target)
		if ok != tc.ok {
			t.Errorf("from %#x to %#x: %v", tc.at, tc.target, ok)
		}
		if !ok {
			continue
		}
		a.write32(0, x)
		pages := int64(target(t, a, 0))
		if got := tc.at&^0xfff + uint64(pages) + uint64(y>>10&0xfff); got != tc.target || x&31 != 16 || y&0x3ff != 16<<5|16 {
			t.Errorf("from %#x to %#x: linked to %#x", tc.at, tc.target, got)
		}
	}
}
