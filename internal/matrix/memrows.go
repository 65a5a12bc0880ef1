package matrix

import "github.com/wasmjit/wasmjit/decoder"

// access is what a load or store does, from its name.
type access struct {
	store  bool
	bytes  int
	signed bool
	t      decoder.Type // of the value
}

// accesses holds the loads and stores by name.
var accesses = map[string]access{
	"i32.load": {false, 4, false, decoder.I32}, "i64.load": {false, 8, false, decoder.I64},
	"f32.load": {false, 4, false, decoder.F32}, "f64.load": {false, 8, false, decoder.F64},
	"i32.load8_s": {false, 1, true, decoder.I32}, "i32.load8_u": {false, 1, false, decoder.I32},
	"i32.load16_s": {false, 2, true, decoder.I32}, "i32.load16_u": {false, 2, false, decoder.I32},
	"i64.load8_s": {false, 1, true, decoder.I64}, "i64.load8_u": {false, 1, false, decoder.I64},
	"i64.load16_s": {false, 2, true, decoder.I64}, "i64.load16_u": {false, 2, false, decoder.I64},
	"i64.load32_s": {false, 4, true, decoder.I64}, "i64.load32_u": {false, 4, false, decoder.I64},
	"i32.store": {true, 4, false, decoder.I32}, "i64.store": {true, 8, false, decoder.I64},
	"f32.store": {true, 4, false, decoder.F32}, "f64.store": {true, 8, false, decoder.F64},
	"i32.store8": {true, 1, false, decoder.I32}, "i32.store16": {true, 2, false, decoder.I32},
	"i64.store8": {true, 1, false, decoder.I64}, "i64.store16": {true, 2, false, decoder.I64},
	"i64.store32": {true, 4, false, decoder.I64},
}

// accessOf gives a row's memory access, nil if it is not in the table.
func accessOf(r *Row) *access {
	if a, ok := accesses[r.Name]; ok {
		return &a
	}
	return nil
}

// offsets of memory accesses: small ones, the sign bit of an immediate, the
// end of the memory and of the address space.
var offsets = []uint32{0, 1, 7, 0xfff0, 0x10000, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1}
