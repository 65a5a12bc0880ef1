//go:build linux && (amd64 || arm64)

package runtime

import (
	"fmt"
	"slices"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
)

// The stubs are the code between Go and compiled code, made once per process
// in the code arena. Two kinds lie apart:
//
//   - quiet stubs switch between the Go stack and the native one, or restore
//     an interrupted instruction's registers. The preemption handler leaves
//     them alone, since a context block that is half written or half read
//     can't be used for another exit.
//   - the others run on the native stack like compiled code and may be
//     interrupted anywhere.

// stubTable holds the addresses of the stubs.
type stubTable struct {
	entry      uintptr // resumePC of a new run
	host       uintptr // RecEntry of host functions
	trapPad    uintptr
	preemptPad uintptr
	routines   [liftoff.NumRoutines]uintptr
	quietLen   uintptr // the quiet stubs are the first ones
}

var stubs stubTable

// hostEntry is the RecEntry of every host function's record; valid after
// nativeInit.
func hostEntry() uintptr { return stubs.host }

// makeStubs generates and seals the stubs and tells the signal handlers where
// they are.
func makeStubs() error {
	arena, err := codemem.Default()
	if err != nil {
		return fmt.Errorf("cannot run compiled code: %w", err)
	}
	b := newStubBuilder()
	t, code := b.build()
	base, err := placeStubs(arena, code)
	if err != nil {
		return fmt.Errorf("cannot run compiled code: %w", err)
	}
	t.relocate(base)
	stubs = t
	sigs.codeLo, sigs.codeHi = arena.Bounds()
	sigs.quietLo, sigs.quietLen = base, t.quietLen
	sigs.trapPad, sigs.preemptPad = t.trapPad, t.preemptPad
	return nil
}

// placeStubs puts code into a space of its own and seals it. The space is
// never freed.
func placeStubs(arena *codemem.Arena, code []byte) (uintptr, error) {
	space, err := arena.NewSpace(codemem.SpaceOptions{Expect: int64(len(code)), Owner: "runtime.stubs"})
	if err != nil {
		return 0, err
	}
	chunk, scope, err := space.NewChunk(len(code), "runtime.placeStubs")
	if err != nil {
		return 0, err
	}
	addr, ok := chunk.Alloc(len(code))
	if !ok {
		panic("runtime: a chunk is smaller than was asked for")
	}
	scope.Write(addr, code)
	scope.Close()
	return addr, space.Seal()
}

// relocate turns offsets into addresses.
func (t *stubTable) relocate(base uintptr) {
	for _, p := range []*uintptr{&t.entry, &t.host, &t.trapPad, &t.preemptPad} {
		*p += base
	}
	for i := range t.routines {
		t.routines[i] += base
	}
}

// build gives the code and the stubs' offsets in it.
func (b *stubBuilder) build() (t stubTable, code []byte) {
	t.entry = b.start()
	b.enterQuiet()
	b.start()
	b.leaveQuiet()
	t.trapPad = b.start()
	b.trap()
	t.preemptPad = b.start()
	b.preempt()
	t.quietLen = b.start()
	b.enter()
	t.host = b.start()
	b.call()
	for r := range liftoff.NumRoutines {
		t.routines[r] = b.start()
		b.routine(r)
	}
	return t, slices.Clone(b.Bytes(0, b.Pos()))
}
