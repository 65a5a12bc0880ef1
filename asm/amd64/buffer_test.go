package amd64

import (
	"bytes"
	"fmt"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"github.com/wasmjit/wasmjit/internal/asmtest"
)

// newAsm is a buffer with plenty of room.
func newAsm(room int) *Asm {
	a := new(Asm)
	a.Reset(0)
	a.Reserve(room)
	return a
}

// TestPrepend puts a prologue before the body, with a growth in between that
// must keep both.
func TestPrepend(t *testing.T) {
	var a Asm
	for range 2 {
		a.Reset(16)
		a.Reserve(64)
		a.MovRR(S64, RAX, RCX)
		a.Ret()
		end := a.Pos()
		a.Push(RBP)
		a.Reserve(100_000)
		a.MovRR(S64, RBP, RSP)
		if start := a.Prepend(end, 16); start != 12 || a.Pos() != end {
			t.Fatalf("prologue at %d, position %d", start, a.Pos())
		}
		want := []byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xc8, 0xc3}
		if got := a.Bytes(12, end); !bytes.Equal(got, want) {
			t.Fatalf("got % x, want % x", got, want)
		}
	}
	a.Nop(17)
	asmtest.MustPanic(t, "Prepend", errRoom, func() { a.Prepend(a.Pos()-17, 16) })
	asmtest.MustPanic(t, "Prepend", errRoom, func() { a.Prepend(a.Pos()+1, 16) })
	asmtest.MustPanic(t, "Prepend", errRoom, func() { a.Prepend(a.Pos()-1, a.Pos()) })
}

// TestReserveKeeps checks that the code survives growth in small steps.
func TestReserveKeeps(t *testing.T) {
	var a Asm
	a.Reset(7)
	for i := range 20_000 {
		a.Reserve(15)
		a.MovRI64(R9, 1<<40|uint64(i))
	}
	code := a.Bytes(7, a.Pos())
	if len(code) != 200_000 {
		t.Fatalf("%d bytes", len(code))
	}
	for i := range 20_000 {
		want := []byte{0x49, 0xb9, byte(i), byte(i >> 8), 0, 0, 0, 1, 0, 0}
		if got := code[10*i : 10*i+10]; !bytes.Equal(got, want) {
			t.Fatalf("instruction %d: got % x, want % x", i, got, want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { a.Reset(16); a.Reserve(100_000); a.Ret() }); n != 0 {
		t.Errorf("a reused buffer allocates %v times", n)
	}
}

// TestLastByte fills the reserved room to its last byte: the stores of the
// last instruction must stay inside the buffer.
func TestLastByte(t *testing.T) {
	a := newAsm(1)
	for a.Pos() < a.limit-15 {
		a.Nop(1)
	}
	a.Nop(a.limit - 1 - a.Pos())
	a.MovMI(S64, AtIdx(R12, R13, 3, 1<<30), -1)
	if got := a.Pos() + 8; got > len(a.buf) {
		t.Errorf("an 8-byte store after the last instruction ends at %d of %d", got, len(a.buf))
	}
}

// TestStores checks that an encoder writes no byte before its instruction and
// at most 7 after it.
func TestStores(t *testing.T) {
	a := newAsm(64)
	for _, f := range forms {
		p := newPicker(f.method, false)
		for range 200 {
			for i := range 64 {
				a.buf[i] = 0xa5
			}
			a.SetPos(16)
			text := f.emit(a, p)
			for i, b := range a.buf[:64] {
				if b != 0xa5 && (i < 16 || i >= a.pos+7) {
					t.Fatalf("%s: %d bytes, byte %d written", text, a.pos-16, i-16)
				}
			}
		}
	}
}

func TestNop(t *testing.T) {
	for n := range 40 {
		a := newAsm(64)
		a.Nop(n)
		code := a.Bytes(0, a.Pos())
		if len(code) != n {
			t.Fatalf("Nop(%d) takes %d bytes", n, len(code))
		}
		count := 0
		for ; len(code) > 0; count++ {
			inst, err := x86asm.Decode(code, 64)
			if err != nil || inst.Op != x86asm.NOP {
				t.Fatalf("Nop(%d): % x: %v, %v", n, code, inst, err)
			}
			code = code[inst.Len:]
		}
		if want := (n + 8) / 9; count != want {
			t.Errorf("Nop(%d): %d instructions, want %d", n, count, want)
		}
	}
}

// TestRanges checks that what can't be encoded panics.
func TestRanges(t *testing.T) {
	a := newAsm(4096)
	m := At(RAX, 0)
	for _, r := range []Reg{16, 17, 0x7f, NoReg} {
		x := XReg(r)
		for i, fn := range []func(){
			func() { a.AluRR(ADD, S32, r, RAX) },
			func() { a.AluRR(ADD, S32, RAX, r) },
			func() { a.AluRI(ADD, S32, r, 1) },
			func() { a.AluRI(ADD, S64, r, 1000) },
			func() { a.AluRM(ADD, S32, r, m) },
			func() { a.TestRI(S32, r, 1) },
			func() { a.MovRR(S64, r, RAX) },
			func() { a.MovRI32(r, 1) },
			func() { a.MovRI64(r, 1<<31|1<<63) },
			func() { a.MovRM(S32, r, m) },
			func() { a.MovRM(S32, r, AtIdx(NoReg, RCX, 1, 0)) },
			func() { a.MovMR8(m, r) },
			func() { a.LeaRIP(r) },
			func() { a.Xchg(S32, RAX, r) },
			func() { a.Setcc(E, r) },
			func() { a.Cmov(E, S32, r, RAX) },
			func() { a.ShiftCL(SHL, S32, r) },
			func() { a.ShiftX(SHL, S32, RAX, RAX, r) },
			func() { a.ShiftX(SHL, S32, RAX, r, RAX) },
			func() { a.ShiftX(SHL, S32, r, RAX, RAX) },
			func() { a.Rorx(S32, r, RAX, 1) },
			func() { a.Bswap(S32, r) },
			func() { a.Push(r) },
			func() { a.Pop(r) },
			func() { a.CallR(r) },
			func() { a.SseRR(ADDSS, x, XMM0) },
			func() { a.SseRR(ADDSS, XMM0, x) },
			func() { a.SseRM(ADDSS, x, m) },
			func() { a.MovdXR(S32, XMM0, r) },
			func() { a.PsrlImm(S32, x, 1) },
		} {
			asmtest.MustPanic(t, fmt.Sprintf("register %d, case %d", r, i), asmtest.ErrIndex, fn)
		}
	}
	for _, m := range []Mem{
		AtIdx(RAX, RSP, 0, 0), AtIdx(RAX, RCX, 4, 0), AtIdx(RAX, RCX, 0xff, 0),
		{Base: NoReg, Index: RSP}, {Base: NoReg, Index: RAX, Scale: 4},
		{Base: 16, Index: NoReg}, {Base: NoReg, Index: NoReg}, {Base: 17, Index: RAX},
		AtIdx(RAX, 16, 0, 0), AtIdx(NoReg, 16, 0, 0),
	} {
		asmtest.MustPanic(t, fmt.Sprintf("%+v", m), asmtest.ErrIndex, func() { a.MovRM(S32, RAX, m) })
		asmtest.MustPanic(t, fmt.Sprintf("%+v", m), asmtest.ErrIndex, func() { a.MovsdRM(XMM0, m) })
	}
	for i, fn := range []func(){
		func() { a.ShiftRI(SHL, S32, RAX, 32) },
		func() { a.ShiftRI(SHL, S64, RAX, 64) },
		func() { a.Rorx(S32, RAX, RAX, 32) },
		func() { a.Rorx(S64, RAX, RAX, 64) },
		func() { a.PsrlImm(S32, XMM0, 32) },
		func() { a.PsllImm(S64, XMM0, 64) },
		func() { a.PsradImm(XMM0, 32) },
		func() { a.RoundRR(false, XMM0, XMM0, 16) },
		func() { a.CmpssRR(XMM0, XMM0, 8) },
	} {
		asmtest.MustPanic(t, fmt.Sprintf("immediate, case %d", i), errImm, fn)
	}
	for i, fn := range []func(){
		func() { a.ShiftRI(6, S32, RAX, 1) },
		func() { a.ShiftCL(6, S32, RAX) },
		func() { a.ShiftX(ROL, S32, RAX, RAX, RAX) },
	} {
		asmtest.MustPanic(t, fmt.Sprintf("operation, case %d", i), errOp, fn)
	}
	asmtest.MustPanic(t, "SetPos", errRoom, func() { a.SetPos(-1) })
	asmtest.MustPanic(t, "SetPos", errRoom, func() { a.SetPos(1 << 20) })
	asmtest.MustPanic(t, "Reserve", errSize, func() { a.Reserve(maxCode) })
	asmtest.MustPanic(t, "Reserve", errSize, func() { a.Reserve(1<<63 - 1) })
}

func TestNot(t *testing.T) {
	for c, want := range map[Cond]Cond{O: NO, B: AE, E: NE, BE: A, S: NS, P: NP, L: GE, LE: G} {
		if c.Not() != want || want.Not() != c {
			t.Errorf("%d.Not() = %d", c, c.Not())
		}
	}
}
