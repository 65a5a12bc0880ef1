//go:build linux && (amd64 || arm64)

package runtime

import (
	"fmt"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/wasmjit/wasmjit/liftoff"
	"golang.org/x/sys/unix"
)

const (
	defaultStack = 8 << 20
	maxStack     = 1 << 30
	// stackGuard catches every frame of up to GuardProbe bytes, with the
	// frame of a stub or of a callee's arguments on top.
	stackGuard = 2*liftoff.GuardProbe + 64<<10
	ctxBytes   = 4096
	// entryRoom is what a run needs below its argument cells for the entry
	// stub.
	entryRoom = 4096
)

// ctxBlock is the context block of a native stack: what stubs, signal handlers
// and the Go loop tell one another. A register holds its address at
// every native instruction (liftoff/abi.go). It is page-aligned and lies directly above the stack, outside
// the Go heap; assembly takes the offsets from go_asm.h.
type ctxBlock struct {
	// Where Go goes on: written whenever native code is entered or resumed,
	// since the goroutine's stack may have moved.
	goSP, goFP, goPC uintptr

	// Where native code goes on. resumePC is the entry stub before a run.
	wasmSP, wasmFP, resumePC uintptr
	exitCode                 uint64

	// interrupt is 1 from nativeStack.interrupt until the loop has seen it.
	interrupt uint32
	_         uint32

	// What the entry stub loads and leaves.
	entry, inst uintptr
	gp          [liftoff.NumGPArgs]uint64
	fp          [liftoff.NumFPArgs][2]uint64
	retGP       uint64
	retFP       [2]uint64

	// Left by the trap handler.
	faultSignal, faultAddr, faultPC uintptr

	// An interrupted instruction, and its flags; savedGP and savedX below
	// hold its registers.
	preemptPC, flags uintptr

	_          [liftoff.CtxStackLimit - 0xb0 - 16*liftoff.NumFPArgs]byte
	stackLimit uintptr
	routines   [liftoff.NumRoutines]uintptr

	savedGP [savedRegs]uint64 // by hardware number; the context's is not saved
	savedX  [savedRegs][2]uint64
}

// The offsets that compiled code knows.
const (
	_ = -(unsafe.Offsetof(ctxBlock{}.stackLimit) ^ liftoff.CtxStackLimit)
	_ = -(unsafe.Offsetof(ctxBlock{}.routines) ^ liftoff.CtxRoutines)
	_ = ctxBytes - unsafe.Sizeof(ctxBlock{})
)

// nativeStack is a stack for compiled code: guard, stack and context block in
// one mapping. It belongs to one goroutine between acquireStack and release;
// only interrupt may be called by others.
type nativeStack struct {
	ctx     *ctxBlock
	base    uintptr // of the mapping and of the guard
	lo, hi  uintptr // of the stack; hi is the context block
	size    int
	running int          // depth of nested runs
	handler exitHandler  // of the innermost run
	outer   []activation // of the runs that contain it
	err     error        // what handler returned
}

// stackPools holds idle stacks by size. sync.Pool keeps them per processor,
// without a lock, and drops what two garbage collections found unused; the
// finalizer then unmaps it.
var (
	defaultPool sync.Pool
	stackPools  sync.Map // int to *sync.Pool
)

func poolOf(size int) *sync.Pool {
	if size == defaultStack {
		return &defaultPool
	}
	p, ok := stackPools.Load(size)
	if !ok {
		p, _ = stackPools.LoadOrStore(size, new(sync.Pool))
	}
	return p.(*sync.Pool)
}

// acquireStack gives a stack of size bytes, 8 MiB for 0, rounded up to pages.
// It fails when size is out of range or when there is no address space.
func acquireStack(size int) (*nativeStack, error) {
	switch {
	case size == 0:
		size = defaultStack
	case size < 0 || size > maxStack:
		return nil, fmt.Errorf("native stack of %d bytes is out of range: at most %d", size, maxStack)
	default:
		size = (max(size, 4*entryRoom) + 4095) &^ 4095
	}
	if s, _ := poolOf(size).Get().(*nativeStack); s != nil {
		return s, nil
	}
	if err := nativeInit(); err != nil {
		return nil, err
	}
	if err := checkSignals(); err != nil {
		return nil, err
	}
	return newStack(size)
}

// release gives the stack back. No run may be active on it.
func (s *nativeStack) release() {
	if s.running != 0 {
		panic("runtime: native stack released while code runs on it")
	}
	s.clearInterrupt()
	poolOf(s.size).Put(s)
}

// newStack maps a stack. Its pages take memory only once touched; huge pages
// are declined, since a stack of few frames would take 2 MiB.
func newStack(size int) (*nativeStack, error) {
	n := uintptr(stackGuard + size + ctxBytes)
	p, err := unix.MmapPtr(-1, 0, nil, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("cannot map a native stack of %d bytes: %w", size, err)
	}
	base := uintptr(p)
	s := &nativeStack{base: base, lo: base + stackGuard, hi: base + n - ctxBytes, size: size}
	usable := unsafe.Slice((*byte)(ptr(s.lo)), size+ctxBytes)
	if err := unix.Mprotect(usable, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		unix.MunmapPtr(p, n)
		return nil, fmt.Errorf("cannot make a native stack of %d bytes: %w", size, err)
	}
	// Fails on kernels without huge pages, where there is nothing to decline.
	_ = unix.Madvise(usable, unix.MADV_NOHUGEPAGE)
	s.ctx = (*ctxBlock)(ptr(s.hi))
	s.ctx.stackLimit = s.lo
	s.ctx.routines = stubs.routines
	noteContext(s.hi)
	goruntime.SetFinalizer(s, (*nativeStack).unmap)
	return s, nil
}

func (s *nativeStack) unmap() {
	s.ctx = nil // Go's heap may get the address
	if err := unix.MunmapPtr(ptr(s.base), s.hi+ctxBytes-s.base); err != nil {
		panic("runtime: cannot unmap a native stack: " + err.Error())
	}
}

// inGuard says whether addr lies in the stack's guard: a fault there is a
// stack overflow.
func (s *nativeStack) inGuard(addr uintptr) bool { return addr >= s.base && addr < s.lo }

// word reads the stack, for a return address that a fault in a prologue left
// at its SP.
func (s *nativeStack) word(addr uintptr) (uint64, bool) {
	if addr < s.lo || addr > s.hi-8 || addr&7 != 0 {
		return 0, false
	}
	return *(*uint64)(ptr(addr)), true
}

// backtrace appends pc and the return addresses along the chain of frames
// from fp to the entry of the run that fp belongs to. It reads nothing but
// the stack and ends where the chain doesn't rise.
func (s *nativeStack) backtrace(pc, fp uintptr, dst []uintptr) []uintptr {
	if pc != 0 {
		dst = append(dst, pc)
	}
	for fp != 0 {
		next, ok := s.word(fp)
		ret, ok2 := s.word(fp + 8)
		// The frame that the entry stub called has 0 for its caller's, and
		// its return address is the stub's.
		if !ok || !ok2 || uintptr(next) <= fp {
			break
		}
		dst = append(dst, uintptr(ret))
		fp = uintptr(next)
	}
	return dst
}

// ctxMu guards the widening of sigs.ctxLo and sigs.ctxHi.
var ctxMu sync.Mutex

// noteContext widens the range in which signal handlers believe a context
// block's address.
func noteContext(at uintptr) {
	ctxMu.Lock()
	defer ctxMu.Unlock()
	if at < sigs.ctxLo {
		atomic.StoreUintptr(&sigs.ctxLo, at)
	}
	if at >= sigs.ctxHi {
		atomic.StoreUintptr(&sigs.ctxHi, at+1)
	}
}
