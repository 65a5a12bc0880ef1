// Package refinterp is a reference interpreter for scalar WebAssembly 2.0. It
// is written from the specification and shares no code with the compiler:
// slow, simple, and the other side of every differential test.
package refinterp

import (
	"math"
	"math/big"
	"math/bits"
)

// Traps that a numeric instruction can raise, in the specification's words.
const (
	trapDivideByZero = "integer divide by zero"
	trapOverflow     = "integer overflow"
	trapConversion   = "invalid conversion to integer"
)

// Canonical NaNs (spec 2.2.3).
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

// Arity is the number of operands of a numeric instruction, 0 for an opcode
// that is none. A two-byte opcode is written 0xfc00 | sub-opcode.
func Arity(op uint32) int {
	switch {
	case op == 0x45 || op == 0x50 || op >= 0x67 && op <= 0x69 || op >= 0x79 && op <= 0x7b,
		op >= 0x8b && op <= 0x91, op >= 0x99 && op <= 0x9f, op >= 0xa7 && op <= 0xc4,
		op >= 0xfc00 && op <= 0xfc07:
		return 1
	case op >= 0x46 && op <= 0xa6:
		return 2
	}
	return 0
}

// Numeric executes a numeric instruction (spec 4.4.1). Operands and result
// are bits, 32-bit ones zero-extended. The trap is "" if there is none.
func Numeric(op uint32, a, b uint64) (result uint64, trap string) {
	switch {
	case op <= 0x4f:
		return boolean(intCompare(op-0x46, op == 0x45, uint64(sx32(a)), uint64(sx32(b)), a&m32, b&m32)), ""
	case op <= 0x5a:
		return boolean(intCompare(op-0x51, op == 0x50, a, b, a, b)), ""
	case op <= 0x60:
		return boolean(floatCompare(op-0x5b, f32(a), f32(b))), ""
	case op <= 0x66:
		return boolean(floatCompare(op-0x61, math.Float64frombits(a), math.Float64frombits(b))), ""
	case op <= 0x78:
		r, trap := integer(op-0x67, a&m32, b&m32, 32)
		return r & m32, trap
	case op <= 0x8a:
		return integer(op-0x79, a, b, 64)
	case op <= 0x98:
		return float(op-0x8b, a, b, 32), ""
	case op <= 0xa6:
		return float(op-0x99, a, b, 64), ""
	}
	return convert(op, a)
}

const m32 = math.MaxUint32

func sx32(v uint64) int64 { return int64(int32(uint32(v))) }

func f32(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) }

func boolean(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// intCompare executes eqz and the ten comparisons eq ne lt_s lt_u gt_s gt_u
// le_s le_u ge_s ge_u. sa and sb are sign-extended, a and b zero-extended.
func intCompare(k uint32, eqz bool, sa, sb, a, b uint64) bool {
	if eqz {
		return a == 0
	}
	x, y := int64(sa), int64(sb)
	return [...]bool{a == b, a != b, x < y, a < b, x > y, a > b, x <= y, a <= b, x >= y, a >= b}[k]
}

// floatCompare executes eq ne lt gt le ge; all but ne are false on NaN.
func floatCompare(k uint32, a, b float64) bool {
	return [...]bool{a == b, a != b, a < b, a > b, a <= b, a >= b}[k]
}

// integer executes clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or
// xor shl shr_s shr_u rotl rotr on n bits.
func integer(k uint32, a, b uint64, n int) (uint64, string) {
	mask := uint64(math.MaxUint64) >> (64 - n)
	signed := func(v uint64) int64 { return int64(v<<(64-n)) >> (64 - n) }
	shift := b % uint64(n)
	switch k {
	case 0:
		return uint64(bits.LeadingZeros64(a) - (64 - n)), ""
	case 1:
		return uint64(min(bits.TrailingZeros64(a), n)), ""
	case 2:
		return uint64(bits.OnesCount64(a)), ""
	case 3:
		return a + b, ""
	case 4:
		return a - b, ""
	case 5:
		return a * b, ""
	case 6, 7, 8, 9:
		if b == 0 {
			return 0, trapDivideByZero
		}
		x, y := big.NewInt(signed(a)), big.NewInt(signed(b))
		if k == 7 || k == 9 {
			x.SetUint64(a)
			y.SetUint64(b)
		}
		q, r := new(big.Int).QuoRem(x, y, new(big.Int))
		if k >= 8 {
			return low64(r), ""
		}
		// Only the smallest value divided by -1 leaves the signed range.
		if k == 6 && q.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(n-1))) >= 0 {
			return 0, trapOverflow
		}
		return low64(q), ""
	case 10:
		return a & b, ""
	case 11:
		return a | b, ""
	case 12:
		return a ^ b, ""
	case 13:
		return a << shift, ""
	case 14:
		return uint64(signed(a) >> shift), ""
	case 15:
		return a >> shift, ""
	case 16:
		return a<<shift | a&mask>>(uint64(n)-shift), ""
	default:
		return a&mask>>shift | a<<(uint64(n)-shift), ""
	}
}

// low64 is the two's complement of v in 64 bits.
func low64(v *big.Int) uint64 {
	if v.Sign() < 0 {
		return -new(big.Int).Neg(v).Uint64()
	}
	return v.Uint64()
}

// float executes abs neg ceil floor trunc nearest sqrt add sub mul div min
// max copysign on n bits. A NaN that the specification leaves open comes out
// canonical.
func float(k uint32, a, b uint64, n int) uint64 {
	sign := uint64(1) << (n - 1)
	switch k {
	case 0:
		return a &^ sign
	case 1:
		return a ^ sign
	case 13:
		return a&^sign | b&sign
	}
	x, y := f32(a), f32(b)
	if n == 64 {
		x, y = math.Float64frombits(a), math.Float64frombits(b)
	}
	var r float64
	switch k {
	case 2:
		r = math.Ceil(x)
	case 3:
		r = math.Floor(x)
	case 4:
		r = math.Trunc(x)
	case 5:
		r = math.RoundToEven(x)
	case 6:
		r = math.Sqrt(x)
	case 7:
		r = arith(x, y, n, func(x, y float32) float32 { return x + y }, func(x, y float64) float64 { return x + y })
	case 8:
		r = arith(x, y, n, func(x, y float32) float32 { return x - y }, func(x, y float64) float64 { return x - y })
	case 9:
		r = arith(x, y, n, func(x, y float32) float32 { return x * y }, func(x, y float64) float64 { return x * y })
	case 10:
		r = arith(x, y, n, func(x, y float32) float32 { return x / y }, func(x, y float64) float64 { return x / y })
	case 11:
		r = math.Min(x, y)
	case 12:
		r = math.Max(x, y)
	}
	// math.Min and Max give an infinity where IEEE and Wasm want a NaN.
	if k >= 11 && (math.IsNaN(x) || math.IsNaN(y)) {
		r = math.NaN()
	}
	return bitsOf(r, n)
}

func arith(x, y float64, n int, f func(x, y float32) float32, g func(x, y float64) float64) float64 {
	if n == 32 {
		return float64(f(float32(x), float32(y)))
	}
	return g(x, y)
}

// bitsOf gives the bits of a float of n bits, rounded once.
func bitsOf(x float64, n int) uint64 {
	switch {
	case math.IsNaN(x) && n == 32:
		return nan32
	case math.IsNaN(x):
		return nan64
	case n == 32:
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}
