package nativemodule

import (
	"encoding/binary"
	"fmt"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
)

// notHere is why a call fails to link whose callee's index is out of range.
const notHere = "the callee is not a function of this module"

// callField is the size of the part of a direct call that linking writes.
const callField = 4

// linkAndClose resolves the calls of the functions that the worker placed and
// closes its scopes: after it nobody can write them.
func (w *worker) linkAndClose() {
	ok := true
	func() {
		defer w.recoverInto(&ok)
		w.link()
	}()
	if !ok || w.err != nil {
		return // the space will be freed, which revokes the scopes
	}
	for _, s := range w.scopes {
		s.Close()
	}
	w.scopes, w.runs, w.sites = nil, nil, nil
}

func (w *worker) link() {
	for i, run := range w.runs {
		end := len(w.sites)
		if i+1 < len(w.runs) {
			end = w.runs[i+1].start
		}
		for b := w.sites[run.start:end]; len(b) > 0; {
			var def, count, delta uint64
			def, b = uvarint(b)
			count, b = uvarint(b)
			w.def = uint32(def)
			var site uint32
			for range count {
				delta, b = uvarint(b)
				site += uint32(delta)
				if err := w.j.m.linkSite(run.scope, w.def, site); err != nil {
					w.fail(err) // and on: a lower function may fail as well
				}
			}
		}
	}
}

func uvarint(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	return v, b[n:]
}

// linkSite replaces the callee's index in the call field at code offset site
// of a function by what reaches the callee.
func (m *Module) linkSite(scope *codemem.WriteScope, def, site uint32) error {
	fail := func(callee uint32, reason string) error {
		return &LinkError{Caller: m.imported + def, Callee: callee, Offset: site, Reason: reason}
	}
	if uint64(site)+callField > uint64(m.sizes[def]) {
		return fail(0, "the call site lies outside of the function")
	}
	at := m.entries[def] + site
	if m.farCalls() {
		return m.linkFar(scope, m.base+uintptr(at), fail)
	}
	arch := m.options.Liftoff.Arch
	callee, ok := liftoff.Callee(arch, scope.Read32(m.base+uintptr(at)))
	if !ok {
		return fail(0, "there is no direct call at the call site")
	}
	target := callee - m.imported
	if callee < m.imported || target >= uint32(len(m.entries)) {
		return fail(callee, notHere)
	}
	distance := int64(m.entries[target]) - int64(at)
	field, ok := liftoff.LinkCall(arch, distance)
	if !ok {
		return fail(callee, fmt.Sprintf("a distance of %d bytes is out of reach", distance))
	}
	scope.Write32(m.base+uintptr(at), field)
	return nil
}
