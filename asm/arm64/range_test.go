package arm64

import (
	"math"
	"testing"

	"github.com/wasmjit/wasmjit/internal/asmtest"
)

// TestRanges calls encoders with the first value beyond every limit.
func TestRanges(t *testing.T) {
	a := newAsm(4096, false)
	var unbound Label
	bound := Label{pos: 1}
	for _, tc := range []struct {
		name string
		want error
		fn   func()
	}{
		{"register 32", asmtest.ErrIndex, func() { a.MovRR(S64, 32, X0) }},
		{"vector register 32", asmtest.ErrIndex, func() { a.MovV(V0, 32) }},
		{"add 4097", errImm, func() { a.AddI(ADD, S64, X0, X0, 4097) }},
		{"add 2^24", errImm, func() { a.AddI(ADD, S64, X0, X0, 1<<24) }},
		{"add of and", errOp, func() { a.AddI(AND, S64, X0, X0, 1) }},
		{"logical 0", errImm, func() { a.LogicI(AND, S64, X0, X0, 0) }},
		{"logical -1", errImm, func() { a.LogicI(AND, S32, X0, X0, 1<<32-1) }},
		{"logical, upper half", errImm, func() { a.LogicI(AND, S32, X0, X0, 1<<32) }},
		{"logical bic", errOp, func() { a.LogicI(BIC, S64, X0, X0, 1) }},
		{"shift of 32", errImm, func() { a.ShiftI(LSL, S32, X0, X0, 32) }},
		{"shift of 64", errImm, func() { a.ShiftI(ASR, S64, X0, X0, 64) }},
		{"operand shift of 32", errImm, func() { a.AluShift(ADD, S32, X0, X0, X0, LSL, 32) }},
		{"operand ror of add", errImm, func() { a.AluShift(ADD, S32, X0, X0, X0, ROR, 1) }},
		{"extension by 5", errOp, func() { a.AluExt(ADD, S64, X0, X0, X0, UXTW, 5) }},
		{"extension of and", errOp, func() { a.AluExt(AND, S64, X0, X0, X0, UXTW, 0) }},
		{"movk lane 2 of w", errImm, func() { a.MovI(MOVK, S32, X0, 1, 2) }},
		{"movk lane 4", errImm, func() { a.MovI(MOVK, S64, X0, 1, 4) }},
		{"sxtw to w", errImm, func() { a.SignExt(S32, X0, X0, 32) }},
		{"cset al", errOp, func() { a.Cset(AL, S32, X0) }},
		{"ccmp 32", errImm, func() { a.CcmpI(EQ, S32, X0, 32, 0) }},
		{"ccmp nzcv 16", errImm, func() { a.CcmpI(EQ, S32, X0, 0, 16) }},
		{"fccmp nzcv 16", errImm, func() { a.Fccmp(EQ, true, V0, V0, 16) }},
		{"fmov 0", errImm, func() { a.FmovI(true, V0, 0) }},
		{"fmov 0.1", errImm, func() { a.FmovI(true, V0, 0x3fb999999999999a) }},
		{"ldr 4096*8", errImm, func() { a.LdSt(LDRX, X0, X1, 4096*8) }},
		{"ldr 257", errImm, func() { a.LdSt(LDRX, X0, X1, 257) }},
		{"ldr -257", errImm, func() { a.LdSt(LDRX, X0, X1, -257) }},
		{"ldrb 4096", errImm, func() { a.LdSt(LDRB, X0, X1, 4096) }},
		{"pre-indexed 256", errImm, func() { a.LdStPre(LDRX, X0, X1, 256) }},
		{"post-indexed -257", errImm, func() { a.LdStPost(LDRX, X0, X1, -257) }},
		{"ldp 512", errImm, func() { a.LdStPair(LDPX, X0, X1, X2, 512) }},
		{"ldp -520", errImm, func() { a.LdStPair(LDPX, X0, X1, X2, -520) }},
		{"ldp 4", errImm, func() { a.LdStPair(LDPX, X0, X1, X2, 4) }},
		{"tbz 64", errImm, func() { a.Tbz(false, X0, 64) }},
		{"b to 2 mod 4", errImm, func() { a.PatchBranch(a.B(), 2) }},
		{"adr 1 MiB", errReach, func() { at := a.Adr(X0); a.PatchBranch(at, at+1<<20) }},
		{"b 128 MiB", errReach, func() { at := a.B(); a.PatchBranch(at, at+1<<27) }},
		{"patch of no branch", errOp, func() { a.Nop(); a.PatchBranch(a.Pos()-4, 0) }},
		{"adrp 4 GiB", errImm, func() { a.Adrp(X0, 1<<20) }},
		{"adrp -4 GiB - 4 KiB", errImm, func() { a.Adrp(X0, -1<<20-1) }},
		{"b.al", errOp, func() { a.BCondL(AL, &unbound) }},
		{"bound twice", errBound, func() { a.Bind(&bound) }},
		{"position of an unbound label", errUnbound, func() { unbound.Pos() }},
		{"odd headroom", errImm, func() { a.Reset(6, false) }},
		{"odd position", errRoom, func() { a.SetPos(2) }},
		{"position beyond the buffer", errRoom, func() { a.SetPos(1 << 20) }},
		{"2 GiB", errSize, func() { a.Reserve(2 << 30) }},
	} {
		asmtest.MustPanic(t, tc.name, tc.want, tc.fn)
	}
}

// TestLogicalImmediates compares the encoder with an enumeration of every
// pattern there is, and with neighbours of each.
func TestLogicalImmediates(t *testing.T) {
	valid := map[uint64]bool{}
	for size := 2; size <= 64; size *= 2 {
		for ones := 1; ones < size; ones++ {
			for rot := range size {
				valid[bitMask(size, ones, rot)] = true
			}
		}
	}
	if len(valid) != 5334 {
		t.Fatalf("%d patterns enumerated, there are 5334", len(valid))
	}
	for v := range valid {
		f, ok := logicalField(S64, v)
		if !ok {
			t.Fatalf("%#x has no encoding", v)
		}
		if got := decodeLogical(f); got != v {
			t.Fatalf("%#x encoded as %#x", v, got)
		}
		if lo := v & (1<<32 - 1); v>>32 == lo {
			f, ok := logicalField(S32, lo)
			if !ok || f>>22 != 0 || decodeLogical(f) != v {
				t.Fatalf("%#x, 32 bits: field %#x, %v", lo, f, ok)
			}
		}
		for bit := range 64 {
			if w := v ^ 1<<bit; FitsLogical(S64, w) != valid[w] {
				t.Fatalf("%#x: encodable %v, want %v", w, !valid[w], valid[w])
			}
		}
	}
	for v := range uint64(1 << 16) {
		w := v | v<<16
		if FitsLogical(S32, w) != valid[w|w<<32] {
			t.Fatalf("%#x, 32 bits: want %v", w, valid[w|w<<32])
		}
	}
}

// bitMask repeats an element of size bits with a run of ones, rotated to the
// right.
func bitMask(size, ones, rot int) uint64 {
	run := uint64(1)<<ones - 1
	elem := run>>rot | run<<(size-rot)
	if size < 64 {
		elem &= 1<<size - 1
	}
	v := uint64(0)
	for at := 0; at < 64; at += size {
		v |= elem << at
	}
	return v
}

// decodeLogical is DecodeBitMasks of the Arm ARM.
func decodeLogical(f uint32) uint64 {
	n, immr, imms := f>>22&1, f>>16&63, f>>10&63
	size := uint32(64)
	if n == 0 {
		size = 32
		for imms&size != 0 {
			size /= 2
		}
	}
	return bitMask(int(size), int(imms&(size-1)+1), int(immr&(size-1)))
}

// expandFloat is the number that the 8 bits of an FMOV immediate stand for, by
// the formula of the manual: (-1)^s * (16+f)/16 * 2^e.
func expandFloat(imm uint8) float64 {
	e := int(imm>>4&7^4) - 3
	v := math.Ldexp(float64(16+imm&15), e-4)
	if imm&0x80 != 0 {
		v = -v
	}
	return v
}

func floatBits(double bool, v float64) uint64 {
	if double {
		return math.Float64bits(v)
	}
	return uint64(math.Float32bits(float32(v)))
}

// TestFloatImmediates: there are 256 of each width, and no others among their
// neighbours.
func TestFloatImmediates(t *testing.T) {
	for _, double := range []bool{false, true} {
		valid := map[uint64]bool{}
		for i := range 256 {
			valid[floatBits(double, expandFloat(uint8(i)))] = true
		}
		if len(valid) != 256 {
			t.Fatalf("%d numbers", len(valid))
		}
		for v := range valid {
			for bit := range 64 {
				if w := v ^ 1<<bit; FitsFloat(double, w) != valid[w] {
					t.Fatalf("double %v, %#x: encodable %v, want %v", double, w, !valid[w], valid[w])
				}
			}
			if !FitsFloat(double, v) {
				t.Fatalf("double %v: %#x has no encoding", double, v)
			}
		}
	}
}

// TestFits: what Fits promises, the encoders take, and nothing next to it.
func TestFits(t *testing.T) {
	a := newAsm(1<<20, false)
	takes := func(fn func()) (ok bool) {
		defer func() { ok = recover() == nil }()
		fn()
		return
	}
	for _, x := range accesses {
		n := int64(1) << x.op.Log2()
		for _, off := range []int64{-257, -256, -1, 0, 1, n - 1, n, 255, 256, 257, 256 * n, 4095 * n, 4095*n + 1, 4096 * n} {
			if got := takes(func() { a.LdSt(x.op, X0, X1, int32(off)) }); got != x.op.FitsOffset(off) {
				t.Errorf("%s %s at %d: encoder %v, FitsOffset %v", x.name, x.prefix, off, got, x.op.FitsOffset(off))
			}
		}
	}
	for _, v := range []uint64{0, 1, 4095, 4096, 4097, 8192, 0xfff000, 0x1000000, 1 << 32} {
		if got := takes(func() {
			if v > 1<<31 {
				panic(errImm)
			}
			a.AddI(ADD, S64, X0, X0, uint32(v))
		}); got != FitsArith(v) {
			t.Errorf("%#x: encoder %v, FitsArith %v", v, got, FitsArith(v))
		}
	}
}

// TestReserveKeeps checks that the code survives growth in small steps.
func TestReserveKeeps(t *testing.T) {
	var a Asm
	a.Reset(8, false)
	for i := range 20_000 {
		a.Reserve(4)
		a.MovI(MOVZ, S64, X9, uint16(i), 0)
	}
	if n := len(a.Bytes(8, a.Pos())); n != 80_000 {
		t.Fatalf("%d bytes", n)
	}
	for i := range 20_000 {
		if w := a.read32(8 + 4*i); w != 0xd2800009|uint32(i)<<5 {
			t.Fatalf("instruction %d is %#x", i, w)
		}
	}
}
