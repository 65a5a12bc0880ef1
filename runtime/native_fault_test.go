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
	"testing"
	"time"

	. "github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/liftoff"
	"golang.org/x/sys/unix"
)

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
	entry := reentrant(t)
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
