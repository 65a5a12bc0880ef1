//go:build linux && (amd64 || arm64)

package runtime

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
	"golang.org/x/sys/unix"
)

// What tests of native code need on both targets.

// place puts code into the arena for the length of a test.
func place(t testing.TB, code []byte) uintptr {
	t.Helper()
	arena, err := codemem.Default()
	if err != nil {
		t.Fatal(err)
	}
	space, err := arena.NewSpace(codemem.SpaceOptions{Expect: int64(len(code)), Owner: "test"})
	if err != nil {
		t.Fatal(err)
	}
	chunk, scope, err := space.NewChunk(len(code), "test")
	if err != nil {
		t.Fatal(err)
	}
	addr, ok := chunk.Alloc(len(code))
	if !ok {
		t.Fatal("chunk too small")
	}
	scope.Write(addr, code)
	scope.Close()
	if err := space.Seal(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := space.Free(); err != nil {
			t.Error(err)
		}
	})
	return addr
}

// block is memory outside the Go heap that serves as an instance block.
func block(t testing.TB) []uint64 {
	t.Helper()
	const size = 4096
	p, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(p) })
	return unsafe.Slice((*uint64)(unsafe.Pointer(&p[0])), size/8)
}

func addrOf(b []uint64) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

func testStack(t testing.TB, size int) *nativeStack {
	t.Helper()
	s, err := acquireStack(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.release)
	return s
}

// handler is an exitHandler of closures; what a test doesn't expect is nil
// and fails the run.
type handler struct {
	host        func(f *hostFrame) error
	rt          func(r liftoff.Routine, f *routineFrame) error
	pre         func() error
	preemptions int
}

func (h *handler) hostCall(f *hostFrame) error {
	if h.host == nil {
		return errors.New("unexpected host call")
	}
	return h.host(f)
}

func (h *handler) routine(r liftoff.Routine, f *routineFrame) error {
	if h.rt == nil {
		return errors.New("unexpected routine")
	}
	return h.rt(r, f)
}

func (h *handler) preempted() error {
	h.preemptions++
	if h.pre != nil {
		return h.pre()
	}
	return nil
}

// mustRun runs c and fails on a fault or an error.
func mustRun(t testing.TB, s *nativeStack, c *nativeCall, h exitHandler) {
	t.Helper()
	if fault, err := s.run(c, h); fault != nil || err != nil {
		t.Fatalf("run: fault %v, error %v", fault, err)
	}
}
