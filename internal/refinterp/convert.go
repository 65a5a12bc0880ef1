package refinterp

import (
	"math"
	"math/big"
)

// convert executes the conversions 0xa7 to 0xc4 and the saturating ones
// 0xfc00 to 0xfc07 (spec 4.3.4).
func convert(op uint32, a uint64) (uint64, string) {
	switch op {
	case 0xa7: // i32.wrap_i64
		return a & m32, ""
	case 0xa8, 0xa9, 0xaa, 0xab: // i32.trunc_f32_s f32_u f64_s f64_u
		r, trap := truncate(source(op-0xa8, a), 32, op&1 == 0)
		return r, trap
	case 0xac: // i64.extend_i32_s
		return uint64(sx32(a)), ""
	case 0xad: // i64.extend_i32_u
		return a & m32, ""
	case 0xae, 0xaf, 0xb0, 0xb1: // i64.trunc_f32_s f32_u f64_s f64_u
		r, trap := truncate(source(op-0xae, a), 64, op&1 == 0)
		return r, trap
	case 0xb2, 0xb3, 0xb4, 0xb5: // f32.convert_i32_s i32_u i64_s i64_u
		f, _ := integerToBig(op-0xb2, a).Float32()
		return uint64(math.Float32bits(f)), ""
	case 0xb6: // f32.demote_f64
		return bitsOf(math.Float64frombits(a), 32), ""
	case 0xb7, 0xb8, 0xb9, 0xba: // f64.convert_i32_s i32_u i64_s i64_u
		f, _ := integerToBig(op-0xb7, a).Float64()
		return math.Float64bits(f), ""
	case 0xbb: // f64.promote_f32
		return bitsOf(f32(a), 64), ""
	case 0xbc, 0xbe: // i32.reinterpret_f32, f32.reinterpret_i32
		return a & m32, ""
	case 0xbd, 0xbf:
		return a, ""
	case 0xc0: // i32.extend8_s
		return uint64(int64(int8(a))) & m32, ""
	case 0xc1:
		return uint64(int64(int16(a))) & m32, ""
	case 0xc2: // i64.extend8_s
		return uint64(int64(int8(a))), ""
	case 0xc3:
		return uint64(int64(int16(a))), ""
	case 0xc4:
		return uint64(sx32(a)), ""
	}
	// i32.trunc_sat_f32_s f32_u f64_s f64_u, then i64
	k := op - 0xfc00
	n := 32
	if k >= 4 {
		n = 64
	}
	return saturate(source(k%4, a), n, k%2 == 0), ""
}

// source reads the operand of a truncation: f32 for k 0 and 1, else f64.
func source(k uint32, a uint64) float64 {
	if k < 2 {
		return f32(a)
	}
	return math.Float64frombits(a)
}

// integerToBig reads the operand of a conversion: i32_s i32_u i64_s i64_u.
func integerToBig(k uint32, a uint64) *big.Float {
	switch k {
	case 0:
		return new(big.Float).SetInt64(sx32(a))
	case 1:
		return new(big.Float).SetUint64(a & m32)
	case 2:
		return new(big.Float).SetInt64(int64(a))
	}
	return new(big.Float).SetUint64(a)
}

// limits are the smallest and largest integer of n bits.
func limits(n int, signed bool) (lo, hi *big.Int) {
	one := big.NewInt(1)
	if signed {
		hi = new(big.Int).Lsh(one, uint(n-1))
		lo = new(big.Int).Neg(hi)
	} else {
		hi = new(big.Int).Lsh(one, uint(n))
		lo = new(big.Int)
	}
	return lo, hi.Sub(hi, one)
}

func truncate(x float64, n int, signed bool) (uint64, string) {
	if math.IsNaN(x) {
		return 0, trapConversion
	}
	lo, hi := limits(n, signed)
	if math.IsInf(x, 0) {
		return 0, trapOverflow
	}
	v, _ := new(big.Float).SetFloat64(x).Int(nil) // toward zero
	if v.Cmp(lo) < 0 || v.Cmp(hi) > 0 {
		return 0, trapOverflow
	}
	return low64(v) & (math.MaxUint64 >> (64 - n)), ""
}

func saturate(x float64, n int, signed bool) uint64 {
	if math.IsNaN(x) {
		return 0
	}
	lo, hi := limits(n, signed)
	v := hi
	if math.Signbit(x) {
		v = lo
	}
	if !math.IsInf(x, 0) {
		v, _ = new(big.Float).SetFloat64(x).Int(nil)
		if v.Cmp(lo) < 0 {
			v = lo
		} else if v.Cmp(hi) > 0 {
			v = hi
		}
	}
	return low64(v) & (math.MaxUint64 >> (64 - n))
}

// floatResult gives the bits of a float result that the specification may
// leave open as a NaN, 0 for instructions whose result is exact.
func floatResult(op uint32) int {
	switch {
	case op >= 0x8d && op <= 0x97, op == 0xb6: // all but abs, neg and copysign
		return 32
	case op >= 0x9b && op <= 0xa5, op == 0xbb:
		return 64
	}
	return 0
}

// floatOperand is the width of the float operands of an instruction with a
// floatResult.
func floatOperand(op uint32) int {
	switch op {
	case 0xb6:
		return 64
	case 0xbb:
		return 32
	}
	return floatResult(op)
}

// Accepts reports whether got is a result that the specification allows for
// a numeric instruction whose result is want by Numeric: any canonical NaN
// for NaN when no operand is a non-canonical NaN, else any arithmetic NaN
// (spec 4.3.3, NaN propagation).
func Accepts(op uint32, want, got uint64, operands ...uint64) bool {
	n := floatResult(op)
	if n == 0 || !isNaN(want, n) {
		return got == want
	}
	if n == 32 && got>>32 != 0 || !isQuiet(got, n) {
		return false
	}
	for _, o := range operands {
		if w := floatOperand(op); isNaN(o, w) && !isCanonical(o, w) {
			return true
		}
	}
	return isCanonical(got, n)
}

func isNaN(v uint64, n int) bool {
	if n == 32 {
		return v&0x7fffffff > 0x7f800000
	}
	return v&(math.MaxUint64>>1) > 0x7ff<<52
}

func isQuiet(v uint64, n int) bool {
	if n == 32 {
		return v&nan32 == nan32
	}
	return v&nan64 == nan64
}

func isCanonical(v uint64, n int) bool {
	if n == 32 {
		return v&0x7fffffff == nan32
	}
	return v&(math.MaxUint64>>1) == nan64
}
