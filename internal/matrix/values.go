package matrix

import "github.com/wasmjit/wasmjit/decoder"

// Edge values, the most telling first: binary opcodes take the first ones in
// all pairs.
var edges = map[decoder.Type][]uint64{
	decoder.I32: {
		0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 2, 31, 32, 63, 64,
		0xfffffffe, 0x80, 0x8000, 0xffff, 0x10000, 0x55555555,
		33, 0xff, 0x7f, 0x7fff, 0xff80, 0xdeadbeef, 0x80000001, 3, 10,
	},
	decoder.I64: {
		0, 1, 0xffffffffffffffff, 0x8000000000000000, 0x7fffffffffffffff, 2, 31, 32, 63, 64,
		0xffffffff, 0x100000000, 0x80000000, 0xffffffff80000000, 0x7fffffff, 0x123456789abcdef0,
		0xfffffffffffffffe, 0x80, 0x8000, 0xffffffff00000000, 0x8000000000000001, 3, 10,
		// Ties and near ties of the conversions to 24 and 53 bits.
		0x20000000000001, 0x20000000000003, 0xfffffffffffffbff, 0xfffffffffffffc00, 0x7ffffffffffffdff,
		0x1000001, 0x1000003, 0x8000008000000001, 0x8000008000000000, 0xffffff7fffffffff, 0xffffff8000000000,
	},
	decoder.F32: {
		0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, // 0 1 inf
		0x7fc00000, 0xffc00000, 0x7fc12345, 0x7f800001, 0xffa00000, // NaNs
		1, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, // denormal, limits
		0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, // 0.5 -0.5 1.5 2.5
		0x4f000000, 0x4effffff, 0xcf000000, 0xcf000001, 0x4f800000, 0x4f7fffff, // 2^31 2^32
		0x5f000000, 0x5effffff, 0xdf000000, 0xdf000001, 0x5f800000, 0x5f7fffff, // 2^63 2^64
		0xbf7fffff, 0xbf800001, 0x3effffff, 0xbeffffff, 0x4b000001, 0x4affffff, 0x4b7fffff, 0x40490fdb, 0x33800000,
	},
	decoder.F64: {
		0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
		0x7ff8000000000000, 0xfff8000000000000, 0x7ff8123456789abc, 0x7ff0000000000001, 0xfff4000000000000,
		1, 0x800fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
		0x3fe0000000000000, 0xbfe0000000000000, 0x3ff8000000000000, 0x4004000000000000,
		// 2147483647, .9, 2147483648; -2147483648, .9, -2147483649
		0x41dfffffffc00000, 0x41dffffffffccccd, 0x41e0000000000000, 0xc1e0000000000000, 0xc1e00000001ccccd, 0xc1e0000000200000,
		// 4294967295, .9, 4294967296
		0x41efffffffe00000, 0x41effffffffccccd, 0x41f0000000000000,
		// around 2^63, -2^63, 2^64
		0x43e0000000000000, 0x43dfffffffffffff, 0xc3e0000000000000, 0xc3e0000000000001, 0x43f0000000000000, 0x43efffffffffffff,
		0xbfefffffffffffff, 0xbff0000000000001, 0x3fdfffffffffffff, 0xbfdfffffffffffff, 0x4330000000000001, 0x432fffffffffffff,
		// limits and ties of the conversion to f32
		0x36a0000000000000, 0x3690000000000000, 0x3690000000000001, 0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000,
		0x3ff0000010000000, 0x3ff0000030000000, 0x3810000000000000, 0x380fffffffffffff,
	},
}

// pairValues is how many edge values binary opcodes take in all pairs.
const pairValues = 20

// inputs gives the operand tuples of an opcode: every edge value, or all
// pairs of the first ones.
func inputs(operands []decoder.Type) [][]uint64 {
	var in [][]uint64
	a := edges[operands[0]]
	if len(operands) == 1 {
		for _, x := range a {
			in = append(in, []uint64{x})
		}
		return in
	}
	b := edges[operands[1]]
	for _, x := range a[:min(len(a), pairValues)] {
		for _, y := range b[:min(len(b), pairValues)] {
			in = append(in, []uint64{x, y})
		}
	}
	return in
}

// pattern fills memory so that a wrong address or width shows.
func pattern(n int) []byte {
	p := make([]byte, n)
	x := uint32(1)
	for i := range p {
		x = x*1664525 + 1013904223
		p[i] = byte(x >> 24)
	}
	return p
}
