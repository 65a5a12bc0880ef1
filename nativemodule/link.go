package nativemodule

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
)

// A call site holds its callee's index until it is linked: at once if the
// callee has its place already, while the code is in the cache, and else when
// all functions are placed.

// callField is the size of the part of a direct call that linking writes.
const callField = 4

// linkPlaced links the calls of the function at hand, about to be written
// through scope, as far as their callees have places, and records the others.
func (w *worker) linkPlaced(scope *codemem.WriteScope, code *liftoff.Code) {
	m := w.j.m
	early := !m.farCalls() && m.options.Unlinked == nil
	arch, from := m.options.Liftoff.Arch, m.entries[w.def]
	for _, site := range code.CallSites {
		target, err := m.calleeIn(w.def, code.Bytes, site)
		if err != nil {
			w.noteBadCall(err)
			continue
		}
		// A size is stored behind the place that it belongs to.
		if early && atomic.LoadUint32(&m.sizes[target]) != 0 {
			if field, ok := liftoff.LinkCall(arch, int64(m.entries[target])-int64(from+site)); ok {
				binary.LittleEndian.PutUint32(code.Bytes[site:], field)
				continue
			}
		}
		w.recordLate(scope, lateCall{from + site, target})
	}
}

// calleeIn reads which defined function a call site of function def calls, whose
// code that is.
func (m *Module) calleeIn(def uint32, code []byte, site uint32) (target uint32, err *LinkError) {
	callee, reason := m.indexIn(code, site)
	target = callee - m.imported
	if reason == "" && (callee < m.imported || target >= uint32(m.numDefined())) {
		reason = "the callee is not a function of this module"
	}
	if reason != "" {
		return 0, &LinkError{Caller: m.imported + def, Callee: callee, Offset: site, Reason: reason}
	}
	return target, nil
}

// indexIn reads the callee's index at a call site of code, or gives the reason
// why there is none.
func (m *Module) indexIn(code []byte, site uint32) (callee uint32, reason string) {
	if uint64(site)+callField > uint64(len(code)) {
		return 0, "the call site lies outside of the function"
	}
	if m.farCalls() {
		return farCalleeIn(code[site:])
	}
	callee, ok := liftoff.Callee(m.options.Liftoff.Arch, binary.LittleEndian.Uint32(code[site:]))
	if !ok {
		return 0, "there is no direct call at the call site"
	}
	return callee, ""
}

// callTo is the field of a direct call over a distance, counted from the field,
// or the reason why there is none.
func (m *Module) callTo(distance int64) (field uint32, reason string) {
	field, ok := liftoff.LinkCall(m.options.Liftoff.Arch, distance)
	if !ok {
		return 0, fmt.Sprintf("a distance of %d bytes is out of reach", distance)
	}
	return field, ""
}

// noteBadCall keeps an error until linking: only if all functions are placed
// it is known to be the lowest.
func (w *worker) noteBadCall(err *LinkError) {
	if w.badCall == nil || err.Caller < w.badCall.Caller {
		w.badCall = err
	}
}

// linkAndClose links the calls that were left in what the worker placed and
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
	w.scopes, w.late = nil, nil
}

func (w *worker) link() {
	m := w.j.m
	if w.badCall != nil {
		w.def = w.badCall.Caller - m.imported
		w.fail(w.badCall)
	}
	for i := range w.late {
		run := &w.late[i]
		for _, c := range run.calls {
			if reason := m.linkLate(run.scope, c); reason != "" {
				w.failLate(c, reason) // and on: a lower function may fail as well
			}
		}
	}
}

// linkLate links a call, or gives the reason why it can't.
func (m *Module) linkLate(scope *codemem.WriteScope, c lateCall) (reason string) {
	if m.farCalls() {
		return m.linkFar(scope, c)
	}
	field, reason := m.callTo(int64(m.entries[c.callee]) - int64(c.at))
	if reason == "" {
		scope.Write32(m.base+uintptr(c.at), field)
	}
	return reason
}

// failLate records the failure of a late call for its function.
func (w *worker) failLate(c lateCall, reason string) {
	m := w.j.m
	fn, off, _ := m.find(m.base + uintptr(c.at))
	w.def = fn - m.imported
	w.fail(&LinkError{Caller: fn, Callee: m.imported + c.callee, Offset: off, Reason: reason})
}
