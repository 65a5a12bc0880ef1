package matrix

import (
	"fmt"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/refinterp"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// fusedSequences are what the compiler makes one operation of: with each, all
// shorter forms that must not be taken for it, and forms whose operands share a
// register or a local. Parameters 0 and 1 are i32, 2 and 3 i64, 4 and 5 f64.
func fusedSequences() map[string]wasmtest.Code {
	code := func() *wasmtest.Code { return new(wasmtest.Code) }
	seqs := map[string]*wasmtest.Code{}
	wide := func(c *wasmtest.Code) *wasmtest.Code { return c.Op(0xad) } // an i32 result as i64

	for k := int32(0); k < 5; k++ {
		// Scaled addresses: shl k, add.
		seqs[fmt.Sprint("shl+add ", k)] = wide(code().Get(0).Get(1).I32(k).Op(0x74, 0x6a))
		seqs[fmt.Sprint("shl+add of one local ", k)] = wide(code().Get(0).Get(0).I32(k).Op(0x74, 0x6a))
		seqs[fmt.Sprint("shl+add to a constant ", k)] = wide(code().I32(-7).Get(1).I32(k).Op(0x74, 0x6a))
		seqs[fmt.Sprint("shl+add into a local ", k)] = wide(code().Get(0).Get(1).I32(k).Op(0x74, 0x6a).Set(0).Get(0))
		seqs[fmt.Sprint("i64 shl+add ", k)] = code().Get(2).Get(3).I64(int64(k)).Op(0x86, 0x7c)
	}
	for _, n := range []int64{0, 1, -1, 127, -128, 1 << 20, 1<<31 - 1, -1 << 31, 1 << 31, 1<<32 + 5, -1 << 40} {
		// Go's 32-bit sum, and the same without the wrap.
		seqs[fmt.Sprint("extend+add+wrap ", n)] = wide(code().Get(0).Op(0xad).I64(n).Op(0x7c, 0xa7))
		seqs[fmt.Sprint("extend+add ", n)] = code().Get(0).Op(0xad).I64(n).Op(0x7c)
		seqs[fmt.Sprint("extend+add+wrap into a local ", n)] = wide(code().Get(0).Op(0xad).I64(n).Op(0x7c, 0xa7).Set(1).Get(1).Get(0).Op(0x6a))
	}
	for _, op := range []byte{0x7c, 0x7d, 0x7e, 0x83, 0x84, 0x85} {
		// 64-bit operations of which only the low half is wanted.
		seqs[fmt.Sprintf("%#x+wrap", op)] = wide(code().Get(2).Get(3).Op(op, 0xa7))
		seqs[fmt.Sprintf("%#x+wrap of a constant", op)] = wide(code().Get(2).I64(0x1_8000_0001).Op(op, 0xa7))
		seqs[fmt.Sprintf("%#x+wrap of a load", op)] = wide(code().Get(2).I32(8).Load(0x29, 0).Op(op, 0xa7))
		// Operands in memory.
		seqs[fmt.Sprintf("%#x of a load", op)] = code().Get(2).I32(16).Load(0x29, 0).Op(op)
		seqs[fmt.Sprintf("%#x of a load at a local", op)] = code().Get(2).Get(0).Load(0x29, 0).Op(op)
		seqs[fmt.Sprintf("%#x of a narrow load", op)] = code().Get(2).I32(16).Load(0x34, 0).Op(op)
		i32 := op - 0x12
		seqs[fmt.Sprintf("%#x of a load", i32)] = wide(code().Get(0).Get(1).Load(0x28, 4).Op(i32))
		seqs[fmt.Sprintf("%#x of a load into its address", i32)] = wide(code().Get(0).Get(1).Load(0x28, 4).Op(i32).Set(1).Get(1))
		seqs[fmt.Sprintf("%#x of a load, left its address", i32)] = wide(code().Get(1).Get(1).Load(0x28, 4).Op(i32))
		seqs[fmt.Sprintf("%#x of a load, left a constant", i32)] = wide(code().I32(99).Get(1).Load(0x28, 4).Op(i32))
		seqs[fmt.Sprintf("%#x of a byte", i32)] = wide(code().Get(0).Get(1).Load(0x2d, 4).Op(i32))
	}
	for _, op := range []byte{0xa0, 0xa1, 0xa2, 0xa3, 0xa4} {
		seqs[fmt.Sprintf("%#x of a load", op)] = anyNaN(code().Get(4).Get(0).Load(0x2b, 0).Op(op))
		seqs[fmt.Sprintf("%#x of a load, twice", op)] = anyNaN(code().Get(4).Get(4).Get(0).Load(0x2b, 0).Op(op, op))
	}
	// Conditions: what is tested, inverted, widened and branched on.
	branch := func(cond *wasmtest.Code) *wasmtest.Code {
		return cond.Block(0x04, wasmtest.Result(decoder.I64)).I64(1).Op(0x05).I64(2).End()
	}
	conds := map[string]func() *wasmtest.Code{
		"and":              func() *wasmtest.Code { return code().Get(0).Get(1).Op(0x71) },
		"and constant":     func() *wasmtest.Code { return code().Get(0).I32(-256).Op(0x71) },
		"and eqz":          func() *wasmtest.Code { return code().Get(0).Get(1).Op(0x71, 0x45) },
		"and eqz eqz":      func() *wasmtest.Code { return code().Get(0).Get(1).Op(0x71, 0x45, 0x45) },
		"i64 and eqz":      func() *wasmtest.Code { return code().Get(2).Get(3).Op(0x83, 0x50) },
		"i64 and constant": func() *wasmtest.Code { return code().Get(2).I64(-1<<32).Op(0x83, 0x50) },
		"lt":               func() *wasmtest.Code { return code().Get(0).Get(1).Op(0x48) },
		"lt extend eqz":    func() *wasmtest.Code { return code().Get(0).Get(1).Op(0x48, 0xad, 0x50) },
		"f64 lt extend eqz": func() *wasmtest.Code {
			return code().Get(4).Get(5).Op(0x63, 0xad, 0x50)
		},
		"f64 eq extend eqz twice": func() *wasmtest.Code {
			return code().Get(4).Get(5).Op(0x61, 0xad, 0x50, 0xad, 0x50)
		},
		"eq of the halves": func() *wasmtest.Code { return code().Get(2).Op(0xa7).Get(3).Op(0xa7).Op(0x46) },
		"load":             func() *wasmtest.Code { return code().Get(0).Load(0x28, 0) },
	}
	for name, cond := range conds {
		seqs["if "+name] = branch(cond())
		seqs["br_if "+name] = code().Block(0x02, wasmtest.Result(decoder.I64)).I64(1).Op(append(*cond(), 0x0d, 0, 0x1a)...).I64(2).End()
		seqs["select "+name] = code().I64(5).Get(2).Op(append(*cond(), 0x1b)...)
		seqs["select of floats "+name] = code().Get(4).Get(5).Op(append(*cond(), 0x1b, 0xbd)...)
		seqs["value of "+name] = cond().Op(0xad)
	}
	out := map[string]wasmtest.Code{}
	for name, c := range seqs {
		out[name] = *c
	}
	return out
}

// anyNaN gives the bits of an f64, one and the same for every NaN: which of them
// arithmetic answers is not determined.
func anyNaN(c *wasmtest.Code) *wasmtest.Code {
	return c.Set(5).Get(5).Op(0xbd).I64(0x7ff8<<48).Get(5).Get(5).Op(0x61, 0x1b)
}

// TestFused compares the sequences that are compiled as one operation with the
// reference interpreter, each as it is, and in a loop that is hot enough for
// its locals to be pinned.
func TestFused(t *testing.T) {
	params := wasmtest.Types(decoder.I32, decoder.I32, decoder.I64, decoder.I64, decoder.F64, decoder.F64)
	m := wasmtest.New()
	typ := m.Type(params, wasmtest.Types(decoder.I64))
	m.Memory(1, 1)
	var data []byte
	for i := range 4096 {
		data = append(data, byte(i*7), byte(i>>3))
	}
	m.Data(0, data)
	var names []string
	for name, c := range fusedSequences() {
		m.Func(name, typ, nil, c)
		// Locals are read often enough, inside a loop, to earn a register.
		var hot wasmtest.Code
		hot.Block(0x03, -0x40)
		for k := range uint32(len(params)) {
			hot.Get(k).Op(0x1a).Block(0x02, -0x40).Get(k).Op(0x1a).End()
		}
		hot.End()
		m.Func("pinned "+name, typ, nil, append(hot, c...))
		names = append(names, name, "pinned "+name)
	}
	bin := m.Bytes()
	want := instantiate(t, refinterp.New(0), bin, nil)
	forEngines(t, func(t *testing.T, open open) {
		got := instantiate(t, open(t), bin, nil)
		calls, faults := 0, 0
		for _, name := range names {
			f, g := want.Func(name), got.Func(name)
			for _, args := range fusedInputs() {
				calls++
				a, errA := f.Call(args...)
				b, errB := g.Call(args...)
				if outcomeOf(a, errA).String() != outcomeOf(b, errB).String() {
					t.Errorf("%s(%#x): %s, want %s", name, args, outcomeOf(b, errB), outcomeOf(a, errA))
					if faults++; faults > maxFaults {
						t.FailNow()
					}
				}
			}
		}
		if calls < 10_000 {
			t.Errorf("only %d calls", calls)
		}
	})
}

// fusedInputs are edge values for the six parameters.
func fusedInputs() (list [][]uint64) {
	i, l, f := edges[decoder.I32], edges[decoder.I64], edges[decoder.F64]
	for k := range 40 {
		// Addresses inside the memory too, and equal operands.
		a, b := i[k%len(i)], i[(k*5+k/3)%len(i)]
		if k%3 == 0 {
			a, b = a&0xfff, b&0xfff
		}
		if k%7 == 0 {
			b = a
		}
		list = append(list, []uint64{a, b, l[k%len(l)], l[(k*3+1)%len(l)], f[k%len(f)], f[(k*5+2)%len(f)]})
	}
	return list
}
