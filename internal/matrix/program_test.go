package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/engine/native"
	"github.com/wasmjit/wasmjit/internal/refinterp"
	"github.com/wasmjit/wasmjit/internal/testenv"
)

// fuel is how many instructions a call of a generated program may run on the
// interpreter; a program that needs more is not compared further.
const fuel = 200_000

// programs and functionsPerProgram are how much the normal test generates.
const (
	programs            = 400
	functionsPerProgram = 8
)

// TestPrograms compares random programs on the compiler and the interpreter.
func TestPrograms(t *testing.T) {
	ops := programOps(t)
	mode := testenv.Get(t)
	n := programs
	switch {
	case mode.Programs > 0:
		n = mode.Programs
	case testing.Short():
		n /= 10
	}
	calls, traps := 0, 0
	modes := []testenv.Mode{mode}
	if mode.Default() {
		modes = append(modes, testenv.Others()...)
	}
	for seed := range uint64(n) {
		p := newProgram(nil, seed, functionsPerProgram, ops)
		// Every program in the run's own mode, and in one of the others.
		c, x := runProgram(t, p, mode, fmt.Sprint("seed ", seed))
		calls += c
		traps += x
		if m := modes[seed%uint64(len(modes))]; m != mode {
			runProgram(t, p, m, fmt.Sprintf("seed %d (%s)", seed, m))
		}
	}
	t.Logf("%d programs, %d calls, %d of them trapped (%s)", n, calls, traps, mode)
	if traps > calls/2 || calls < n*functionsPerProgram {
		t.Errorf("%d calls, %d traps: the programs say too little", calls, traps)
	}
}

func programOps(t testing.TB) map[decoder.Type][]operation {
	rows, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	return operations(rows)
}

// runProgram calls each function of a program on both sides, the interpreter
// first, since it stops what runs too long.
func runProgram(t *testing.T, p *program, mode testenv.Mode, name string) (calls, traps int) {
	e, err := native.New(mode)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Errorf("%s: closing the store: %v", name, err)
		}
	}()
	ref := refinterp.New(fuel)
	bin := p.m.Bytes()
	want := instantiate(t, ref, bin, nil)
	got, err := tryInstantiate(e, bin, nil)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0, 0
	}
	for _, v := range p.exports {
		for _, args := range v.inputs {
			ref.Fuel = fuel
			res, err := want.Func(v.export).Call(args...)
			if errors.Is(err, refinterp.ErrOutOfFuel) {
				return calls, traps
			}
			calls++
			w := outcomeOf(res, err)
			g := outcomeOf(got.Func(v.export).Call(args...))
			if w.failure != "" {
				traps++
			}
			if g.failure != w.failure || !slices.Equal(g.results, w.results) {
				t.Errorf("%s: %s(%x): got %s, want %s", name, v.export, args, g, w)
				return calls, traps
			}
			if msg := differentState(got, want); msg != "" {
				t.Errorf("%s: %s(%x): %s", name, v.export, args, msg)
				return calls, traps
			}
		}
	}
	return calls, traps
}

// differentState compares memories and globals.
func differentState(got, want engine.Instance) string {
	if m, n := got.Memory("memory"), want.Memory("memory"); !bytes.Equal(m, n) {
		return diffBytes(m, n)
	}
	for _, t := range numTypes {
		for i := range 2 {
			name := fmt.Sprintf("%s.%d", t, i)
			g, _ := got.Global(name)
			w, _ := want.Global(name)
			if g != w {
				return fmt.Sprintf("global %s is 0x%x, want 0x%x", name, g.Lo, w.Lo)
			}
		}
	}
	return ""
}

// TestDeterminism wants equal choices to give equal modules: a failing seed
// must mean the same program tomorrow.
func TestDeterminism(t *testing.T) {
	ops := programOps(t)
	for seed := range uint64(5) {
		a, b := newProgram(nil, seed, 6, ops).m.Bytes(), newProgram(nil, seed, 6, ops).m.Bytes()
		if !bytes.Equal(a, b) {
			t.Fatalf("seed %d gives two different modules", seed)
		}
	}
}

// FuzzPrograms lets the fuzzer choose the programs. Minimising inputs takes
// the fuzzer nearly all of its time: give it -fuzzminimizetime 10x.
func FuzzPrograms(f *testing.F) {
	ops := programOps(f)
	mode := testenv.Get(f)
	f.Add([]byte{}, uint64(1))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, uint64(2))
	f.Add(pattern(200), uint64(3))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		runProgram(t, newProgram(data, seed, 5, ops), mode, fmt.Sprintf("seed %d with %d bytes", seed, len(data)))
	})
}
