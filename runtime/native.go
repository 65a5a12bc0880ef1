package runtime

import (
	"fmt"
	"unsafe"

	"github.com/wasmjit/wasmjit/liftoff"
)

// This file is the interface between the store level (instances, memories,
// host functions, traps) and the native level (stacks, stubs, signals). The
// native level runs compiled code on a stack of its own and knows nothing of
// what the code belongs to.
//
//	nativeInit                    once, before anything else here
//	acquireStack, release         a pooled native stack
//	run                           enter compiled code, loop over its exits
//	exitHandler                   what the store level does at an exit
//	interrupt, clearInterrupt     make a stack's code exit soon
//	backtrace, inGuard, word      look at a stack after a fault
//	hostEntry                     RecEntry of every host function's record

// nativeCall is what run takes and gives. It may be reused: run allocates
// only when Results is too small.
type nativeCall struct {
	Entry uintptr // code address
	Inst  uintptr // instance block (or host block) to run it in
	// GP and FP are the argument registers in order.
	GP    [liftoff.NumGPArgs]uint64
	FP    [liftoff.NumFPArgs][2]uint64
	Stack []uint64 // stack argument cells
	// ResultCells is the number of result cells, behind the argument cells.
	ResultCells int

	// Set when run returns neither a fault nor an error.
	RetGP   uint64
	RetFP   [2]uint64
	Results []uint64 // the result cells
}

// exitHandler is what the store level does when compiled code leaves for Go.
// Its methods run on the goroutine that called run, on its Go stack. An error
// abandons the native frames of that run and comes out of it unchanged; a
// panic unwinds through run and leaves the stack usable.
type exitHandler interface {
	// hostCall is a call of a record whose entry is hostEntry. It may call
	// run again on the same stack.
	hostCall(f *hostFrame) error
	// routine is a call of a runtime routine. It may call run again on the
	// same stack.
	routine(r liftoff.Routine, f *routineFrame) error
	// preempted is called when compiled code was interrupted between two
	// instructions, at the scheduler's wish or by interrupt, and once more
	// before compiled code goes on if interrupt came while Go code ran. The
	// interrupted registers are kept in the context block, so it must not
	// call run on this stack. An error ends the run.
	preempted() error
}

// hostFrame lies on the native stack, where the host-call stub saved the
// registers of the caller. It is valid until hostCall returns.
type hostFrame struct {
	kept [8][2]uint64 // xmm8-xmm15, v8-v15
	FP   [liftoff.NumFPArgs][2]uint64
	GP   [liftoff.NumGPArgs]uint64
	keep [6]uint64 // r8-r13, x19-x24
	mem  uint64    // rbx, x26
	inst uintptr   // r14, x25
	fp   uintptr   // the caller's frame
	ret  uintptr
	// The stack cells follow.
}

// Callee is the host block whose record was called.
func (f *hostFrame) Callee() uintptr { return f.inst }

// Caller is the instance block of the calling function, 0 if run called the
// host function directly.
func (f *hostFrame) Caller() uintptr {
	if f.fp == 0 {
		return 0
	}
	return *(*uintptr)(ptr(f.fp - 8))
}

// Cells gives the first n stack cells: the stack arguments, then the stack
// results. Go code reads and writes them in place.
func (f *hostFrame) Cells(n int) []uint64 {
	return unsafe.Slice((*uint64)(ptr(uintptr(unsafe.Pointer(f))+unsafe.Sizeof(*f))), n)
}

// SetGP sets the first result when it is an integer or a reference; an i32
// must be zero-extended.
func (f *hostFrame) SetGP(v uint64) { f.GP[0] = v }

// SetFP sets the first result when it is a float or vector.
func (f *hostFrame) SetFP(lo, hi uint64) { f.FP[0] = [2]uint64{lo, hi} }

// Frame gives what backtrace needs to list the callers.
func (f *hostFrame) Frame() (pc, fp uintptr) { return f.ret, f.fp }

// routineFrame is the frame of a routine call, as hostFrame is of a host
// call. It is valid until routine returns.
type routineFrame struct {
	kept   [8][2]uint64
	vector [liftoff.NumFPArgs][2]uint64
	Args   [liftoff.NumGPArgs]uint64 // the immediate first
	keep   [6]uint64
	mem    uint64
	Inst   uintptr // the caller's instance block
	fp     uintptr
	ret    uintptr
}

// SetResult sets the result; an i32 must be zero-extended.
func (f *routineFrame) SetResult(v uint64) { f.Args[0] = v }

// Frame gives what backtrace needs to list the callers.
func (f *routineFrame) Frame() (pc, fp uintptr) { return f.ret, f.fp }

// faultKind says how a run ended early.
type faultKind uint8

const (
	// hardwareFault is a signal at a native instruction.
	hardwareFault faultKind = iota
	// entryOverflow means that the stack had no room for a further run. Addr
	// lies in the guard, PC is 0, FP is the innermost native frame.
	entryOverflow
	// routineTrap goes with the error that a routine's handler returned: PC
	// is the return address of the routine call, FP the caller's frame.
	routineTrap
)

// The signals of a nativeFault that can be traps, by the numbers that every
// Unix gives them.
const (
	sigIll  = 4
	sigSegv = 11
)

// nativeFault describes where and why a run ended early.
type nativeFault struct {
	Kind   faultKind
	Signal int     // sigIll (ud2), sigSegv, SIGBUS, SIGFPE, SIGTRAP
	PC     uintptr // the faulting instruction (int3: one past it)
	Addr   uintptr // si_addr
	SP, FP uintptr
	// Regs are the general registers at a hardware fault, by hardware number;
	// number 31 is the stack pointer.
	Regs [savedRegs]uint64
}

// String is the diagnosis of a fault that no one expects.
func (f *nativeFault) String() string {
	b := fmt.Appendf(nil, "signal %d at pc %#x, address %#x", f.Signal, f.PC, f.Addr)
	for i, n := range regNames {
		b = fmt.Appendf(b, ", %s %#x", n, f.Regs[i])
	}
	return string(b)
}

// memBase is the base of memory 0 that compiled code used.
func (f *nativeFault) memBase() uintptr { return uintptr(f.Regs[memRegNumber]) }
