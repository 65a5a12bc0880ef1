//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "funcdata.h"

// Go text never runs on a native stack: the instructions that load and store
// the stack pointer are stubs in the code arena (stubs_arm64.go). So no
// function here writes SP, and Go's traceback may find callNative below a Go
// call.
//
// R27 is the context block; it is also the assembler's temporary register, so
// nothing below may need one.

// func callNative(s *nativeStack, ctx uintptr)
//
// Resumes native code at ctx.resumePC and calls handleExit at each exit until
// that returns false, or until the code returned or faulted.
TEXT ·callNative(SB), 0, $24-16
	NO_LOCAL_POINTERS
	MOVD ctx+8(FP), R27
	CALL switch<>(SB)

	// Every exit comes here, with R27, SP and R29 as they were.
	MOVD ctxBlock_exitCode(R27), R0
	CMP  $const_exitTrap, R0
	BLS  done
	MOVD s+0(FP), R0
	MOVD R0, 8(RSP)
	CALL ·handleExit(SB)
	MOVBU 16(RSP), R0
	CBZ  R0, done
	MOVD ctx+8(FP), R27
	MOVD RSP, R0
	MOVD R0, ctxBlock_goSP(R27)
	MOVD R29, ctxBlock_goFP(R27)
	MOVD ctxBlock_resumePC(R27), R0
	JMP  (R0)

done:
	RET

// switch leaves for native code; the exit stubs return to its caller.
TEXT switch<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVD R30, ctxBlock_goPC(R27)
	MOVD RSP, R0
	MOVD R0, ctxBlock_goSP(R27)
	MOVD R29, ctxBlock_goFP(R27)
	MOVD ctxBlock_resumePC(R27), R0
	JMP  (R0)

// func switchNative(ctx uintptr)
//
// Resumes native code and returns at its next exit, whatever that is.
TEXT ·switchNative(SB), NOSPLIT|NOFRAME, $0-8
	MOVD ctx+0(FP), R27
	MOVD R30, ctxBlock_goPC(R27)
	MOVD RSP, R0
	MOVD R0, ctxBlock_goSP(R27)
	MOVD R29, ctxBlock_goFP(R27)
	MOVD ctxBlock_resumePC(R27), R0
	JMP  (R0)
