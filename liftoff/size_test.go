package liftoff_test

import (
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
	"github.com/wasmjit/wasmjit/liftoff"
)

// TestSize compiles functions that are extreme in one dimension. A path that
// is quadratic in it would take minutes instead of milliseconds; what is
// asserted is that code stays linear.
func TestSize(t *testing.T) {
	i, d := decoder.I32, decoder.F64
	void := int64(-0x40)
	nested := func(op byte, n int) *wasmtest.Code {
		c := new(wasmtest.Code)
		for range n {
			if op == opIf {
				c.Get(0)
			}
			c.Block(op, void)
		}
		for range n {
			c.End()
		}
		return c
	}
	manyLocals := make([]decoder.Type, 49_000)
	for k := range manyLocals {
		manyLocals[k] = i
	}
	cases := []struct {
		name   string
		params []decoder.Type
		locals []decoder.Type
		body   *wasmtest.Code
		most   int // bytes of code
	}{
		{"50,000 nested blocks", nil, nil, nested(opBlock, 50_000), 1000},
		{"50,000 nested loops", nil, nil, nested(opLoop, 50_000), 1000},
		{"50,000 nested ifs", wasmtest.Types(i), nil, nested(opIf, 50_000), 50_000 * 32},
		{"50,000 dead blocks", nil, nil, deadBlocks(50_000), 1000},
		{"branches out of 50,000 blocks", wasmtest.Types(i), nil, branchesOut(50_000), 50_000 * 32},
		{"br_table of 60,000 targets", wasmtest.Types(i), nil, bigTable(60_000, 1000), 60_000 * 16},
		{"br_table with values", wasmtest.Types(i), nil, valueTable(10_000), 10_000 * 64},
		{"49,000 locals set and merged", wasmtest.Types(i), manyLocals, mergedLocals(49_000), 49_000 * 64},
		{"100,000 operands", wasmtest.Types(i, d), nil, deepStack(100_000), 100_000 * 16},
		{"60,000 calls over 60,000 constants", nil, nil, callsOverConstants(60_000), 60_000 * 16},
		{"100,000 aliases of a changing local", wasmtest.Types(i), nil, changingAliases(60_000), 60_000 * 32},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			m := wasmtest.New()
			fn := m.Func("f", m.Type(tc.params, nil), tc.locals, *tc.body)
			mod, err := decoder.Decode(m.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			l, err := liftoff.NewLayout(mod)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []liftoff.Options{
				{CPU: allCPU}, {CPU: allCPU, FewRegisters: true}, {CPU: allCPU, Reference: true},
				{Arch: liftoff.ARM64}, {Arch: liftoff.ARM64, FewRegisters: true}, {Arch: liftoff.ARM64, Reference: true},
			} {
				c, err := liftoff.New(mod, l, o)
				if err != nil {
					t.Fatal(err)
				}
				code, err := c.Compile(fn)
				if err != nil {
					t.Fatal(err)
				}
				if !o.Reference && len(code.Bytes) > tc.most {
					t.Errorf("%+v: %d bytes of code, want at most %d", o, len(code.Bytes), tc.most)
				}
			}
		})
	}
}

func deadBlocks(n int) *wasmtest.Code {
	c := new(wasmtest.Code)
	for range n {
		c.Block(opBlock, void)
	}
	c.OpU(opBr, uint32(n)) // leaves the function
	for range n {
		c.End()
	}
	return c
}

func branchesOut(n int) *wasmtest.Code {
	c := new(wasmtest.Code)
	for range n {
		c.Block(opBlock, void)
	}
	for k := range n {
		c.Get(0).OpU(opBrIf, uint32(n-1-k)).End()
	}
	return c
}

// bigTable is a br_table of n targets that go around over depth blocks.
func bigTable(n, depth int) *wasmtest.Code {
	c := new(wasmtest.Code)
	for range depth {
		c.Block(opBlock, void)
	}
	labels := make([]uint32, n)
	for k := range labels {
		labels[k] = uint32(k % depth)
	}
	c.Get(0).BrTable(labels...)
	for range depth {
		c.End()
	}
	return c
}

// valueTable is a br_table of n targets that carries a value, over loops with
// a parameter too.
func valueTable(n int) *wasmtest.Code {
	c := new(wasmtest.Code)
	depth := 100
	for range depth {
		c.Block(opBlock, wasmtest.Result(decoder.I32))
	}
	labels := make([]uint32, n)
	for k := range labels {
		labels[k] = uint32(k % depth)
	}
	c.I32(1).Get(0).BrTable(labels...)
	for range depth {
		c.End()
	}
	return c.Op(opDrop)
}

// mergedLocals sets n locals and ends a block that was branched out of, then
// again, so that every merge sees what the set made dirty.
func mergedLocals(n int) *wasmtest.Code {
	c := new(wasmtest.Code)
	for k := 1; k <= n; k++ {
		c.Block(opBlock, void).Get(0).Set(uint32(k)).Get(0).OpU(opBrIf, 0).End()
	}
	return c
}

// callsOverConstants calls a function n times with n constants on the stack.
func callsOverConstants(n int) *wasmtest.Code {
	c := new(wasmtest.Code)
	for k := range n {
		c.I32(int32(k))
	}
	for range n {
		c.Call(0)
	}
	for range n {
		c.Op(opDrop)
	}
	return c
}

func deepStack(n int) *wasmtest.Code {
	c := new(wasmtest.Code)
	for k := range n {
		c.Get(uint32(k % 2))
	}
	for range n {
		c.Op(opDrop)
	}
	return c
}

// changingAliases pushes a local and changes it, again and again.
func changingAliases(n int) *wasmtest.Code {
	c := new(wasmtest.Code)
	for k := range n {
		c.Get(0).I32(int32(k)).Set(0)
	}
	for range n {
		c.Op(opDrop)
	}
	return c
}
