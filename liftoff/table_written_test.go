package liftoff

import (
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// Each instruction that changes a table tells so, and no other does.
func TestWrittenTables(t *testing.T) {
	for name, c := range map[string]struct {
		body func(c *wasmtest.Code)
		want uint64
	}{
		"nothing":       {func(c *wasmtest.Code) {}, 0},
		"get":           {func(c *wasmtest.Code) { c.I32(0).OpU(0x25, 1).Op(0x1a) }, 0},
		"size":          {func(c *wasmtest.Code) { c.Op(0xfc).OpU(16, 1).Op(0x1a) }, 0},
		"call_indirect": {func(c *wasmtest.Code) { c.I32(0).OpU(0x11, 0, 1) }, 0},
		"set":           {func(c *wasmtest.Code) { c.I32(0).I32(0).OpU(0x25, 0).OpU(0x26, 1) }, 2},
		"grow":          {func(c *wasmtest.Code) { c.Op(0xd0, 0x70).I32(1).Op(0xfc).OpU(15, 2).Op(0x1a) }, 4},
		"fill":          {func(c *wasmtest.Code) { c.I32(0).Op(0xd0, 0x70).I32(1).Op(0xfc).OpU(17, 0) }, 1},
		"copy":          {func(c *wasmtest.Code) { c.I32(0).I32(0).I32(0).Op(0xfc).OpU(14, 2, 1) }, 4},
		"init":          {func(c *wasmtest.Code) { c.I32(0).I32(0).I32(0).Op(0xfc).OpU(12, 0, 1) }, 2},
		"elem.drop":     {func(c *wasmtest.Code) { c.Op(0xfc).OpU(13, 0) }, 0},
		"far":           {func(c *wasmtest.Code) { c.I32(0).I32(0).OpU(0x25, 0).OpU(0x26, 69) }, 1 << 63},
	} {
		m := wasmtest.New()
		none := m.Type(nil, nil)
		for range 70 {
			m.Table(decoder.FuncRef, 1, -1)
		}
		var body wasmtest.Code
		c.body(&body)
		fn := m.Func("f", none, nil, body)
		m.PassiveElem(fn)
		d, err := decoder.Decode(m.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, arch := range []Arch{AMD64, ARM64} {
			l, err := NewLayout(d)
			if err != nil {
				t.Fatal(err)
			}
			comp, err := New(d, l, Options{Arch: arch})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := comp.Compile(fn); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := comp.WrittenTables(); got != c.want {
				t.Errorf("%s: %#x, want %#x", name, got, c.want)
			}
		}
	}
}
