package synth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"sort"
	"testing"

	wabin "github.com/tetratelabs/wabin/binary"
	"github.com/tetratelabs/wabin/wasm"
)

// TestStable pins the bytes: benchmarks are compared across versions, and the
// checksums of run that other tests expect belong to these modules. The
// checksums of run were computed by V8 (Node 20), which this repository can't
// repeat without it.
func TestStable(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"one", Options{Functions: 1, Seed: 1}, "39e9be3b80c2be0ea98466af44f285b07f26259ed5c15c1a7f326abe36edf7a9"},
		{"thousand", Options{Functions: 1000, Import: true, Names: true, Seed: 1000}, "eb2d5d5169975a71b451e2d6599a6af2f92f53669c829d0e6fbad430a5ac4b21"},
		{"unity", Unity(), "8ec6d0bcebd65cc36d19a9d0099fc99e46e6887d999868483498abbfe6b4b959"},
	} {
		sum := sha256.Sum256(Module(c.o))
		if got := hex.EncodeToString(sum[:]); got != c.want {
			t.Errorf("%s: sha256 %s, want %s", c.name, got, c.want)
		}
	}
}

func TestSeedChangesModule(t *testing.T) {
	a, b := Module(Options{Functions: 50, Seed: 1}), Module(Options{Functions: 50, Seed: 2})
	if bytes.Equal(a, b) {
		t.Error("two seeds give one module")
	}
}

// TestRoundTrip reads the module with wabin's decoder, which checks section
// sizes and counts, and writes it again.
func TestRoundTrip(t *testing.T) {
	for _, n := range []int{1, 2, 7, 400} {
		b := Module(Options{Functions: n, Import: n%2 == 0, Names: true, Seed: uint64(n)})
		m, err := wabin.DecodeModule(b, wasm.CoreFeaturesV1)
		if err != nil {
			t.Fatalf("%d functions: %v", n, err)
		}
		if len(m.CodeSection) != n+2 {
			t.Errorf("%d functions: code section has %d", n, len(m.CodeSection))
		}
		if !bytes.Equal(wabin.EncodeModule(m), b) {
			t.Errorf("%d functions: encoded again it has other bytes", n)
		}
	}
}

// TestShape compares the module with the Unity build that it imitates.
func TestShape(t *testing.T) {
	const n = 20000
	m, err := wabin.DecodeModule(Module(Options{Functions: n, Seed: 3}), wasm.CoreFeaturesV1)
	if err != nil {
		t.Fatal(err)
	}
	var lengths []int
	var ops [256]int
	total, withLoop, leaves := 0, 0, 0
	for _, c := range m.CodeSection[:n] {
		lengths = append(lengths, len(c.Body)+2)
		before := ops
		total += countOps(t, c.Body, &ops)
		if ops[opLoop] > before[opLoop] {
			withLoop++
		}
		if ops[opCall] == before[opCall] && ops[opCallIndirect] == before[opCallIndirect] {
			leaves++
		}
	}
	sort.Ints(lengths)
	for _, q := range []struct{ share, min, max int }{
		{5000, 110, 140}, {9000, 700, 850}, {9900, 3200, 3800}, {9999, 20000, 60000},
	} {
		if v := lengths[n*q.share/10000]; v < q.min || v > q.max {
			t.Errorf("body size at %d/10000: %d, want %d to %d", q.share, v, q.min, q.max)
		}
	}
	// Shares in 1/10000 of all opcodes, around Unity's.
	for _, c := range []struct {
		name     string
		ops      []int
		min, max int
	}{
		{"local.get and constants", []int{opLocalGet, opI32Const, opI64Const, opF32Const, opF64Const}, 3900, 4500},
		{"local.set and local.tee", []int{opLocalSet, opLocalTee}, 900, 1400},
		{"loads", seq(opI32Load, 0x35), 600, 1100},
		{"stores", seq(opI32Store, 0x3e), 300, 700},
		{"call", []int{opCall}, 150, 350},
		{"call_indirect", []int{opCallIndirect}, 10, 50},
		{"if", []int{opIf}, 200, 350},
		{"loop", []int{opLoop}, 20, 60},
		{"br_if", []int{opBrIf}, 50, 120},
		{"br_table", []int{opBrTable}, 4, 30},
		{"f32 arithmetic", seq(opF32Abs, 0x98), 100, 400},
		{"i64 arithmetic", seq(0x79, 0x8a), 10, 60},
	} {
		sum := 0
		for _, op := range c.ops {
			sum += ops[op]
		}
		if v := sum * 10000 / total; v < c.min || v > c.max {
			t.Errorf("%s: %d of 10000 opcodes, want %d to %d", c.name, v, c.min, c.max)
		}
	}
	if v := withLoop * 100 / n; v < 15 || v > 30 {
		t.Errorf("%d %% of the functions have a loop, want 15 to 30", v)
	}
	if v := leaves * 100 / n; v < 10 || v > 30 {
		t.Errorf("%d %% of the functions call none, want 10 to 30", v)
	}
}

func seq(from, to int) (s []int) {
	for i := from; i <= to; i++ {
		s = append(s, i)
	}
	return s
}

// countOps adds the opcodes of a body to count and returns how many there are.
func countOps(t *testing.T, b []byte, count *[256]int) (n int) {
	// leb reads a LEB128; the value counts only where it is small.
	leb := func() (v uint64) {
		for shift := 0; ; shift += 7 {
			c := b[0]
			b = b[1:]
			v |= uint64(c&0x7f) << shift
			if c < 0x80 {
				return v
			}
		}
	}
	depth := 1
	for len(b) > 0 {
		op := b[0]
		b = b[1:]
		count[op]++
		n++
		switch {
		case op == opBlock || op == opLoop || op == opIf:
			depth++
			b = b[1:]
		case op == opEnd:
			depth--
		case op == opBr, op == opBrIf, op == opCall, op == opI32Const, op == opI64Const,
			op >= opLocalGet && op <= opGlobalSet:
			leb()
		case op >= opI32Load && op <= 0x3e, op == opCallIndirect:
			leb()
			leb()
		case op == opBrTable:
			for k := leb() + 1; k > 0; k-- {
				leb()
			}
		case op == opF32Const:
			b = b[4:]
		case op == opF64Const:
			b = b[8:]
		}
	}
	if depth != 0 {
		t.Fatalf("blocks don't match: depth %d at the end", depth)
	}
	return n
}

func BenchmarkModule(b *testing.B) {
	for b.Loop() {
		b.SetBytes(int64(len(Module(Options{Functions: 5000, Seed: 1}))))
	}
}
