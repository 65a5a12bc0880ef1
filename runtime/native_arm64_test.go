//go:build linux

package runtime

import (
	"testing"
	"time"

	"github.com/wasmjit/wasmjit/asm/arm64"
	"github.com/wasmjit/wasmjit/liftoff"
)

// nativeARM64 assembles code into the arena for the length of a test. The code
// is what a compiled function would be.
func nativeARM64(t testing.TB, emit func(a *arm64.Asm)) uintptr {
	t.Helper()
	if err := nativeInit(); err != nil {
		t.Fatal(err)
	}
	var a arm64.Asm
	a.Reset(0, false)
	a.Reserve(16 << 10)
	emit(&a)
	return place(t, a.Bytes(0, a.Pos()))
}

// pattern is what a test has in a register.
func pattern(n int) uint64 { return 0x0101_0101_0101_0101*uint64(n+1) ^ 0xa5a5 }

// fillRegs puts a pattern into every register that compiled code may use, but
// those that except says; the lanes of a vector differ.
func fillRegs(a *arm64.Asm, except func(arm64.Reg) bool) {
	for v := range arm64.VReg(32) {
		movConst(a, arm64.X16, pattern(int(v)+100))
		movConst(a, arm64.X17, pattern(int(v)+200))
		a.LdStPairPre(arm64.STPX, arm64.X16, arm64.X17, arm64.SP, -16)
		a.LdSt(arm64.LDRQ, arm64.Reg(v), arm64.SP, 0)
		a.AddI(arm64.ADD, arm64.S64, arm64.SP, arm64.SP, 16)
	}
	for r := range arm64.X30 + 1 {
		if !except(r) {
			movConst(a, r, pattern(int(r)))
		}
	}
}

func movConst(a *arm64.Asm, r arm64.Reg, v uint64) {
	a.MovI(arm64.MOVZ, arm64.S64, r, uint16(v), 0)
	for lane := range uint8(3) {
		a.MovI(arm64.MOVK, arm64.S64, r, uint16(v>>(16*(lane+1))), lane+1)
	}
}

// dumpRegs stores every register to the block in instReg: general ones from word
// 16, vectors from word 64.
func dumpRegs(a *arm64.Asm) {
	for r := range arm64.X30 + 1 {
		a.LdSt(arm64.STRX, r, instReg, 8*(16+int32(r)))
	}
	for v := range arm64.Reg(32) {
		a.LdSt(arm64.STRQ, v, instReg, 8*64+16*int32(v))
	}
}

// checkRegs compares what dumpRegs stored.
func checkRegs(t *testing.T, b []uint64, gp, vector func(n int) bool) {
	t.Helper()
	for n := range 31 {
		if gp(n) && b[16+n] != pattern(n) {
			t.Errorf("x%d is %#x, want %#x", n, b[16+n], pattern(n))
		}
	}
	for n := range 32 {
		if vector(n) && (b[64+2*n] != pattern(n+100) || b[65+2*n] != pattern(n+200)) {
			t.Errorf("v%d is %#x %#x", n, b[64+2*n], b[65+2*n])
		}
	}
}

// TestPreemptKeepsRegisters interrupts a loop whose every register is checked
// at its end, and whose every iteration depends on flags set at its start.
func TestPreemptKeepsRegisters(t *testing.T) {
	const count = arm64.X10
	special := func(r arm64.Reg) bool {
		return r == count || r == instReg || r == ctxReg || r == arm64.X18 || r == arm64.X28 || r == arm64.FP || r == arm64.LR
	}
	entry := nativeARM64(t, func(a *arm64.Asm) {
		a.LdStPairPre(arm64.STPX, arm64.FP, arm64.LR, arm64.SP, -16)
		a.MovSP(arm64.FP, arm64.SP)
		fillRegs(a, special)
		movConst(a, count, 3_000_000)
		top := a.Pos()
		a.AddI(arm64.SUBS, arm64.S64, count, count, 1)
		for range 20 {
			a.Nop()
		}
		a.PatchBranch(a.BCond(arm64.NE), top)
		dumpRegs(a)
		a.MovSP(arm64.SP, arm64.FP)
		a.LdStPairPost(arm64.LDPX, arm64.FP, arm64.LR, arm64.SP, 16)
		a.Ret()
	})
	s := testStack(t, 0)
	h := &handler{}
	for range 20 {
		b := block(t)
		stop := make(chan bool)
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(200 * time.Microsecond):
					s.interrupt()
				}
			}
		}()
		fault, err := s.run(&nativeCall{Entry: entry, Inst: addrOf(b)}, h)
		stop <- true
		if fault != nil || err != nil {
			t.Fatalf("fault %v, error %v", fault, err)
		}
		checkRegs(t, b, func(n int) bool { return !special(arm64.Reg(n)) }, func(int) bool { return true })
		if b[16+count] != 0 {
			t.Errorf("%d iterations left: the flags were lost", b[16+count])
		}
	}
	if h.preemptions == 0 {
		t.Error("never preempted")
	}
	t.Logf("%d preemptions", h.preemptions)
}

// TestHostCallKeepsRegisters calls a host function through its record: the
// callee-saved registers survive, and arguments and result are in their places.
func TestHostCallKeepsRegisters(t *testing.T) {
	b, host := block(t), block(t)
	kept := func(n int) bool { return n >= 19 && n <= 24 }
	entry := nativeARM64(t, func(a *arm64.Asm) {
		a.LdStPairPre(arm64.STPX, arm64.FP, arm64.LR, arm64.SP, -16)
		a.MovSP(arm64.FP, arm64.SP)
		a.AddI(arm64.SUB, arm64.S64, arm64.SP, arm64.SP, 32)
		a.LdSt(arm64.STRX, instReg, arm64.FP, -8)
		fillRegs(a, func(r arm64.Reg) bool {
			return r >= arm64.X25 || r == arm64.X16 || r == arm64.X17 || r == arm64.X18
		})
		a.LdSt(arm64.STRX, arm64.X19, arm64.SP, 0) // a stack argument
		movConst(a, codeReg, uint64(hostEntry()))
		movConst(a, instReg, uint64(addrOf(host)))
		a.Blr(codeReg)
		a.LdSt(arm64.LDRX, instReg, arm64.FP, -8)
		dumpRegs(a)
		a.LdSt(arm64.LDRX, arm64.X1, arm64.SP, 8) // a stack result
		a.LdSt(arm64.STRX, arm64.X1, instReg, 8*200)
		a.MovSP(arm64.SP, arm64.FP)
		a.LdStPairPost(arm64.LDPX, arm64.FP, arm64.LR, arm64.SP, 16)
		a.Ret()
	})
	s := testStack(t, 0)
	calls := 0
	h := &handler{host: func(f *hostFrame) error {
		calls++
		for i := range liftoff.NumGPArgs {
			if f.GP[i] != pattern(i) {
				t.Errorf("argument %d is %#x", i, f.GP[i])
			}
		}
		for i := range liftoff.NumFPArgs {
			if f.FP[i] != [2]uint64{pattern(i + 100), pattern(i + 200)} {
				t.Errorf("vector argument %d is %#x", i, f.FP[i])
			}
		}
		if f.Cells(1)[0] != pattern(19) || f.Callee() != addrOf(host) || f.Caller() != addrOf(b) {
			t.Errorf("cell %#x, callee %#x, caller %#x", f.Cells(1)[0], f.Callee(), f.Caller())
		}
		f.Cells(2)[1] = 77
		f.SetGP(88)
		f.SetFP(99, 111)
		return nil
	}}
	c := &nativeCall{Entry: entry, Inst: addrOf(b)}
	mustRun(t, s, c, h)
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
	checkRegs(t, b, kept, func(n int) bool { return n >= 8 && n < 16 })
	if b[16] != 88 || b[64] != 99 || b[65] != 111 || b[200] != 77 {
		t.Errorf("results %d, %d %d, %d", b[16], b[64], b[65], b[200])
	}
	if c.RetFP != [2]uint64{99, 111} {
		t.Errorf("vector result %v", c.RetFP)
	}
}
