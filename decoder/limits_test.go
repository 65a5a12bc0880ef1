package decoder

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// allocated gives the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// allocBound is what decoding and validating n bytes may allocate: the
// largest ratio is that of element segments, 88 bytes for three.
func allocBound(n int) uint64 { return 64<<10 + 100*uint64(n) }

// TestAllocationBound decodes tiny modules that claim to be large.
func TestAllocationBound(t *testing.T) {
	most := []byte{0xff, 0xff, 0x3f} // 1,048,575
	for id := byte(1); id <= 11; id++ {
		for _, count := range [][]byte{most, leb(99_999), leb(1<<32 - 1), leb(1 << 20)} {
			b := module(section(id, count))
			if n := allocated(func() { Decode(b) }); n > allocBound(len(b)) {
				t.Errorf("section %d: %d bytes allocated for a module of %d", id, n, len(b))
			}
		}
	}
	for name, b := range map[string][]byte{
		"parameters":  module(section(sectionType, vec(cat([]byte{0x60}, leb(1000))))),
		"name":        module(section(sectionCustom, leb(1<<31))),
		"function":    module(section(sectionType, vec(funcType(nil, nil))), section(sectionFunction, leb(1_000_000))),
		"elements":    module(section(sectionElement, vec(cat([]byte{1, 0}, leb(10_000_000))))),
		"expressions": module(section(sectionElement, vec(cat([]byte{5, 0x70}, leb(10_000_000))))),
		"segments":    module(section(sectionElement, leb(20000), bytes.Repeat([]byte{1, 0, 0}, 20000))),
		"nulls":       module(section(sectionElement, vec(cat([]byte{5, 0x70}, leb(20000), bytes.Repeat([]byte{OpRefNull, 0x70, OpEnd}, 20000))))),
		"types":       module(section(sectionType, leb(20000), bytes.Repeat([]byte{0x60, 0, 0}, 20000))),
		"customs":     module(bytes.Repeat([]byte{0, 1, 0}, 20000)),
		"blocks":      oneFunc(nil, nil, cat([]byte{0}, bytes.Repeat([]byte{OpBlock, 0x40}, 20000), bytes.Repeat([]byte{OpEnd}, 20001))),
	} {
		n := allocated(func() {
			if m, err := Decode(b); err == nil {
				ValidateBodies(m, 1)
			}
		})
		if n > allocBound(len(b)) {
			t.Errorf("%s: %d bytes allocated for a module of %d", name, n, len(b))
		}
	}
}

// TestOperandLimit makes calls with a thousand results: without a limit two
// bytes of code would need 16,000 bytes.
func TestOperandLimit(t *testing.T) {
	results := make([]Type, MaxResults)
	for i := range results {
		results[i] = I32
	}
	calls := func(n int) *Module {
		fn := cat([]byte{0}, bytes.Repeat([]byte{OpCall, 1}, n), []byte{OpUnreachable, OpEnd})
		m, err := Decode(module(
			section(sectionType, vec(funcType(nil, results))),
			section(sectionFunction, vec([]byte{0}, []byte{0})),
			section(sectionCode, vec(sized(fn), body(OpUnreachable, OpEnd))),
		))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if err := calls(131).ValidateBody(0); err != nil {
		t.Error(err)
	}
	const want = "operand stack of 132000 operands is over the limit of 131072"
	n := allocated(func() {
		err := calls(1_000_000).ValidateBody(0)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	})
	if n > 64<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

// TestDeepNesting nests 200,000 blocks, of all kinds, live and dead.
func TestDeepNesting(t *testing.T) {
	for _, open := range [][]byte{{OpBlock, 0x40}, {OpLoop, 0x40}, {OpI32Const, 0, OpIf, 0x40}, {OpUnreachable, OpBlock, 0x40}} {
		const n = 200_000
		m, err := Decode(oneFunc(nil, nil, cat([]byte{0}, bytes.Repeat(open, n), bytes.Repeat([]byte{OpEnd}, n+1))))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.ValidateBody(0); err != nil {
			t.Error(err)
		}
	}
}

// TestSizes has the limits of bodies and br_table, one below and one above.
func TestSizes(t *testing.T) {
	table := func(n int) []byte {
		return cat([]byte{0, OpI32Const, 0, OpBrTable}, leb(uint32(n)), make([]byte, n+1), []byte{OpEnd})
	}
	nops := func(n int) []byte {
		return cat([]byte{0}, bytes.Repeat([]byte{OpNop}, n-2), []byte{OpEnd})
	}
	for _, c := range []struct {
		name string
		fn   []byte
		want string
	}{
		{"br_table", table(MaxBrTable), ""},
		{"br_table", table(MaxBrTable + 1), "br_table with 65521 targets is over the limit of 65520"},
		{"body", nops(MaxBodySize), ""},
		{"body", nops(MaxBodySize + 1), "function body of 7654322 bytes is over the limit of 7654321"},
	} {
		m, err := Decode(oneFunc(nil, nil, c.fn))
		if err == nil {
			err = ValidateBodies(m, 1)
		}
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if e, ok := err.(*Error); !ok || e.Msg != c.want || e.Code != CodeTooLarge || e.Func != 0 {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestNoAllocation validates bodies with a validator that has seen them.
func TestNoAllocation(t *testing.T) {
	fn := cat(vec([]byte{20, 0x7f}, []byte{3, 0x7c}), []byte{
		OpBlock, 0x40, OpLoop, 0x40, OpLocalGet, 0, OpBrIf, 1, OpI32Const, 1, OpI32Const, 2, OpI32Add, OpLocalSet, 0,
		OpUnreachable, OpI32Add, OpDrop, OpI64Mul, OpDrop, OpBrIf, 0, OpI32Const, 0, OpBrTable, 1, 0, 1,
		OpEnd, OpEnd, OpI32Const, 1, OpI64Const, 2, OpCall, 1, OpDrop, OpDrop,
		OpI32Const, 0, OpRefNull, 0x6f, OpTableSet, 1, OpUnreachable, OpTableSet, 1, 0xfc, 0x11, 0, OpEnd})
	m, err := Decode(oneFunc(types(I32), nil, fn))
	if err != nil {
		t.Fatal(err)
	}
	v := Validator{Mod: m}
	if n := testing.AllocsPerRun(100, func() {
		if err := v.Validate(0); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per body", n)
	}
}
