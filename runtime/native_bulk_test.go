//go:build linux && amd64

package runtime

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	. "github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/liftoff"
	"golang.org/x/sys/unix"
)

// bulkMemories makes an instance block with two memories of n bytes, each
// with an inaccessible page on both sides, and gives their contents.
func bulkMemories(t testing.TB, n int) (inst []uint64, mem [2][]byte) {
	inst = block(t)
	for i := range mem {
		p, err := unix.Mmap(-1, 0, n+2*4096, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Munmap(p) })
		mem[i] = p[4096 : 4096+n]
		if err := unix.Mprotect(mem[i], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			t.Fatal(err)
		}
		rec := inst[16+2*i:]
		inst[liftoff.InstHeader/8+i] = uint64(addrOf(rec))
		rec[liftoff.MemRecBase/8] = uint64(uintptr(unsafe.Pointer(&mem[i][0])))
		rec[liftoff.MemRecBytes/8] = uint64(n)
	}
	inst[liftoff.InstMemBase] = uint64(uintptr(unsafe.Pointer(&mem[0][0])))
	return inst, mem
}

// bulkCaller is a guest function that calls routine r with its own arguments
// and stores what must survive.
func bulkCaller(t testing.TB, r liftoff.Routine) uintptr {
	return native(t, function(func(a *Asm) {
		fillKept(a)
		a.CallM(At(R15, liftoff.CtxRoutines+8*int32(r)))
		a.MovMR(S64, At(R14, 56), RBX)
		a.MovMR(S64, At(R14, 48), RSP)
		a.MovRR(S64, RDI, RBP)
		a.MovMR(S64, At(R14, 40), RDI)
	}))
}

func TestNativeBulkCopy(t *testing.T) {
	const size = 16 << 10
	inst, mem := bulkMemories(t, size)
	entry := bulkCaller(t, liftoff.MemoryCopy)
	s := testStack(t, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	want := [2][]byte{make([]byte, size), make([]byte, size)}
	check := func(dm, sm, dst, src, n int) {
		t.Helper()
		for i := range mem {
			copy(mem[i], noise)
			copy(want[i], noise)
		}
		copy(want[dm][dst:dst+n], want[sm][src:src+n])
		c := &nativeCall{Entry: entry, Inst: addrOf(inst), GP: [4]uint64{uint64(dm)<<32 | uint64(sm), uint64(dst), uint64(src), uint64(n)}}
		mustRun(t, s, c, &handler{})
		for i := range mem {
			if !bytes.Equal(mem[i], want[i]) {
				t.Fatalf("copy of %d bytes from %d:%d to %d:%d: memory %d is wrong", n, sm, src, dm, dst, i)
			}
		}
		if inst[7] != inst[0] || inst[6] != inst[5] {
			t.Fatalf("copy of %d bytes: rbx %#x, rsp %#x; want %#x, %#x", n, inst[7], inst[6], inst[0], inst[5])
		}
	}
	// Every length across the small cases, at every kind of distance.
	for n := range 200 {
		for _, d := range []int{-300, -65, -64, -63, -33, -17, -16, -9, -5, -1, 0, 1, 3, 8, 15, 16, 31, 32, 63, 64, 65, 300} {
			check(0, 0, 400+d, 400, n)
		}
		check(1, 0, 7, 13, n)
		check(0, 1, size-n, size-n, n) // both ends touch the guard
		check(1, 0, 0, 0, n)
	}
	for _, n := range []int{255, 256, 1000, repFrom - 1, repFrom, repFrom + 1, 4096, 5000, 8192} {
		for _, d := range []int{-8000, -n, -n + 1, -4096, -100, -64, -1, 0, 1, 64, 100, 4096, n - 1, n} {
			if 8100+d >= 0 && 8100+max(d, 0)+n <= size {
				check(0, 0, 8100+d, 8100, n)
			}
		}
		check(1, 0, size-n, 0, n)
		check(0, 1, 1, size-n, n)
	}
	check(1, 0, 0, 0, size)
}

func TestNativeBulkFill(t *testing.T) {
	const size = 16 << 10
	inst, mem := bulkMemories(t, size)
	entry := bulkCaller(t, liftoff.MemoryFill)
	s := testStack(t, 0)
	want := make([]byte, size)
	check := func(m, at, n int, v uint64) {
		t.Helper()
		for i := range want {
			want[i] = 0xee
		}
		copy(mem[m], want)
		for i := range n {
			want[at+i] = byte(v)
		}
		mustRun(t, s, &nativeCall{Entry: entry, Inst: addrOf(inst), GP: [4]uint64{uint64(m), uint64(at), v, uint64(n)}}, &handler{})
		if !bytes.Equal(mem[m], want) {
			t.Fatalf("fill of %d bytes at %d:%d with %#x is wrong", n, m, at, v)
		}
		if inst[7] != inst[0] || inst[6] != inst[5] {
			t.Fatalf("fill of %d bytes: rbx %#x, rsp %#x; want %#x, %#x", n, inst[7], inst[6], inst[0], inst[5])
		}
	}
	for n := range 300 {
		check(0, 64+n%17, n, 0xffffff80+uint64(n))
		check(1, size-n, n, 0x1ff)
	}
	for _, n := range []int{1000, repFrom - 1, repFrom, repFrom + 1, 5000, size} {
		check(1, 0, n, 0x100)
		check(0, size-n, n, 0xab)
	}
}

// TestNativeBulkBounds: what is out of bounds reaches the Go routine with the
// arguments as they came, and nothing else does.
func TestNativeBulkBounds(t *testing.T) {
	const size = 4096
	inst, mem := bulkMemories(t, size)
	s := testStack(t, 0)
	boom := errors.New("out of bounds")
	big := []uint64{size + 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 63, ^uint64(0)}
	for _, r := range []liftoff.Routine{liftoff.MemoryCopy, liftoff.MemoryFill} {
		entry := bulkCaller(t, r)
		run := func(args [4]uint64, inside bool) {
			t.Helper()
			copy(mem[0], "unchanged")
			copy(mem[1], "unchanged")
			called := false
			h := &handler{rt: func(got liftoff.Routine, f *routineFrame) error {
				called = true
				if got != r || f.Args != args || f.Inst != addrOf(inst) || f.mem != inst[0] {
					t.Errorf("routine %d, arguments %#x, instance %#x, rbx %#x; want %d, %#x, %#x, %#x", got, f.Args, f.Inst, f.mem, r, args, addrOf(inst), inst[0])
				}
				return boom
			}}
			fault, err := s.run(&nativeCall{Entry: entry, Inst: addrOf(inst), GP: args}, h)
			switch {
			case inside && (called || err != nil || fault != nil):
				t.Errorf("routine %d %#x: fault %v, error %v, want none", r, args, fault, err)
			case !inside && (!called || err != boom):
				t.Errorf("routine %d %#x: called %t, error %v, want true, %v", r, args, called, err, boom)
			}
			if !inside && (!bytes.HasPrefix(mem[0], []byte("unchanged")) || !bytes.HasPrefix(mem[1], []byte("unchanged"))) {
				t.Errorf("routine %d %#x: memory changed", r, args)
			}
		}
		imm := uint64(1) << 32
		if r == liftoff.MemoryFill {
			imm = 1
		}
		run([4]uint64{imm, size, size, 0}, true)
		run([4]uint64{imm, 0, 0, size}, true)
		run([4]uint64{imm, size - 1, 0, 1}, true)
		run([4]uint64{imm, size - 1, 0, 2}, false)
		for _, v := range big {
			run([4]uint64{imm, v, 0, 0}, false)
			run([4]uint64{imm, 0, 0, v}, false)
			run([4]uint64{imm, v, 0, 1}, false)
			run([4]uint64{imm, 1, 0, v}, false)
			run([4]uint64{imm, v, 0, -v}, false)
			if r == liftoff.MemoryCopy {
				run([4]uint64{imm, 0, v, 0}, false)
				run([4]uint64{imm, 0, v, 1}, false)
				run([4]uint64{imm, 0, v, -v}, false)
			}
		}
		if r == liftoff.MemoryCopy {
			run([4]uint64{imm, 0, size - 1, 2}, false)
			run([4]uint64{imm, 0, size - 1, 1}, true)
		}
	}
}

func BenchmarkNativeBulkCopy(b *testing.B) {
	const size = 1 << 20
	inst, _ := bulkMemories(b, size)
	// The guest calls the routine 1024 times, its result being ignored.
	entry := native(b, function(func(a *Asm) {
		a.Push(R8)
		a.Push(R9)
		a.MovRI32(R8, 1024)
		a.MovRR(S64, R9, RSI)
		top := a.Pos()
		a.MovRI64(RAX, 1<<32)
		a.MovRI32(RCX, 64)
		a.MovRI32(RDX, 128)
		a.MovRR(S64, RSI, R9)
		a.CallM(At(R15, liftoff.CtxRoutines+8*int32(liftoff.MemoryCopy)))
		a.AluRI(SUB, S64, R8, 1)
		a.JccBack(NE, top)
		a.Pop(R9)
		a.Pop(R8)
	}))
	s := testStack(b, 0)
	for _, n := range []uint64{8, 32, 64, 256, 1024, 2047, 2048, 4096, 65536} {
		b.Run(sizeName(n), func(b *testing.B) {
			c := &nativeCall{Entry: entry, Inst: addrOf(inst), GP: [4]uint64{0, 0, 0, n}}
			b.SetBytes(int64(n))
			for i := 0; i < b.N; i += 1024 {
				mustRun(b, s, c, &handler{})
			}
		})
	}
}
