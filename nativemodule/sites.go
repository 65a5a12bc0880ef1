package nativemodule

import "github.com/wasmjit/wasmjit/codemem"

// lateCall is a direct call whose callee had no place yet when the call was
// written. The callee stands in the code, too; but what was written long ago
// takes longer to read than a list, while nobody waits for what is stored.
type lateCall struct {
	at     uint32 // its field, from the arena's start
	callee uint32 // defined function
}

// lateRun lists late calls in code of one scope.
type lateRun struct {
	scope *codemem.WriteScope
	calls []lateCall
}

// lateBlock is how many late calls a block has. Runs are cut from blocks and
// never grow: a list that does is copied, and its memory touched, three times
// over.
const lateBlock = 4 << 10

// recordLate leaves a call to link when all functions are placed.
func (w *worker) recordLate(scope *codemem.WriteScope, c lateCall) {
	n := len(w.late)
	if n == 0 || w.late[n-1].scope != scope || len(w.late[n-1].calls) == cap(w.late[n-1].calls) {
		w.late = append(w.late, lateRun{scope, w.lateRoom()})
		n++
	}
	run := &w.late[n-1]
	run.calls = append(run.calls, c)
}

// lateRoom gives room for late calls: the rest of the last block, or another.
func (w *worker) lateRoom() []lateCall {
	if n := len(w.late); n > 0 {
		if last := w.late[n-1].calls; len(last) < cap(last) {
			return last[len(last):]
		}
	}
	return make([]lateCall, 0, lateBlock)
}
