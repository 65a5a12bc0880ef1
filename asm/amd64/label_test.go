package amd64

import (
	"testing"
	"unsafe"

	"golang.org/x/arch/x86/x86asm"

	"github.com/wasmjit/wasmjit/internal/asmtest"
)

// target decodes the branch or lea at a position and gives its length and the
// position it refers to.
func target(t *testing.T, a *Asm, at int) (n, to int) {
	t.Helper()
	inst, err := x86asm.Decode(a.buf[at:at+15], 64)
	if err != nil {
		t.Fatalf("at %d: % x: %v", at, a.buf[at:at+15], err)
	}
	for _, arg := range inst.Args {
		switch arg := arg.(type) {
		case x86asm.Rel:
			return inst.Len, at + inst.Len + int(arg)
		case x86asm.Mem:
			if arg.Base == x86asm.RIP {
				return inst.Len, at + inst.Len + int(arg.Disp)
			}
		}
	}
	t.Fatalf("at %d: %v has no relative operand", at, inst)
	return
}

func checkTarget(t *testing.T, a *Asm, at, wantLen, want int) {
	t.Helper()
	if n, to := target(t, a, at); n != wantLen || to != want {
		t.Errorf("at %d: %d bytes to %d, want %d bytes to %d", at, n, to, wantLen, want)
	}
}

func TestLabelSize(t *testing.T) {
	if n := unsafe.Sizeof(Label{}); n != 8 {
		t.Errorf("a Label takes %d bytes", n)
	}
}

// TestLabelForward gives a label uses of every kind before it is bound.
func TestLabelForward(t *testing.T) {
	a := newAsm(1 << 20)
	var l, other Label
	type use struct{ at, n int }
	var uses []use
	for i := range 10_000 {
		at := a.Pos()
		switch i % 4 {
		case 0:
			a.JmpL(&l)
		case 1:
			a.JccL(Cond(i>>2&15), &l)
		case 2:
			a.LeaL(Reg(i>>2&15), &l)
		default:
			a.JmpL(&other) // a second list interleaved with the first
			continue
		}
		uses = append(uses, use{at, a.Pos() - at})
		if l.Bound() {
			t.Fatal("bound by a use")
		}
	}
	a.Bind(&l)
	pos := a.Pos()
	a.Nop(300)
	a.Bind(&other)
	if !l.Bound() || l.Pos() != pos || other.Pos() != pos+300 {
		t.Errorf("bound at %d and %d, want %d and %d", l.Pos(), other.Pos(), pos, pos+300)
	}
	for _, u := range uses {
		checkTarget(t, a, u.at, u.n, pos)
	}
	// The first use of the second list follows those of three other kinds.
	checkTarget(t, a, uses[2].at+uses[2].n, 5, pos+300)
}

// TestLabelAtStart binds at position 0 of a buffer without headroom.
func TestLabelAtStart(t *testing.T) {
	a := newAsm(64)
	var l Label
	a.Bind(&l)
	if !l.Bound() || l.Pos() != 0 {
		t.Fatalf("bound %v at %d", l.Bound(), l.Pos())
	}
	a.JmpL(&l)
	checkTarget(t, a, 0, 2, 0)
}

// TestLabelBackward puts uses at the distances around the reach of rel8.
func TestLabelBackward(t *testing.T) {
	for fill := range 300 {
		a := newAsm(1024)
		var l Label
		a.Nop(10)
		a.Bind(&l)
		a.Nop(fill)
		at := a.Pos()
		a.JmpL(&l)
		short := fill+2 <= 128
		checkTarget(t, a, at, size(short, 5), 10)
		a.SetPos(at)
		a.JccL(LE, &l)
		checkTarget(t, a, at, size(short, 6), 10)
		a.SetPos(at)
		a.LeaL(R10, &l)
		checkTarget(t, a, at, 7, 10)
	}
}

// size is that of a jump in its short form, or else in the long one.
func size(short bool, long int) int {
	if short {
		return 2
	}
	return long
}

// TestBackToKnown jumps forward, too, to positions known from elsewhere.
func TestBackToKnown(t *testing.T) {
	for d := -140; d <= 140; d++ {
		a := newAsm(1024)
		a.Nop(200)
		a.JmpBack(200 + d)
		checkTarget(t, a, 200, size(-126 <= d && d <= 129, 5), 200+d)
		a.SetPos(200)
		a.JccBack(NE, 200+d)
		checkTarget(t, a, 200, size(-126 <= d && d <= 129, 6), 200+d)
	}
}

func TestPatch(t *testing.T) {
	a := newAsm(1 << 10)
	at := a.JmpShort()
	a.Nop(127)
	a.PatchShort(at)
	checkTarget(t, a, 0, 2, 129)
	a.Nop(1)
	asmtest.MustPanic(t, "PatchShort", errReach, func() { a.PatchShort(at) })
	from := a.Pos()
	at = a.JccShort(NE)
	a.SetPos(from + 2 - 128)
	a.PatchShort(at)
	checkTarget(t, a, from, 2, from-126)
	a.SetPos(from + 2 - 129)
	asmtest.MustPanic(t, "PatchShort", errReach, func() { a.PatchShort(at) })

	a.SetPos(0)
	for _, emit := range []func() int{
		a.CallRel, a.JmpRel, func() int { return a.Jcc(L) }, func() int { return a.LeaRIP(R12) },
	} {
		for _, d := range []int{0, 100, -100, 1<<31 - 1, -1 << 31} {
			from := a.Pos()
			at := emit()
			end := a.Pos()
			checkTarget(t, a, from, end-from, end)
			a.PatchRel32(at, end+d)
			checkTarget(t, a, from, end-from, end+d)
			for _, far := range []int{1 << 31, -1<<31 - 1, 1 << 40} {
				asmtest.MustPanic(t, "PatchRel32", errReach, func() { a.PatchRel32(at, end+far) })
			}
			checkTarget(t, a, from, end-from, end+d)
		}
	}
	asmtest.MustPanic(t, "JmpBack", errReach, func() { a.JmpBack(1 << 33) })
	asmtest.MustPanic(t, "JccBack", errReach, func() { a.JccBack(E, -1<<33) })
}

func TestLabelMisuse(t *testing.T) {
	a := newAsm(64)
	var l Label
	asmtest.MustPanic(t, "Pos", errUnbound, func() { l.Pos() })
	a.Bind(&l)
	asmtest.MustPanic(t, "Bind", errBound, func() { a.Bind(&l) })
}
