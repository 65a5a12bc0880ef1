//go:build linux && amd64

package runtime

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"testing"

	. "github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/liftoff"
)

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
func reentrant(t testing.TB) uintptr {
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
	entry := reentrant(t)
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
	entry := reentrant(t)
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
