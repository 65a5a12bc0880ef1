//go:build linux && amd64

#include "go_asm.h"
#include "textflag.h"
#include "funcdata.h"

// Go text never runs on a native stack: the instructions that load and store
// the stack pointer are stubs in the code arena (stubs.go). So no function
// here writes SP, and Go's traceback may find callNative below a Go call.

// func callNative(s *nativeStack, ctx uintptr)
//
// Resumes native code at ctx.resumePC and calls handleExit at each exit until
// that returns false, or until the code returned or faulted. Calling Go from
// here, instead of returning to a Go loop, lets each CALL meet its own RET in
// the CPU's return predictor.
TEXT ·callNative(SB), 0, $24-16
	NO_LOCAL_POINTERS
	MOVQ ctx+8(FP), R15
	CALL switch<>(SB)

	// Every exit comes here, with R15, SP and BP as they were.
exits:
	CMPQ ctxBlock_exitCode(R15), $const_exitTrap
	JBE  done
	MOVQ s+0(FP), AX
	MOVQ AX, 0(SP)
	CALL ·handleExit(SB)
	MOVBLZX 8(SP), AX
	TESTL AX, AX
	JEQ  done
	MOVQ ctx+8(FP), R15
	MOVQ SP, ctxBlock_goSP(R15)
	MOVQ BP, AX
	MOVQ AX, ctxBlock_goFP(R15)
	JMP  ctxBlock_resumePC(R15)

done:
	RET

// switch leaves for native code; the exit stubs return to its caller.
TEXT switch<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ 0(SP), AX
	MOVQ AX, ctxBlock_goPC(R15)
	LEAQ 8(SP), AX
	MOVQ AX, ctxBlock_goSP(R15)
	MOVQ BP, AX
	MOVQ AX, ctxBlock_goFP(R15)
	JMP  ctxBlock_resumePC(R15)

// func switchNative(ctx uintptr)
//
// Resumes native code and returns at its next exit, whatever that is.
TEXT ·switchNative(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ ctx+0(FP), R15
	MOVQ 0(SP), AX
	MOVQ AX, ctxBlock_goPC(R15)
	LEAQ 8(SP), AX
	MOVQ AX, ctxBlock_goSP(R15)
	MOVQ BP, AX
	MOVQ AX, ctxBlock_goFP(R15)
	JMP  ctxBlock_resumePC(R15)
