package liftoff

import (
	"encoding/binary"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// longFunction branches out of and back into a body of many kilobytes, with
// traps at its start.
func longFunction(t *testing.T, n int) (*decoder.Module, uint32) {
	t.Helper()
	m := wasmtest.New()
	m.Memory(1, 1)
	i := decoder.I32
	const block, loop, ifOp, brIf, void = 0x02, 0x03, 0x04, 0x0d, -0x40
	c := new(wasmtest.Code).Block(block, void).Block(loop, void).
		Get(0).OpU(brIf, 1).
		Get(0).Get(1).Op(0x6d).Set(1). // i32.div_s
		Get(0).Block(ifOp, void)
	for k := range n {
		c.Get(1).I32(int32(k * 7919)).Op(0x6c).Set(1)
	}
	c.End().Get(1).OpU(brIf, 0).End().End().Get(1)
	fn := m.Func("f", m.Type(wasmtest.Types(i, i), wasmtest.Types(i)), nil, *c)
	d, err := decoder.Decode(m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return d, fn
}

func compileReach(t *testing.T, m *decoder.Module, fn uint32, cond int) *Code {
	t.Helper()
	l, err := NewLayout(m)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(m, l, Options{Arch: ARM64})
	if err != nil {
		t.Fatal(err)
	}
	if cond > 0 {
		c.a.SetReach(cond, cond, 1<<27)
	}
	code, err := c.CompilePositions(fn)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// checkReach decodes code and checks that every conditional branch stays
// within its reach and every branch within the code. It gives the numbers of
// conditional branches over a jump.
func checkReach(t *testing.T, code []byte, reach int) (long int) {
	t.Helper()
	for at := 0; at < len(code); at += 4 {
		if binary.LittleEndian.Uint32(code[at:])>>16 == 0 {
			continue // udf
		}
		inst, err := arm64asm.Decode(code[at:])
		if err != nil {
			t.Fatalf("at %#x: %v", at, err)
		}
		for _, arg := range inst.Args {
			d, ok := arg.(arm64asm.PCRel)
			if !ok {
				continue
			}
			to := at + int(d)
			if to < 0 || to >= len(code) {
				t.Errorf("at %#x: %v leaves the function", at, inst)
			}
			_, cond := inst.Args[0].(arm64asm.Cond)
			cond = cond || inst.Op == arm64asm.CBZ || inst.Op == arm64asm.CBNZ
			if cond && (int(d) >= reach || int(d) < -reach) {
				t.Errorf("at %#x: %v reaches farther than %d", at, inst, reach)
			} else if cond && d == 8 {
				long++
			}
		}
	}
	return long
}

// TestReach compiles a function whose branches don't reach with an
// artificially small reach, and one that is really larger than a MiB. Both must
// come out with long forms, and in the same way each time.
func TestReach(t *testing.T) {
	m, fn := longFunction(t, 500)
	short := compileReach(t, m, fn, 0)
	shortLen := len(short.Bytes)
	checkReach(t, short.Bytes, 1<<20)
	far := compileReach(t, m, fn, 512)
	if long := checkReach(t, far.Bytes, 512); long < 4 {
		t.Errorf("%d conditional branches took the long form, want at least 4", long)
	}
	if len(far.Bytes) <= shortLen {
		t.Errorf("%d bytes with long forms, %d without", len(far.Bytes), shortLen)
	}
	traps := map[TrapKind]bool{}
	for _, p := range far.Positions {
		traps[p.Kind] = true
		if w := binary.LittleEndian.Uint32(far.Bytes[p.Code:]); p.Kind != TrapNone && w != uint32(p.Kind) {
			t.Errorf("no trap instruction at %#x but %#x", p.Code, w)
		}
	}
	if !traps[TrapDivideByZero] || !traps[TrapIntegerOverflow] {
		t.Errorf("traps %v", traps)
	}

	m, fn = longFunction(t, 100_000)
	large := compileReach(t, m, fn, 0)
	if len(large.Bytes) < 1<<20 {
		t.Fatalf("only %d bytes", len(large.Bytes))
	}
	if long := checkReach(t, large.Bytes, 1<<20); long < 4 {
		t.Errorf("%d conditional branches took the long form, want at least 4", long)
	}
	if again := compileReach(t, m, fn, 0); string(again.Bytes) != string(large.Bytes) {
		t.Error("other code the second time")
	}
}
