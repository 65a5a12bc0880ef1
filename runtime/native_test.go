//go:build linux && amd64

package runtime

import (
	"testing"

	. "github.com/wasmjit/wasmjit/asm/amd64"
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
	return place(t, a.Bytes(0, a.Pos()))
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
