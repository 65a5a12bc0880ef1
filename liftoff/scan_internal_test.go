package liftoff

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/wasmjit/wasmjit/decoder"
)

// scanBody is a random sequence of opcodes with immediates of all lengths. The
// scan doesn't ask whether it is valid.
func scanBody(rng *rand.Rand, locals, size int) []byte {
	var b []byte
	depth := 0
	leb := func(v uint64) {
		for v >= 0x80 {
			b = append(b, byte(v)|0x80)
			v >>= 7
		}
		b = append(b, byte(v))
	}
	word := func(n int) {
		for range n {
			b = append(b, byte(rng.Uint32()))
		}
	}
	for len(b) < size {
		switch k := rng.IntN(40); {
		case k < 16:
			b = append(b, decoder.OpLocalGet+byte(rng.IntN(3)))
			leb(uint64(rng.IntN(locals)))
		case k < 20:
			b = append(b, decoder.OpI32Const)
			leb(uint64(rng.Uint32() >> (1 + rng.IntN(31))))
		case k < 22:
			b = append(b, decoder.OpI64Const)
			leb(rng.Uint64() >> (1 + rng.IntN(63)))
		case k == 22:
			b = append(b, decoder.OpF32Const)
			word(4)
		case k == 23:
			b = append(b, decoder.OpF64Const)
			word(8)
		case k < 28:
			b = append(b, decoder.OpI32Load+byte(rng.IntN(20)))
			leb(uint64(rng.IntN(3)))
			leb(uint64(rng.Uint32() >> (1 + rng.IntN(31))))
		case k < 31:
			b = append(b, []byte{decoder.OpCall, decoder.OpBr, decoder.OpBrIf}[rng.IntN(3)])
			leb(uint64(rng.Uint32() >> (1 + rng.IntN(31))))
		case k == 31:
			b = append(b, decoder.OpCallIndirect)
			leb(uint64(rng.IntN(300)))
			leb(0)
		case k == 32:
			b = append(b, decoder.OpBrTable)
			n := rng.IntN(5)
			leb(uint64(n))
			for range n + 1 {
				leb(uint64(rng.IntN(200)))
			}
		case k == 33:
			b = append(b, decoder.OpMiscPrefix, byte(rng.IntN(8))) // trunc_sat
		case k < 36 && depth < 60: // deeper nests are forgotten, see loopNest
			b = append(b, []byte{decoder.OpLoop, decoder.OpBlock, decoder.OpIf}[rng.IntN(3)], 0x40)
			depth++
		case k < 38:
			b = append(b, []byte{decoder.OpEnd, decoder.OpElse}[rng.IntN(2)])
			depth--
		default:
			b = append(b, decoder.OpI32Eqz+byte(rng.IntN(100)))
		}
	}
	return append(b, decoder.OpEnd)
}

// model walks the body opcode by opcode and counts what the scan counts.
func model(base unsafe.Pointer, pc, end, locals, params int) (want []hint, whole bool) {
	want = make([]hint, locals)
	for i := range params {
		want[i].weight = 1
	}
	stop := min(end, pc+scanLimit)
	var nest []int // 1 for a loop
	depth := 0
	for pc < stop {
		op := decoder.Byte(base, pc)
		pc++
		switch op {
		case decoder.OpLocalGet, decoder.OpLocalSet, decoder.OpLocalTee:
			i, next := decoder.U32(base, pc)
			want[i].last = uint32(next)
			want[i].weight += 1 << (3 * min(depth, maxNest))
		case decoder.OpBlock, decoder.OpIf:
			nest = append(nest, 0)
		case decoder.OpLoop:
			nest = append(nest, 1)
			depth++
		case decoder.OpEnd:
			if k := len(nest) - 1; k >= 0 {
				depth -= nest[k]
				nest = nest[:k]
			}
		}
		pc = decoder.SkipImmediate(base, pc, end, op)
	}
	return want, pc >= end && end <= stop
}

// TestScan compares the automaton with a walk from opcode to opcode.
func TestScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		locals := 1 + rng.IntN(400)
		size := rng.IntN(600)
		if round%200 == 0 {
			size = scanLimit - 40 + rng.IntN(80)
		}
		body := scanBody(rng, locals, size)
		// Other bodies stand around it.
		before := scanBody(rng, locals, rng.IntN(70))
		after := scanBody(rng, locals, 200)
		all := slices.Concat(before, body, after, make([]byte, decoder.Padding))
		from := len(before)
		params := rng.IntN(locals + 1)

		var c Compiler
		c.base = unsafe.Pointer(unsafe.SliceData(all))
		c.v.End = from + len(body)
		c.locals = make([]local, locals)
		c.scan(from, params)
		want, whole := model(c.base, from, c.v.End, locals, params)
		if c.hints.whole != whole {
			t.Fatalf("round %d: whole is %v", round, c.hints.whole)
		}
		for i, w := range want {
			if got := c.hints.locals[i]; got.weight != w.weight || got.last != w.last {
				t.Fatalf("round %d: local %d has weight %d, last access %d; want %d, %d", round, i, got.weight, got.last, w.weight, w.last)
			}
		}
	}
}
