package nativemodule

import (
	"errors"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
)

// Direct calls of arm64 reach 128 MiB. A module whose code passes farLimit is
// compiled again with calls that reach everything; so the form depends on the
// module alone and not on where its functions were placed. What is left below
// the reach is for what isn't code: the ends of chunks.

// farLimit is the most code, in bytes, whose calls are tried in the short form.
var farLimit int64 = 112 << 20

// errFar is the outcome of a compile that must be repeated.
var errFar = errors.New("nativemodule: code passes the reach of direct calls")

// tooFar reports whether the compiled functions are too much for the short
// form of calls.
func (m *Module) tooFar() bool {
	if m.options.Liftoff.Arch != liftoff.ARM64 || m.options.Liftoff.FarCalls || m.table != nil {
		return false
	}
	var n int64
	for _, size := range m.sizes {
		n += int64(size)
	}
	return n > farLimit
}

// farCalls reports whether calls have the long form.
func (m *Module) farCalls() bool {
	return m.options.Liftoff.Arch == liftoff.ARM64 && m.options.Liftoff.FarCalls
}

// linkFar is linkSite for a far call at an address.
func (m *Module) linkFar(scope *codemem.WriteScope, at uintptr, fail func(uint32, string) error) error {
	first, second := scope.Read32(at), scope.Read32(at+4)
	callee, ok := liftoff.FarCallee(first, second)
	if !ok {
		return fail(0, "there is no far call at the call site")
	}
	target := callee - m.imported
	if callee < m.imported || target >= uint32(len(m.entries)) {
		return fail(callee, notHere)
	}
	first, second, ok = liftoff.LinkFarCall(first, second, uint64(at), uint64(m.base)+uint64(m.entries[target]))
	if !ok {
		return fail(callee, "the callee is out of reach")
	}
	scope.Write32(at, first)
	scope.Write32(at+4, second)
	return nil
}
