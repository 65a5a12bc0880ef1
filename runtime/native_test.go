//go:build linux && amd64

package runtime

import (
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	. "github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
	"golang.org/x/sys/unix"
)

// native assembles code into the arena for the length of a test. The code is
// what a compiled function would be.
func native(t testing.TB, emit func(a *Asm)) uintptr {
	t.Helper()
	if err := nativeInit(); err != nil {
		t.Fatal(err)
	}
	var a Asm
	a.Reset(0)
	a.Reserve(16 << 10)
	emit(&a)
	arena, err := codemem.Default()
	if err != nil {
		t.Fatal(err)
	}
	space, err := arena.NewSpace(codemem.SpaceOptions{Expect: int64(a.Pos()), Owner: "test"})
	if err != nil {
		t.Fatal(err)
	}
	chunk, scope, err := space.NewChunk(a.Pos(), "test")
	if err != nil {
		t.Fatal(err)
	}
	addr, ok := chunk.Alloc(a.Pos())
	if !ok {
		t.Fatal("chunk too small")
	}
	scope.Write(addr, a.Bytes(0, a.Pos()))
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

// function wraps emit in a frame like a compiled function's.
func function(emit func(a *Asm)) func(a *Asm) {
	return func(a *Asm) {
		a.Push(RBP)
		a.MovRR(S64, RBP, RSP)
		emit(a)
		a.Leave()
		a.Ret()
	}
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

func TestNativeArguments(t *testing.T) {
	b := block(t)
	b[0] = 0x1234560000
	const gp, fp, cells = 16, 64, 5
	entry := native(t, function(func(a *Asm) {
		for i, r := range []Reg{RAX, RCX, RDX, RSI, RBX, RSP} {
			a.MovMR(S64, At(R14, gp+int32(8*i)), r)
		}
		for x := range XReg(liftoff.NumFPArgs) {
			a.MovupsMR(At(R14, fp+16*int32(x)), x)
		}
		for i := range int32(cells) { // results are the arguments, backwards
			a.MovRM(S64, RDI, At(RBP, 16+8*i))
			a.MovMR(S64, At(RBP, 16+8*(2*cells-1-i)), RDI)
		}
		a.MovRR(S64, RAX, RSI)
		a.MovapsRR(XMM0, liftoff.NumFPArgs-1)
	}))
	c := &nativeCall{Entry: entry, Inst: addrOf(b), ResultCells: cells}
	for i := range c.GP {
		c.GP[i] = uint64(0xa0+i) << 40
	}
	for i := range c.FP {
		c.FP[i] = [2]uint64{uint64(0xb0+i) << 32, uint64(0xc0+i) << 48}
	}
	c.Stack = []uint64{1, 2, 3, 4, 1 << 63}
	s := testStack(t, 0)
	for range 3 { // a stack and a call can be used again
		clear(b[2:])
		mustRun(t, s, c, &handler{})
		if got := [4]uint64(b[gp/8:]); got != c.GP {
			t.Errorf("integer arguments %x, want %x", got, c.GP)
		}
		for i, want := range c.FP {
			if got := [2]uint64(b[fp/8+2*i:]); got != want {
				t.Errorf("xmm%d = %x, want %x", i, got, want)
			}
		}
		if rbx := b[gp/8+4]; rbx != b[0] {
			t.Errorf("rbx = %#x, want the memory base %#x", rbx, b[0])
		}
		if rsp := b[gp/8+5]; rsp%16 != 0 {
			t.Errorf("rsp = %#x after push rbp, want a multiple of 16", rsp)
		}
		if c.RetGP != c.GP[3] || c.RetFP != c.FP[liftoff.NumFPArgs-1] {
			t.Errorf("results %x, %x, want %x, %x", c.RetGP, c.RetFP, c.GP[3], c.FP[liftoff.NumFPArgs-1])
		}
		if want := []uint64{1 << 63, 4, 3, 2, 1}; !slices.Equal(c.Results, want) {
			t.Errorf("stack results %x, want %x", c.Results, want)
		}
	}
}

// fillKept loads known values into the callee-saved registers and dumpKept
// stores them at [r14+64].
func fillKept(a *Asm) {
	for i, r := range keptRegs {
		a.MovRI64(r, 0x1111111111111111*uint64(i+1))
	}
	for x := range XReg(8) {
		a.MovRI64(RDI, 0x0101010101010101*uint64(x+1))
		a.MovdXR(S64, XMM8+x, RDI)
		a.SseRR(UNPCKLPD, XMM8+x, XMM8+x)
	}
}

func dumpKept(a *Asm) {
	for i, r := range keptRegs {
		a.MovMR(S64, At(R14, 64+int32(8*i)), r)
	}
	for x := range XReg(8) {
		a.MovupsMR(At(R14, 128+16*int32(x)), XMM8+x)
	}
}

func checkKept(t *testing.T, b []uint64) {
	t.Helper()
	for i := range keptRegs {
		if want := 0x1111111111111111 * uint64(i+1); b[8+i] != want {
			t.Errorf("r%d = %#x, want %#x", 8+i, b[8+i], want)
		}
	}
	for x := range 8 {
		want := 0x0101010101010101 * uint64(x+1)
		if got := [2]uint64(b[16+2*x:]); got != [2]uint64{want, want} {
			t.Errorf("xmm%d = %#x, want %#x twice", 8+x, got, want)
		}
	}
}

// callHost emits a call of the host function whose block's address is at
// [r14+48], with the frame slot [rbp-8] and rbx kept as compiled code keeps
// them. The function must have reserved stack.
func callHost(a *Asm) {
	a.MovMR(S64, At(RBP, -8), R14)
	a.MovRI64(RDI, uint64(hostEntry()))
	a.MovRM(S64, R14, At(R14, 48))
	a.MovRM(S64, RBX, At(R14, 0))
	a.CallR(RDI)
	a.MovRM(S64, R14, At(RBP, -8))
	a.MovRM(S64, RBX, At(R14, 0))
}

func TestNativeHostCall(t *testing.T) {
	b, hostBlock := block(t), block(t)
	b[6] = uint64(addrOf(hostBlock))
	entry := native(t, function(func(a *Asm) {
		a.AluRI(SUB, S64, RSP, 64)
		fillKept(a)
		a.MovMI(S64, At(RSP, 0), 1001)
		a.MovMI(S64, At(RSP, 8), 1002)
		callHost(a)
		dumpKept(a)
		a.MovupsMR(At(R14, 16), XMM0)
		a.AluRM(ADD, S64, RAX, At(RSP, 16)) // the stack result
	}))
	h := &handler{host: func(f *hostFrame) error {
		if want := [4]uint64{11, 12, 13, 14}; f.GP != want {
			t.Errorf("host arguments %v, want %v", f.GP, want)
		}
		for i, x := range f.FP {
			if want := [2]uint64{uint64(100 + i), uint64(200 + i)}; x != want {
				t.Errorf("host xmm%d = %v, want %v", i, x, want)
			}
		}
		if f.Callee() != addrOf(hostBlock) || f.Caller() != addrOf(b) {
			t.Errorf("callee %#x, caller %#x, want %#x, %#x", f.Callee(), f.Caller(), addrOf(hostBlock), addrOf(b))
		}
		cells := f.Cells(3)
		if cells[0] != 1001 || cells[1] != 1002 {
			t.Errorf("stack cells %v, want 1001, 1002", cells[:2])
		}
		cells[2] = 7
		f.SetGP(35)
		f.SetFP(0xf0, 0xf1)
		growStack(100)
		return nil
	}}
	c := &nativeCall{Entry: entry, Inst: addrOf(b), GP: [4]uint64{11, 12, 13, 14}}
	for i := range c.FP {
		c.FP[i] = [2]uint64{uint64(100 + i), uint64(200 + i)}
	}
	s := testStack(t, 0)
	mustRun(t, s, c, h)
	if c.RetGP != 42 || b[2] != 0xf0 || b[3] != 0xf1 {
		t.Errorf("results %d, %#x %#x, want 42, 0xf0 0xf1", c.RetGP, b[2], b[3])
	}
	checkKept(t, b)

	// Called by run itself, a host function has no caller.
	h.host = func(f *hostFrame) error {
		if f.Caller() != 0 {
			t.Errorf("caller %#x, want none", f.Caller())
		}
		f.SetGP(f.GP[0] + 1)
		return nil
	}
	c = &nativeCall{Entry: hostEntry(), Inst: addrOf(hostBlock), GP: [4]uint64{8}}
	mustRun(t, s, c, h)
	if c.RetGP != 9 {
		t.Errorf("direct host call gave %d, want 9", c.RetGP)
	}
}

// growStack uses about 1 KiB of Go stack per level, so that the goroutine's
// stack moves.
//
//go:noinline
func growStack(n int) int {
	var big [128]int
	big[n&127] = n
	if n > 0 {
		return growStack(n-1) + big[(n+1)&127]
	}
	return big[0]
}

// reentrant is a guest function f(n) = host(n).
func reentrant(t testing.TB, b []uint64) uintptr {
	return native(t, function(func(a *Asm) {
		a.AluRI(SUB, S64, RSP, 16)
		a.Push(R8)
		a.Push(R9)
		a.MovRR(S64, R8, RAX)
		callHost(a)
		a.AluRR(ADD, S64, RAX, R8) // f(n) = host(n) + n, if r8 survived
		a.MovRM(S64, R9, At(RSP, 0))
		a.MovRM(S64, R8, At(RSP, 8))
	}))
}

func TestNativeReentry(t *testing.T) {
	b := block(t)
	b[6] = uint64(addrOf(b))
	entry := reentrant(t, b)
	s := testStack(t, 0)
	h := &handler{}
	var results []uint64 // the results cells of nested runs don't disturb one another
	h.host = func(f *hostFrame) error {
		n := f.GP[0]
		if n == 0 {
			f.SetGP(0)
			return nil
		}
		c := &nativeCall{Entry: entry, Inst: addrOf(b), GP: [4]uint64{n - 1}, Stack: []uint64{n, n}, ResultCells: int(n % 3)}
		if fault, err := s.run(c, h); fault != nil || err != nil {
			return fmt.Errorf("fault %v, error %w", fault, err)
		}
		if n%16 == 0 {
			goruntime.GC()
			growStack(20)
		}
		results = append(results, c.RetGP)
		f.SetGP(c.RetGP)
		return nil
	}
	c := &nativeCall{Entry: entry, Inst: addrOf(b), GP: [4]uint64{100}}
	mustRun(t, s, c, h)
	if c.RetGP != 5050 || len(results) != 100 {
		t.Errorf("sum %d with %d nested runs, want 5050 with 100", c.RetGP, len(results))
	}
	if s.running != 0 {
		t.Errorf("%d runs active at the end", s.running)
	}
}

// TestNativeHostUnwinds leaves a host function by an error, a panic and
// Goexit, at the top and from a nested run.
func TestNativeHostUnwinds(t *testing.T) {
	b := block(t)
	b[6] = uint64(addrOf(b))
	entry := reentrant(t, b)
	s := testStack(t, 0)
	call := func(n uint64) *nativeCall {
		return &nativeCall{Entry: entry, Inst: addrOf(b), GP: [4]uint64{n}}
	}
	ok := func() {
		t.Helper()
		c := call(5)
		mustRun(t, s, c, &handler{host: func(f *hostFrame) error { f.SetGP(1); return nil }})
		if c.RetGP != 6 || s.running != 0 {
			t.Fatalf("stack unusable: result %d, want 6; %d runs", c.RetGP, s.running)
		}
	}
	ok()
	boom := errors.New("boom")
	if _, err := s.run(call(1), &handler{host: func(*hostFrame) error { return boom }}); err != boom {
		t.Errorf("error %v, want boom itself", err)
	}
	ok()
	recovered := func(f func()) (v any) {
		defer func() { v = recover() }()
		f()
		return nil
	}
	if v := recovered(func() { s.run(call(1), &handler{host: func(*hostFrame) error { panic(boom) }}) }); v != boom {
		t.Errorf("recovered %v, want boom", v)
	}
	ok()
	// A nested run panics inside its host function, the outer one recovers
	// and goes on.
	c := call(3)
	mustRun(t, s, c, &handler{host: func(f *hostFrame) error {
		v := recovered(func() { s.run(call(1), &handler{host: func(*hostFrame) error { panic(boom) }}) })
		if v != boom || s.running != 1 {
			t.Errorf("recovered %v with %d runs, want boom with 1", v, s.running)
		}
		f.SetGP(4)
		return nil
	}})
	if c.RetGP != 7 {
		t.Errorf("result %d after a nested panic, want 7", c.RetGP)
	}
	ok()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(call(1), &handler{host: func(*hostFrame) error { goruntime.Goexit(); return nil }})
	}()
	<-done
	ok()
}

func TestNativeRoutines(t *testing.T) {
	b := block(t)
	s := testStack(t, 0)
	for r := range liftoff.NumRoutines {
		if r == liftoff.MemoryCopy || r == liftoff.MemoryFill {
			continue // TestNativeBulk
		}
		var ret uintptr
		entry := native(t, function(func(a *Asm) {
			fillKept(a)
			a.MovRI64(RBX, 0x77)
			a.CallM(At(R15, liftoff.CtxRoutines+8*int32(r)))
			ret = uintptr(a.Pos())
			dumpKept(a)
			a.MovMR(S64, At(R14, 56), RBX)
		}))
		ret += entry
		h := &handler{rt: func(got liftoff.Routine, f *routineFrame) error {
			if got != r || f.Args != [4]uint64{1, 2, 3, 4} || f.Inst != addrOf(b) {
				t.Errorf("routine %d, arguments %v, instance %#x; want %d, 1 to 4, %#x", got, f.Args, f.Inst, r, addrOf(b))
			}
			f.SetResult(0xffffffff)
			return nil
		}}
		c := &nativeCall{Entry: entry, Inst: addrOf(b), GP: [4]uint64{1, 2, 3, 4}}
		mustRun(t, s, c, h)
		if c.RetGP != 0xffffffff || b[7] != 0x77 {
			t.Errorf("routine %d: result %#x, rbx %#x, want 0xffffffff, 0x77", r, c.RetGP, b[7])
		}
		checkKept(t, b)

		boom := errors.New("out of bounds")
		h.rt = func(liftoff.Routine, *routineFrame) error { return boom }
		fault, err := s.run(c, h)
		if err != boom || fault == nil || fault.Kind != routineTrap || fault.PC != ret {
			t.Fatalf("routine %d: error %v, fault %v, want boom at %#x", r, err, fault, ret)
		}
		if got := s.backtrace(fault.PC, fault.FP, nil); !slices.Equal(got, []uintptr{ret}) {
			t.Errorf("routine %d: backtrace %x, want %x", r, got, ret)
		}
	}
}

func TestNativeTraps(t *testing.T) {
	b := block(t)
	s := testStack(t, 64<<10)
	for _, tt := range []struct {
		name   string
		emit   func(a *Asm)
		skip   int // from the start of emit to the reported PC
		signal unix.Signal
		addr   func(pc uintptr) uintptr
	}{
		{"ud2", func(a *Asm) { a.Ud2() }, 0, unix.SIGILL, func(pc uintptr) uintptr { return pc }},
		{"int3", func(a *Asm) { a.Int3() }, 1, unix.SIGTRAP, nil},
		{"read of page 0", func(a *Asm) { a.MovRM(S32, RAX, AtIdx(NoReg, RCX, 0, 0x10)) }, 0, unix.SIGSEGV, func(uintptr) uintptr { return 0x18 }},
		{"non-canonical read", func(a *Asm) { a.MovRM(S32, RAX, At(RDX, 0)) }, 0, unix.SIGSEGV, func(uintptr) uintptr { return 0 }},
		{"store to the guard", func(a *Asm) { a.MovMR(S32, At(RSI, 0), RAX) }, 0, unix.SIGSEGV, func(uintptr) uintptr { return s.lo - 1<<12 }},
		{"division by zero", func(a *Asm) { a.AluRR(XOR, S32, RDI, RDI); a.Cdq(); a.Idiv(S32, RDI) }, 3, unix.SIGFPE, func(pc uintptr) uintptr { return pc }},
	} {
		// outer calls middle calls inner, which faults.
		var inner, middle Label
		var rets [2]int
		var at int
		entry := native(t, func(a *Asm) {
			function(func(a *Asm) {
				a.Reserve(64)
				a.MovRI32(RAX, 1)
				call := a.CallRel()
				rets[0] = a.Pos()
				a.JmpL(&middle)
				a.PatchRel32(call, a.Pos())
				function(func(a *Asm) {
					call := a.CallRel()
					rets[1] = a.Pos()
					a.JmpL(&middle)
					a.PatchRel32(call, a.Pos())
					a.Bind(&inner)
					function(func(a *Asm) {
						at = a.Pos()
						tt.emit(a)
					})(a)
					a.Bind(&middle)
				})(a)
			})(a)
		})
		c := &nativeCall{Entry: entry, Inst: addrOf(b), GP: [4]uint64{0, 8, 1 << 62, uint64(s.lo - 1<<12)}}
		fault, err := s.run(c, &handler{})
		if err != nil || fault == nil {
			t.Fatalf("%s: fault %v, error %v", tt.name, fault, err)
		}
		pc := entry + uintptr(at+tt.skip)
		if fault.Kind != hardwareFault || fault.Signal != int(tt.signal) || fault.PC != pc {
			t.Errorf("%s: %v, want %v at %#x", tt.name, fault, tt.signal, pc)
		}
		if tt.addr != nil && fault.Addr != tt.addr(pc) {
			t.Errorf("%s: address %#x, want %#x", tt.name, fault.Addr, tt.addr(pc))
		}
		if got, want := s.inGuard(fault.Addr), tt.name == "store to the guard"; got != want {
			t.Errorf("%s: in guard %t, want %t", tt.name, got, want)
		}
		if fault.Regs[RCX] != 8 || fault.Regs[R15] != uint64(s.hi) || fault.SP != fault.FP {
			t.Errorf("%s: registers %x", tt.name, fault.Regs)
		}
		if !strings.Contains(fault.String(), fmt.Sprintf("signal %d at pc %#x, address %#x, rax 0x1, ", tt.signal, pc, fault.Addr)) && tt.name != "division by zero" {
			t.Errorf("%s: diagnosis %q", tt.name, fault)
		}
		want := []uintptr{pc, entry + uintptr(rets[1]), entry + uintptr(rets[0])}
		if got := s.backtrace(fault.PC, fault.FP, nil); !slices.Equal(got, want) {
			t.Errorf("%s: backtrace %x, want %x", tt.name, got, want)
		}
	}
}

func TestNativeStackOverflow(t *testing.T) {
	b := block(t)
	s := testStack(t, 1<<20)
	for _, frame := range []int32{0, 4096, liftoff.GuardProbe - 64} {
		var self Label
		entry := native(t, func(a *Asm) {
			a.Bind(&self)
			function(func(a *Asm) {
				a.AluRI(SUB, S64, RSP, frame+16)
				a.MovMR(S64, At(RSP, 0), RAX)
				a.PatchRel32(a.CallRel(), self.Pos())
			})(a)
		})
		for range 2 {
			fault, err := s.run(&nativeCall{Entry: entry, Inst: addrOf(b)}, &handler{})
			if err != nil || fault == nil || fault.Signal != int(unix.SIGSEGV) || !s.inGuard(fault.Addr) {
				t.Fatalf("frame %d: fault %v, error %v, want SIGSEGV in the guard", frame, fault, err)
			}
			if n := len(s.backtrace(fault.PC, fault.FP, nil)); n < s.size/(int(frame)+32)-2 {
				t.Errorf("frame %d: backtrace of %d frames", frame, n)
			}
		}
	}

	// A stub's frame may be the one that hits the guard.
	var self Label
	entry := native(t, func(a *Asm) {
		a.Bind(&self)
		function(func(a *Asm) {
			a.CallM(At(R15, liftoff.CtxRoutines+8*int32(liftoff.DataDrop)))
			a.PatchRel32(a.CallRel(), self.Pos())
		})(a)
	})
	h := &handler{rt: func(liftoff.Routine, *routineFrame) error { return nil }}
	fault, err := s.run(&nativeCall{Entry: entry, Inst: addrOf(b)}, h)
	if err != nil || fault == nil || !s.inGuard(fault.Addr) {
		t.Fatalf("stub frames: fault %v, error %v, want one in the guard", fault, err)
	}

	// Frames over GuardProbe compare with the limit that ctx holds.
	entry = native(t, function(func(a *Asm) {
		var ok Label
		a.Lea(S64, RDI, At(RSP, -1<<20))
		a.AluRM(CMP, S64, RDI, At(R15, liftoff.CtxStackLimit))
		a.JccL(AE, &ok)
		a.Ud2()
		a.Bind(&ok)
	}))
	fault, err = s.run(&nativeCall{Entry: entry, Inst: addrOf(b)}, &handler{})
	if err != nil || fault == nil || fault.Signal != int(unix.SIGILL) {
		t.Errorf("large frame: fault %v, error %v, want SIGILL", fault, err)
	}
	mustRun(t, testStack(t, 2<<20), &nativeCall{Entry: entry, Inst: addrOf(b)}, &handler{})
}

// TestNativeEntryOverflow enters with more cells than fit, and re-enters until
// the stack is full.
func TestNativeEntryOverflow(t *testing.T) {
	b := block(t)
	b[6] = uint64(addrOf(b))
	s := testStack(t, 64<<10)
	entry := reentrant(t, b)
	overflow := func(c *nativeCall, h exitHandler) error {
		fault, err := s.run(c, h)
		if err == nil && fault != nil && fault.Kind == entryOverflow && s.inGuard(fault.Addr) {
			return errors.New("overflow")
		}
		return err
	}
	for _, c := range []*nativeCall{
		{Entry: entry, Inst: addrOf(b), Stack: make([]uint64, 8<<10)},
		{Entry: entry, Inst: addrOf(b), ResultCells: 1 << 30},
	} {
		if err := overflow(c, &handler{}); err == nil || err.Error() != "overflow" {
			t.Errorf("error %v, want an overflow", err)
		}
	}
	depth := 0
	h := &handler{}
	h.host = func(*hostFrame) error {
		depth++
		return overflow(&nativeCall{Entry: entry, Inst: addrOf(b)}, h)
	}
	if err := overflow(&nativeCall{Entry: entry, Inst: addrOf(b)}, h); err == nil || err.Error() != "overflow" || depth < 50 {
		t.Errorf("error %v at depth %d, want an overflow below 50", err, depth)
	}
}

func TestNativeStackSizes(t *testing.T) {
	for _, size := range []int{-1, maxStack + 1} {
		if s, err := acquireStack(size); err == nil {
			s.release()
			t.Errorf("stack of %d bytes: no error", size)
		}
	}
	s, err := acquireStack(100_000)
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	if s.hi-s.lo != 25*4096 || s.ctx.stackLimit != s.lo || s.lo-s.base < 64<<10 {
		t.Errorf("stack [%#x, %#x) with limit %#x and guard from %#x", s.lo, s.hi, s.ctx.stackLimit, s.base)
	}
}

// TestNativeStackIdle: stacks that stay idle give their address space back.
func TestNativeStackIdle(t *testing.T) {
	mapped := func(at uintptr) bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip("no procfs: ", err)
		}
		return strings.Contains(string(maps), fmt.Sprintf("%x-%x ---p", at, at+stackGuard))
	}
	var bases []uintptr
	func() {
		var stacks []*nativeStack
		for range 10 {
			s, err := acquireStack(3 << 16)
			if err != nil {
				t.Fatal(err)
			}
			if !mapped(s.base) {
				t.Errorf("guard of %#x isn't mapped without access", s.base)
			}
			stacks, bases = append(stacks, s), append(bases, s.base)
		}
		for _, s := range stacks {
			s.release()
		}
	}()
	left := len(bases)
	for i := 0; left > 0 && i < 200; i++ {
		goruntime.GC()
		time.Sleep(time.Millisecond) // finalizers have a goroutine of their own
		left = 0
		for _, at := range bases {
			if mapped(at) {
				left++
			}
		}
	}
	if left > 0 {
		t.Errorf("%d of %d idle stacks are still mapped after 200 collections", left, len(bases))
	}
}

// loop is a guest function that never returns.
func loop(t testing.TB) uintptr {
	return native(t, function(func(a *Asm) {
		var top Label
		a.Bind(&top)
		a.AluRI(ADD, S64, RAX, 1)
		a.JmpL(&top)
	}))
}

func TestNativeInterrupt(t *testing.T) {
	b := block(t)
	s := testStack(t, 0)
	entry := loop(t)
	stop := errors.New("stop")
	for i := range 20 {
		h := &handler{pre: func() error { return stop }}
		if i >= 10 {
			// A run that doesn't end at the first preemption.
			n := 0
			h.pre = func() error {
				if n++; n < 3 {
					s.interrupt()
					return nil
				}
				return stop
			}
		}
		if i%2 == 0 {
			time.AfterFunc(time.Millisecond, s.interrupt)
		} else {
			s.interrupt() // before the run begins
		}
		if fault, err := s.run(&nativeCall{Entry: entry, Inst: addrOf(b)}, h); err != stop || fault != nil {
			t.Fatalf("fault %v, error %v, want stop", fault, err)
		}
	}
	// While Go code runs: seen before native code goes on.
	b[6] = uint64(addrOf(b))
	h := &handler{host: func(*hostFrame) error { s.interrupt(); return nil }, pre: func() error { return stop }}
	if _, err := s.run(&nativeCall{Entry: reentrant(t, b), Inst: addrOf(b)}, h); err != stop {
		t.Errorf("error %v, want stop", err)
	}
	// Taken back.
	s.interrupt()
	s.clearInterrupt()
	c := &nativeCall{Entry: reentrant(t, b), Inst: addrOf(b)}
	mustRun(t, s, c, &handler{host: func(f *hostFrame) error { f.SetGP(9); return nil }})
	if c.RetGP != 9 {
		t.Errorf("result %d, want 9", c.RetGP)
	}
}

func TestNativeLoopAndGC(t *testing.T) {
	b := block(t)
	entry := loop(t)
	s := testStack(t, 0)
	stop := errors.New("stop")
	ended := make(chan error)
	var quit atomic.Bool
	h := &handler{pre: func() error {
		if quit.Load() {
			return stop
		}
		return nil
	}}
	go func() {
		_, err := s.run(&nativeCall{Entry: entry, Inst: addrOf(b)}, h)
		ended <- err
	}()
	for range 20 {
		goruntime.GC()
	}
	quit.Store(true)
	s.interrupt()
	if err := <-ended; err != stop {
		t.Fatalf("error %v, want stop", err)
	}
	if !syscallMode.Load() && h.preemptions < 2 {
		t.Errorf("%d preemptions during 20 collections", h.preemptions)
	}
}

func TestNativeGoFaults(t *testing.T) {
	if err := nativeInit(); err != nil {
		t.Fatal(err)
	}
	recovered := func(f func()) (v any) {
		defer func() { v = recover() }()
		f()
		return nil
	}
	var nothing *nativeFault
	if v, ok := recovered(func() { nothing.Signal = 1 }).(goruntime.Error); !ok || !strings.Contains(v.Error(), "nil pointer") {
		t.Errorf("nil dereference gave %v", v)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	s := testStack(t, 0)
	v := recovered(func() { *(*byte)(ptr(s.lo - 5)) = 1 })
	if f, ok := v.(interface{ Addr() uintptr }); !ok || f.Addr() != s.lo-5 {
		t.Errorf("fault at %#x gave %v", s.lo-5, v)
	}
}

func TestAsyncPreemptOff(t *testing.T) {
	for v, want := range map[string]bool{
		"": false, "asyncpreemptoff=1": true, "gctrace=0,asyncpreemptoff=1": true,
		"asyncpreemptoff=0": false, "asyncpreemptoff=1,asyncpreemptoff=0": false,
		"asyncpreemptoff=": false, "notasyncpreemptoff=1": false,
	} {
		if got := asyncPreemptOff(v); got != want {
			t.Errorf("GODEBUG=%q: %t, want %t", v, got, want)
		}
	}
}
