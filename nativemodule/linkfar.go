package nativemodule

import (
	"encoding/binary"
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

// farCalls reports whether calls have the long form. Slots take none.
func (m *Module) farCalls() bool {
	return m.options.Liftoff.Arch == liftoff.ARM64 && m.options.Liftoff.FarCalls && m.table == nil
}

// farCalleeIn is indexIn for the code from a far call on.
func farCalleeIn(code []byte) (callee uint32, reason string) {
	if len(code) >= 2*callField {
		if fn, ok := liftoff.FarCallee(binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:])); ok {
			return fn, ""
		}
	}
	return 0, "there is no far call at the call site"
}

// linkFar is linkLate for a far call.
func (m *Module) linkFar(scope *codemem.WriteScope, c lateCall) (reason string) {
	at := m.base + uintptr(c.at)
	first, second := scope.Read32(at), scope.Read32(at+4)
	first, second, ok := liftoff.LinkFarCall(first, second, uint64(at), uint64(m.base)+uint64(m.entries[c.callee]))
	if !ok {
		return "the callee is out of reach"
	}
	scope.Write32(at, first)
	scope.Write32(at+4, second)
	return ""
}
