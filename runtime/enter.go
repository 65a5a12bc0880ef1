//go:build linux && (amd64 || arm64)

package runtime

import (
	"unsafe"

	"github.com/wasmjit/wasmjit/liftoff"
)

// Exit codes. ORDER: callNative returns at those up to exitTrap and calls
// handleExit at the others.
const (
	exitOK = iota
	exitTrap
	exitHost
	exitPreempt
	exitRoutine // + liftoff.Routine
)

// activation is what a nested run keeps of the one below it.
type activation struct {
	goPC                     uintptr
	wasmSP, wasmFP, resumePC uintptr
	handler                  exitHandler
}

// run enters compiled code and serves its exits until it returns, faults, or
// h returns an error. A fault without an error is a signal or a lack of
// stack; with a routine's error comes where the routine was called.
func (s *nativeStack) run(c *nativeCall, h exitHandler) (*nativeFault, error) {
	x := s.ctx
	sp, fp := s.hi, uintptr(0)
	if s.running > 0 {
		sp, fp = x.wasmSP, x.wasmFP
	}
	cells := uintptr(len(c.Stack) + c.ResultCells)
	if sp < s.lo+entryRoom || cells > (sp-s.lo-entryRoom)/8 {
		return &nativeFault{Kind: entryOverflow, Addr: s.lo - 8, SP: sp, FP: fp}, nil
	}
	sp = (sp - 8*cells) &^ 15
	copy(unsafe.Slice((*uint64)(ptr(sp)), len(c.Stack)), c.Stack)
	if s.interrupted() {
		if err := h.preempted(); err != nil {
			return nil, err
		}
	}

	if s.running > 0 {
		s.outer = append(s.outer, activation{x.goPC, x.wasmSP, x.wasmFP, x.resumePC, s.handler})
	}
	s.running++
	defer s.leave()
	x.wasmSP, x.wasmFP, x.resumePC = sp, 0, stubs.entry
	x.entry, x.inst, x.gp, x.fp = c.Entry, c.Inst, c.GP, c.FP
	s.handler = h
	if syscallMode.Load() {
		s.loopInSyscall()
	} else {
		callNative(s, s.hi)
	}

	switch x.exitCode {
	case exitOK:
		c.RetGP, c.RetFP = x.retGP, x.retFP
		results := unsafe.Slice((*uint64)(ptr(sp+8*uintptr(len(c.Stack)))), c.ResultCells)
		c.Results = append(c.Results[:0], results...)
		return nil, nil
	case exitTrap:
		return x.fault(), nil
	}
	err := s.err
	s.err = nil
	if x.exitCode >= exitRoutine {
		f := (*routineFrame)(ptr(x.wasmSP))
		return &nativeFault{Kind: routineTrap, PC: f.ret, SP: x.wasmSP, FP: f.fp}, err
	}
	return nil, err
}

// leave abandons the native frames of a run, however it ended.
func (s *nativeStack) leave() {
	s.running--
	if s.running == 0 {
		s.handler = nil
		return
	}
	x, outer := s.ctx, &s.outer[s.running-1]
	x.goPC, x.wasmSP, x.wasmFP, x.resumePC = outer.goPC, outer.wasmSP, outer.wasmFP, outer.resumePC
	s.handler, outer.handler = outer.handler, nil
	s.outer = s.outer[:s.running-1]
}

// loopInSyscall does what callNative does, in syscall mode.
func (s *nativeStack) loopInSyscall() {
	for {
		switchInSyscall(s.hi)
		if s.ctx.exitCode <= exitTrap || !handleExit(s) {
			return
		}
	}
}

// handleExit serves one exit and says whether to resume. Its frame is why a
// PREEMPT exit lets the scheduler in: the stack check at its beginning yields.
//
//go:noinline
func handleExit(s *nativeStack) bool {
	x := s.ctx
	code := x.exitCode
	switch {
	case code == exitHost:
		s.err = s.handler.hostCall((*hostFrame)(ptr(x.wasmSP)))
	case code == exitPreempt:
		s.clearInterrupt()
		s.err = s.handler.preempted()
	default:
		s.err = s.handler.routine(liftoff.Routine(code-exitRoutine), (*routineFrame)(ptr(x.wasmSP)))
	}
	if s.err == nil && s.interrupted() {
		s.err = s.handler.preempted()
	}
	// A nested run left its own code.
	x.exitCode = code
	return s.err == nil
}

// fault gives the description of the fault that ended a run.
func (x *ctxBlock) fault() *nativeFault {
	f := &nativeFault{Kind: hardwareFault, Signal: int(x.faultSignal), PC: x.faultPC, Addr: x.faultAddr, Regs: x.savedGP}
	f.Regs[ctxRegNumber] = uint64(uintptr(unsafe.Pointer(x)))
	f.SP, f.FP = uintptr(f.Regs[spNumber]), uintptr(f.Regs[fpNumber])
	return f
}
