//go:build linux

package runtime

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// TestBulkRoutines compares memory.copy and memory.fill with Go's own, over
// every small length and many positions, overlapping in both directions.
func TestBulkRoutines(t *testing.T) {
	m := wasmtest.New()
	m.Export("m", decoder.ExternMemory, m.Memory(1, 1))
	ft := m.Type(types(decoder.I32, decoder.I32, decoder.I32), nil)
	m.Func("copy", ft, nil, code(func(c *wasmtest.Code) { c.Get(0).Get(1).Get(2).OpU(0xfc0a, 0, 0) }))
	m.Func("fill", ft, nil, code(func(c *wasmtest.Code) { c.Get(0).Get(1).Get(2).OpU(0xfc0b, 0) }))
	s := newStore(t, Config{})
	i := start(t, s, m, nil)
	mem := i.Memory("m").Bytes()
	want := make([]byte, len(mem))
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range mem {
		mem[k] = byte(rng.Uint32())
	}
	copy(want, mem)
	try := func(dst, src, n int) {
		mustCall(t, i.Func("copy"), uint64(dst), uint64(src), uint64(n))
		copy(want[dst:dst+n], want[src:src+n])
		if !bytes.Equal(mem, want) {
			t.Fatalf("copy to %d from %d of %d bytes", dst, src, n)
		}
		v := byte(dst + n)
		mustCall(t, i.Func("fill"), uint64(src), uint64(v)|0xffff_ff00, uint64(n/2))
		for k := range n / 2 {
			want[src+k] = v
		}
		if !bytes.Equal(mem, want) {
			t.Fatalf("fill at %d of %d bytes", src, n/2)
		}
	}
	for n := range 140 {
		for _, d := range []int{-65, -33, -32, -31, -7, -1, 0, 1, 3, 16, 31, 32, 33, 100} {
			try(1000+d, 1000, n)
		}
	}
	for range 100 {
		n := rng.IntN(5000)
		try(rng.IntN(len(mem)-n+1), rng.IntN(len(mem)-n+1), n)
	}
	try(0, 0, len(mem))
	try(len(mem), 0, 0)
	for _, args := range [][]uint64{{65536, 1, 1}, {65537, 1, 0}, {0xffff_ffff, 0, 1}, {0, 0, 0xffff_ffff}, {1, 0, 65536}} {
		for _, name := range []string{"copy", "fill"} {
			if _, err := i.Func(name).Call(bg, args...); err == nil {
				t.Errorf("%s%v didn't trap", name, args)
			}
		}
	}
	for _, args := range [][]uint64{{1, 65536, 1}, {0, 65537, 0}, {0, 0xffff_ffff, 1}} {
		if _, err := i.Func("copy").Call(bg, args...); err == nil {
			t.Errorf("copy%v didn't trap", args)
		}
	}
	if !bytes.Equal(mem, want) {
		t.Error("a trapping operation wrote")
	}
}
