package synth

// Options choose a module.
type Options struct {
	// Functions is the number of defined functions, besides the two that
	// drive the others. At least 1.
	Functions int
	// SizePercent scales the bodies; 100 keeps the measured sizes, about
	// 340 bytes on average. 0 means 100.
	SizePercent int
	// Import adds one function import, wasi_snapshot_preview1.sched_yield,
	// which two of a hundred calls go to.
	Import bool
	// Names adds a name section with a name for each function.
	Names bool
	// Seed selects one of many modules of the same shape.
	Seed uint64
}

// Unity is the shape of a mobile game's WebGL build: 45,000 functions and
// 16 MB of code.
func Unity() Options { return Options{Functions: 45000, Import: true, Seed: 1} }

// quantile is a point of the distribution of body sizes: the share of the
// functions that are smaller than bytes, in units of 1/10000.
type quantile struct{ share, bytes int }

// sizes was measured on rooftop2@3.0.0, a Unity build on npm.
var sizes = []quantile{
	{0, 3}, {100, 7}, {500, 12}, {1000, 16}, {2000, 35}, {3000, 59}, {4000, 84},
	{5000, 119}, {6000, 169}, {7000, 258}, {8000, 400}, {9000, 750},
	{9500, 1260}, {9900, 3423}, {9990, 10177}, {9999, 27727}, {10000, 50048},
}

// bodySize is the body size in bytes of the function at rank i of n when all
// are ordered by size, by linear interpolation between the quantiles.
func bodySize(i, n int) int {
	// Shares in 1/10000 are too coarse for 200,000 functions: 1/10^9.
	const unit = 100_000
	at := int((int64(2*i+1) * 10000 * unit) / int64(2*n))
	for k := 1; k < len(sizes); k++ {
		a, b := sizes[k-1], sizes[k]
		if at <= b.share*unit {
			return a.bytes + int(int64(b.bytes-a.bytes)*int64(at-a.share*unit)/int64((b.share-a.share)*unit))
		}
	}
	return sizes[len(sizes)-1].bytes
}

// bodySizes returns the sizes of all bodies in the order of the functions.
func (o Options) bodySizes(r *rng) []int {
	percent := o.SizePercent
	if percent <= 0 {
		percent = 100
	}
	s := make([]int, o.Functions)
	for i := range s {
		s[i] = max(3, bodySize(i, len(s))*percent/100)
	}
	for i := len(s) - 1; i > 0; i-- {
		j := r.below(i + 1)
		s[i], s[j] = s[j], s[i]
	}
	return s
}

// kind is what a value is good for; it refines the value type.
type kind uint8

const (
	kindInt  kind = iota // any i32
	kindPtr              // i32 within [0, ptrMask]: an address of the integer part of the memory
	kindF32              // f32
	kindF64              // f64
	kindI64              // i64
	kindFPtr             // i32, address in the f32 part of the memory
	kindDPtr             // i32, address in the f64 part
	kindLoop             // i32, the counter of a loop; only the loop writes it
	numKinds

	kindVoid kind = 255 // no result
)

// The memory: integers in the first half, of which pointers reach the lower
// half, then the f32 and the f64 part. A pointer with the largest offset and
// index added (64,000 and 2 KiB) stays within its part, so ptrMask leaves out
// a bit below its highest ones.
const (
	memoryPages = 256
	ptrMask     = 0x3efff8
	f32Base     = 0x800000
	f64Base     = 0xc00000
)

// signature is a function type by kinds.
type signature struct {
	params []kind
	result kind
}

// signatures are the function types of a module; the weights say how often a
// function gets one. Methods with a this pointer prevail, as in C++.
var signatures = []struct {
	signature
	weight int
}{
	{signature{[]kind{kindPtr}, kindInt}, 14},
	{signature{[]kind{kindPtr}, kindVoid}, 12},
	{signature{[]kind{kindPtr, kindInt}, kindInt}, 12},
	{signature{[]kind{kindPtr, kindPtr}, kindVoid}, 10},
	{signature{[]kind{kindPtr, kindPtr}, kindInt}, 9},
	{signature{[]kind{kindPtr, kindInt, kindInt}, kindVoid}, 8},
	{signature{[]kind{kindPtr, kindPtr, kindInt}, kindInt}, 8},
	{signature{[]kind{kindPtr, kindPtr, kindInt, kindInt}, kindVoid}, 4},
	{signature{[]kind{kindPtr, kindInt, kindInt, kindInt, kindInt}, kindInt}, 3},
	{signature{[]kind{kindPtr, kindPtr, kindPtr, kindInt, kindInt, kindInt, kindInt, kindInt}, kindVoid}, 2},
	{signature{[]kind{kindPtr}, kindF32}, 3},
	{signature{[]kind{kindPtr, kindF32}, kindVoid}, 3},
	{signature{[]kind{kindPtr, kindF32, kindF32, kindF32}, kindVoid}, 2},
	{signature{[]kind{kindPtr, kindF32, kindF32}, kindF32}, 2},
	{signature{[]kind{kindPtr, kindF64}, kindF64}, 1},
	{signature{[]kind{kindPtr, kindI64}, kindI64}, 1},
	{signature{[]kind{kindPtr, kindI64, kindInt}, kindInt}, 1},
	{signature{nil, kindVoid}, 2},
	{signature{nil, kindInt}, 3},
}
