package arm64

import "math/bits"

// A logical immediate is a pattern that repeats in elements of 2, 4, 8, 16, 32
// or 64 bits, each a rotated run of ones that is neither empty nor the whole
// element (Arm ARM, DecodeBitMasks). Its field holds, from bit 10 of the
// instruction on, imms (the run's length less 1, below a prefix that tells the
// element's size), immr (the rotation to the right) and N (elements of 64 bits).

// logicalField encodes v for operations of width s.
func logicalField(s Size, v uint64) (f uint32, ok bool) {
	if s == S32 {
		if v>>32 != 0 {
			return 0, false
		}
		v |= v << 32
	}
	if v == 0 || v == ^uint64(0) {
		return 0, false
	}
	// Rotate so that a run of ones starts at bit 0 and the top bit is clear.
	rot := 0
	if v&1 != 0 {
		rot = bits.LeadingZeros64(^v)
		v = bits.RotateLeft64(v, rot)
		rot = -rot
	} else {
		rot = bits.TrailingZeros64(v)
		v = bits.RotateLeft64(v, -rot)
	}
	ones := bits.TrailingZeros64(^v)
	// The period is from this run to the start of the next, or everything.
	size := 64
	if rest := v >> ones; rest != 0 {
		size = ones + bits.TrailingZeros64(rest)
	}
	if size&(size-1) != 0 || bits.RotateLeft64(v, size) != v {
		return 0, false
	}
	immr := uint32(size-rot) & uint32(size-1)
	imms := uint32(-2*size)&0x3f | uint32(ones-1)
	n := uint32(size) >> 6
	return n<<22 | immr<<16 | imms<<10, true
}

// FitsLogical reports whether v is an immediate of [Asm.LogicI]; with S32 the
// upper half of v must be clear.
func FitsLogical(s Size, v uint64) bool {
	_, ok := logicalField(s, v)
	return ok
}

// FitsArith reports whether v is an immediate of [Asm.AddI]: 12 bits, or 12
// bits shifted left by 12.
func FitsArith(v uint64) bool { return v < 1<<12 || v&0xfff == 0 && v < 1<<24 }

// FitsFloat gives the field of [Asm.FmovI] for the bits of a number: a sign, a
// 3-bit exponent and 4 bits of fraction.
func fitsFloat(double bool, v uint64) (f uint32, ok bool) {
	if !double {
		// Widen, exponent and fraction alike.
		if v>>32 != 0 || v&(1<<19-1) != 0 {
			return 0, false
		}
		e := v >> 25 & 0x3f
		if e != 0x20 && e != 0x1f {
			return 0, false
		}
		return uint32(v>>24&0x80 | v>>19&0x7f), true
	}
	if v&(1<<48-1) != 0 {
		return 0, false
	}
	e := v >> 54 & 0x1ff
	if e != 0x100 && e != 0xff {
		return 0, false
	}
	return uint32(v>>56&0x80 | v>>48&0x7f), true
}

// FitsFloat reports whether the number with these bits is an immediate of
// [Asm.FmovI]; a single has its bits in the lower half.
func FitsFloat(double bool, bits uint64) bool {
	_, ok := fitsFloat(double, bits)
	return ok
}
