package matrix

import (
	"errors"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/engine/native"
	"github.com/wasmjit/wasmjit/internal/testenv"
)

// compileSeeds are generated modules for FuzzCompile to start from.
func compileSeeds(t testing.TB) [][]byte {
	var list [][]byte
	ops := programOps(t)
	for seed := range uint64(8) {
		list = append(list, newProgram(nil, seed, 4, ops).m.Bytes())
	}
	return list
}

// checkCompile compiles a module that may be anything: it must not panic,
// and must accept what validation accepts and reject the rest with the same
// error.
func checkCompile(t *testing.T, mode testenv.Mode, bin []byte) {
	m, err := decoder.Decode(bin)
	if err != nil {
		return
	}
	want := decoder.ValidateBodies(m, 1)
	e, err := native.New(mode)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c, err := e.CompileModule(m)
	if err == nil {
		c.Close()
	}
	var f *engine.Failure
	switch {
	case (err == nil) != (want == nil):
		t.Errorf("compile says %v, validation %v", err, want)
	case err != nil && (!errors.As(err, &f) || f.Msg != want.Error()):
		t.Errorf("compile says %q, validation %q", err, want)
	}
}

// FuzzCompile compiles arbitrary bytes; best with -fuzzminimizetime 10x.
func FuzzCompile(f *testing.F) {
	mode := testenv.Get(f)
	for _, s := range compileSeeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, bin []byte) { checkCompile(t, mode, bin) })
}

// TestCompileDamaged compiles modules with one byte changed, for each byte of
// their code.
func TestCompileDamaged(t *testing.T) {
	mode := testenv.Get(t)
	for _, bin := range compileSeeds(t)[:2] {
		m, err := decoder.Decode(bin)
		if err != nil {
			t.Fatal(err)
		}
		start, end := int(m.CodeStart), int(m.CodeEnd)
		step := 1 + (end-start)/1500
		for i := start; i < end; i += step {
			for _, x := range []byte{0xff, 0x01, 0x80} {
				bad := append(make([]byte, 0, len(bin)+decoder.Padding), bin...)
				bad[i] ^= x
				checkCompile(t, mode, bad)
				if t.Failed() {
					t.Fatalf("byte 0x%x changed by 0x%02x", i, x)
				}
			}
		}
	}
}
