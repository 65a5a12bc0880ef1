package decoder

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// padded gives bytes with the padding that the readers may touch.
func padded(b []byte) unsafe.Pointer {
	b = append(append(make([]byte, 0, len(b)+Padding), b...), make([]byte, Padding)...)
	return unsafe.Pointer(unsafe.SliceData(b))
}

func TestLEB(t *testing.T) {
	const bad = math.MinInt64 + 12345
	for _, c := range []struct {
		bytes              string
		u32, s32, s33, s64 int64
	}{
		{"\x00", 0, 0, 0, 0},
		{"\x3f", 63, 63, 63, 63},
		{"\x40", 64, -64, -64, -64},
		{"\x7f", 127, -1, -1, -1},
		{"\x80\x01", 128, 128, 128, 128},
		{"\xff\x00", 127, 127, 127, 127},
		{"\x80\x7f", 0x3f80, -128, -128, -128},
		{"\x80\x80\x80\x80\x00", 0, 0, 0, 0},
		{"\xff\xff\xff\xff\x07", math.MaxInt32, math.MaxInt32, math.MaxInt32, math.MaxInt32},
		{"\xff\xff\xff\xff\x0f", math.MaxUint32, bad, math.MaxUint32, math.MaxUint32},
		{"\x80\x80\x80\x80\x08", 1 << 31, bad, 1 << 31, 1 << 31},
		{"\x80\x80\x80\x80\x10", bad, bad, bad, 1 << 32},
		{"\x80\x80\x80\x80\x78", bad, math.MinInt32, math.MinInt32, math.MinInt32},
		{"\x80\x80\x80\x80\x70", bad, bad, -1 << 32, -1 << 32},
		{"\xff\xff\xff\xff\x7f", bad, -1, -1, -1},
		{"\x80\x80\x80\x80\x40", bad, bad, bad, -1 << 34},
		{"\x80\x80\x80\x80\x20", bad, bad, bad, 1 << 33},
		{"\x80\x80\x80\x80\x80\x00", bad, bad, bad, 0},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", bad, bad, bad, math.MaxInt64},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", bad, bad, bad, math.MinInt64},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", bad, bad, bad, bad},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7e", bad, bad, bad, bad},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", bad, bad, bad, -1},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", bad, bad, bad, bad},
	} {
		p := padded([]byte(c.bytes))
		check := func(name string, have int64, next int, want int64) {
			if want == bad {
				if next != Malformed {
					t.Errorf("%s of % x: got %d, want it refused", name, c.bytes, have)
				}
			} else if have != want || next != len(c.bytes) {
				t.Errorf("%s of % x: got %d up to %d, want %d", name, c.bytes, have, next, want)
			}
		}
		u, n := U32(p, 0)
		check("U32", int64(u), n, c.u32)
		s, n := S32(p, 0)
		check("S32", int64(s), n, c.s32)
		l, n := S33(p, 0)
		check("S33", l, n, c.s33)
		l, n = S64(p, 0)
		check("S64", l, n, c.s64)
	}
}

// sleb encodes v in at least size bytes.
func sleb(v int64, size int) []byte {
	var b []byte
	for {
		x := byte(v) & 0x7f
		v >>= 7
		if len(b)+1 >= size && (v == 0 && x < 0x40 || v == -1 && x >= 0x40) {
			return append(b, x)
		}
		b = append(b, x|0x80)
	}
}

// TestLEBRoundTrip reads what an independent encoder wrote, at all lengths
// that padding allows.
func TestLEBRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		v := int64(r.Uint64()) >> r.IntN(64)
		b := sleb(v, 1+r.IntN(10))
		if got, n := S64(padded(b), 0); got != v || n != len(b) {
			t.Fatalf("S64 of % x = %d (%d bytes), want %d", b, got, n, v)
		}
		w := int64(int32(v))
		b = sleb(w, 1+r.IntN(5))
		if got, n := S32(padded(b), 0); int64(got) != w || n != len(b) {
			t.Fatalf("S32 of % x = %d (%d bytes), want %d", b, got, n, w)
		}
		if got, n := S33(padded(b), 0); got != w || n != len(b) {
			t.Fatalf("S33 of % x = %d (%d bytes), want %d", b, got, n, w)
		}
		b = leb(uint32(w))
		if got, n := U32(padded(b), 0); got != uint32(w) || n != len(b) {
			t.Fatalf("U32 of % x = %d (%d bytes), want %d", b, got, n, uint32(w))
		}
	}
}
