//go:build linux && amd64

package runtime

import (
	"fmt"
	"testing"

	. "github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/liftoff"
)

func sizeName(n uint64) string { return fmt.Sprintf("%dB", n) }

func BenchmarkNativeEnter(b *testing.B) {
	c := &nativeCall{Entry: native(b, func(a *Asm) { a.Ret() }), Inst: addrOf(block(b))}
	s := testStack(b, 0)
	h := &handler{}
	for b.Loop() {
		if fault, err := s.run(c, h); fault != nil || err != nil {
			b.Fatal(fault, err)
		}
	}
}

// inLoop is a guest function that executes emit rax times.
func inLoop(b *testing.B, emit func(a *Asm)) uintptr {
	return native(b, function(func(a *Asm) {
		a.AluRI(SUB, S64, RSP, 32)
		a.MovMR(S64, At(RBP, -16), R8)
		a.MovRR(S64, R8, RAX)
		top := a.Pos()
		emit(a)
		a.AluRI(SUB, S64, R8, 1)
		a.JccBack(NE, top)
		a.MovRM(S64, R8, At(RBP, -16))
	}))
}

func benchGuestLoop(b *testing.B, entry uintptr, h exitHandler) {
	inst := block(b)
	inst[6] = uint64(addrOf(inst))
	s := testStack(b, 0)
	c := &nativeCall{Entry: entry, Inst: addrOf(inst), GP: [4]uint64{uint64(b.N)}}
	b.ResetTimer()
	if fault, err := s.run(c, h); fault != nil || err != nil {
		b.Fatal(fault, err)
	}
}

func BenchmarkNativeHostCall(b *testing.B) {
	h := &handler{host: func(f *hostFrame) error { f.SetGP(f.GP[0]); return nil }}
	benchGuestLoop(b, inLoop(b, callHost), h)
}

// BenchmarkNativeHostCallDeep calls the host from three calls deep.
func BenchmarkNativeHostCallDeep(b *testing.B) {
	leaf := native(b, function(func(a *Asm) { a.AluRI(SUB, S64, RSP, 16); callHost(a) }))
	mid := native(b, function(func(a *Asm) { a.MovRI64(RDI, uint64(leaf)); a.CallR(RDI) }))
	h := &handler{host: func(f *hostFrame) error { return nil }}
	benchGuestLoop(b, inLoop(b, func(a *Asm) { a.MovRI64(RDI, uint64(mid)); a.CallR(RDI) }), h)
}

func BenchmarkNativeRoutine(b *testing.B) {
	h := &handler{rt: func(liftoff.Routine, *routineFrame) error { return nil }}
	benchGuestLoop(b, inLoop(b, func(a *Asm) {
		a.CallM(At(R15, liftoff.CtxRoutines+8*int32(liftoff.TableFill)))
	}), h)
}

func BenchmarkNativeTrap(b *testing.B) {
	s := testStack(b, 0)
	inst := addrOf(block(b))
	for name, emit := range map[string]func(a *Asm){
		"ud2":  func(a *Asm) { a.Ud2() },
		"read": func(a *Asm) { a.MovRM(S32, RAX, At(RAX, 0)) },
	} {
		b.Run(name, func(b *testing.B) {
			c := &nativeCall{Entry: native(b, emit), Inst: inst, GP: [4]uint64{uint64(s.base)}}
			for b.Loop() {
				if fault, err := s.run(c, &handler{}); fault == nil || err != nil {
					b.Fatal(fault, err)
				}
			}
		})
	}
}

func BenchmarkNativeAcquire(b *testing.B) {
	for b.Loop() {
		s, err := acquireStack(0)
		if err != nil {
			b.Fatal(err)
		}
		s.release()
	}
}
