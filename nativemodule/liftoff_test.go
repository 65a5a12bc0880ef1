package nativemodule

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
	"github.com/wasmjit/wasmjit/liftoff"
)

// The tests here run the job with the real compiler.

// wasmModule encodes a module of n functions of type i32 -> i32. Function i
// divides its argument by i, calls function i/2 with it and adds i+1; a bad
// one lacks an operand.
func wasmModule(n int, bad ...int) []byte {
	m := wasmtest.New()
	typ := m.Type(wasmtest.Types(decoder.I32), wasmtest.Types(decoder.I32))
	for i := range n {
		var c wasmtest.Code
		if !slices.Contains(bad, i) {
			c.Get(0)
		}
		c.I32(int32(i)).Op(0x6d) // i32.div_s
		c.Call(uint32(i / 2)).I32(1).Op(0x6a)
		for range i % 50 {
			c.I32(int32(i)).Op(0x6a) // i32.add
		}
		m.Func("", typ, nil, c)
	}
	return m.Bytes()
}

func decodeModule(t *testing.T, wasm []byte) *decoder.Module {
	t.Helper()
	dm, err := decoder.Decode(wasm)
	if err != nil {
		t.Fatal(err)
	}
	return dm
}

// checkCompiled compiles a module with every number of workers: the code is the
// same, but for the distances in calls, which lead to the right function.
// reads gives where a call at a place with these four bytes leads.
func checkCompiled(t *testing.T, o liftoff.Options, reads func(at uintptr, word uint32) uintptr) {
	const n = 2000
	dm := decodeModule(t, wasmModule(n))
	arena := testArena(t, 64<<20)
	layout, err := liftoff.NewLayout(dm)
	if err != nil {
		t.Fatal(err)
	}
	c, err := liftoff.New(dm, layout, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range workerCounts {
		m, err := Compile(context.Background(), dm, Options{Liftoff: o, Workers: workers, Arena: arena})
		if err != nil {
			t.Fatal(err)
		}
		for fn := range uint32(n) {
			code, err := c.Compile(fn)
			if err != nil {
				t.Fatal(err)
			}
			got := m.Code(fn)
			if len(code.CallSites) != 1 || len(got) != len(code.Bytes) {
				t.Fatalf("function %d: %d bytes, %d call sites; placed %d bytes", fn, len(code.Bytes), len(code.CallSites), len(got))
			}
			site := code.CallSites[0]
			word := binary.LittleEndian.Uint32(got[site:])
			if target := reads(m.Entry(fn)+uintptr(site), word); target != m.Entry(fn/2) {
				t.Fatalf("function %d calls %#x (%#x), function %d is at %#x", fn, target, word, fn/2, m.Entry(fn/2))
			}
			copy(got[site:], code.Bytes[site:site+4])
			if !bytes.Equal(got, code.Bytes) {
				t.Fatalf("function %d differs with %d workers", fn, workers)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLiftoffAMD64(t *testing.T) {
	checkCompiled(t, liftoff.Options{Arch: liftoff.AMD64}, func(at uintptr, word uint32) uintptr {
		return at + 4 + uintptr(int64(int32(word)))
	})
}

func TestLiftoffARM64(t *testing.T) {
	checkCompiled(t, liftoff.Options{Arch: liftoff.ARM64}, func(at uintptr, word uint32) uintptr {
		if word>>26 != 0x25 {
			return 0 // no bl
		}
		return at + uintptr(int64(int32(word<<6)>>6)*4)
	})
}

func TestLiftoffLowestError(t *testing.T) {
	for _, bad := range [][]int{{0}, {1999}, {1000, 1500, 999}, {49, 1949, 99}} {
		dm := decodeModule(t, wasmModule(2000, bad...))
		want := decoder.ValidateBodies(dm, 1)
		var invalid *decoder.Error
		if !errors.As(want, &invalid) {
			t.Fatalf("validation gives %v", want)
		}
		for _, workers := range workerCounts {
			_, err := Compile(context.Background(), dm, Options{Workers: workers, Arena: testArena(t, 16<<20)})
			if !errors.As(err, &invalid) || err.Error() != want.Error() {
				t.Errorf("%d workers: got %v, want %v", workers, err, want)
			}
		}
	}
}

func TestLiftoffPositions(t *testing.T) {
	dm := decodeModule(t, wasmModule(200))
	m, err := Compile(context.Background(), dm, Options{Arena: testArena(t, 16<<20)})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	layout := m.Layout()
	c, err := liftoff.New(dm, layout, m.Options().Liftoff)
	if err != nil {
		t.Fatal(err)
	}
	calls, traps := 0, 0
	for _, fn := range []uint32{0, 1, 50, 199} {
		code, err := c.CompilePositions(fn)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range code.Positions {
			got, ok := m.Position(fn, p.Code)
			if p.Kind == liftoff.TrapNone {
				got, ok = m.CallPosition(fn, p.Code)
				calls++
			} else {
				traps++
			}
			if !ok || got.Wasm != p.Wasm {
				t.Errorf("function %d, offset %#x: got %+v %v, want %+v", fn, p.Code, got, ok, p)
			}
			// The opcode there is the division or the call.
			if op := dm.Bytes[p.Wasm]; op != 0x6d && op != 0x10 {
				t.Errorf("function %d, offset %#x: position of opcode %#x", fn, p.Code, op)
			}
		}
	}
	// Only a division by a constant 0 can trap, which is function 0's.
	if calls != 4 || traps < 1 {
		t.Errorf("%d calls and %d traps", calls, traps)
	}
}

func TestLiftoffThousandModules(t *testing.T) {
	arena := testArena(t, 64<<20)
	dm := decodeModule(t, wasmModule(30))
	for range 1000 {
		m, err := Compile(context.Background(), dm, Options{Workers: 2, Arena: arena})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if arena.Available() != 64<<20 {
		t.Errorf("%d bytes available after all are closed", arena.Available())
	}
}

// TestFarCalls compiles a module whose code passes an artificially small
// limit: its calls take the long form, and each leads to its callee.
func TestFarCalls(t *testing.T) {
	defer func(n int64) { farLimit = n }(farLimit)
	const n = 500
	dm := decodeModule(t, wasmModule(n))
	arena := testArena(t, 16<<20)
	arm := liftoff.Options{Arch: liftoff.ARM64}
	near, err := Compile(context.Background(), dm, Options{Liftoff: arm, Arena: arena})
	if err != nil {
		t.Fatal(err)
	}
	farLimit = near.Stats().CodeBytes - 1
	far, err := Compile(context.Background(), dm, Options{Liftoff: arm, Arena: arena})
	if err != nil {
		t.Fatal(err)
	}
	if near.Options().Liftoff.FarCalls || !far.Options().Liftoff.FarCalls {
		t.Fatalf("far calls: %v below the limit, %v above", near.Options().Liftoff.FarCalls, far.Options().Liftoff.FarCalls)
	}
	layout, err := liftoff.NewLayout(dm)
	if err != nil {
		t.Fatal(err)
	}
	c, err := liftoff.New(dm, layout, far.Options().Liftoff)
	if err != nil {
		t.Fatal(err)
	}
	for fn := range uint32(n) {
		code, err := c.Compile(fn)
		if err != nil {
			t.Fatal(err)
		}
		got, site := far.Code(fn), code.CallSites[0]
		at := uint64(far.Entry(fn)) + uint64(site)
		adrp, add := binary.LittleEndian.Uint32(got[site:]), binary.LittleEndian.Uint32(got[site+4:])
		pages := int64(int32(adrp>>5<<13)>>13)<<2 | int64(adrp>>29&3)
		if to := at&^0xfff + uint64(pages)<<12 + uint64(add>>10&0xfff); to != uint64(far.Entry(fn/2)) {
			t.Fatalf("function %d calls %#x, function %d is at %#x", fn, to, fn/2, far.Entry(fn/2))
		}
		copy(got[site:], code.Bytes[site:site+8])
		if !bytes.Equal(got, code.Bytes) {
			t.Fatalf("function %d differs", fn)
		}
	}
	for _, m := range []*Module{near, far} {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
