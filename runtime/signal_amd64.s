//go:build linux && amd64

#include "go_asm.h"
#include "textflag.h"

// Signal handlers. The kernel calls them on the thread's alternate stack with
// the C convention: DI signal, SI siginfo, DX ucontext. They use caller-saved
// registers only, know no goroutine and call no Go function but the handler
// that Go had installed.

// Offsets in siginfo and ucontext.
#define si_code 8
#define si_addr 16
#define uc_r15 96
#define uc_bp 120
#define uc_sp 160
#define uc_pc 168

// Go's own handler, arguments untouched.
#define FORWARD \
	LEAQ ·sigs+sigState_old(SB), AX; \
	MOVQ (AX)(DI*8), AX; \
	JMP  AX

// Goes to no unless the interrupted PC is in the code arena and R15 is a
// context block; then AX is the PC and CX the context.
#define IF_NATIVE(no) \
	MOVQ uc_pc(DX), AX; \
	CMPQ AX, ·sigs+sigState_codeLo(SB); \
	JB   no; \
	CMPQ AX, ·sigs+sigState_codeHi(SB); \
	JAE  no; \
	MOVQ uc_r15(DX), CX; \
	TESTQ $4095, CX; \
	JNE  no; \
	CMPQ CX, ·sigs+sigState_ctxLo(SB); \
	JB   no; \
	CMPQ CX, ·sigs+sigState_ctxHi(SB); \
	JAE  no

// Goes to yes if PC AX is in a stub that switches stacks. Those can't be
// interrupted.
#define IF_QUIET(yes) \
	MOVQ AX, R8; \
	SUBQ ·sigs+sigState_quietLo(SB), R8; \
	CMPQ R8, ·sigs+sigState_quietLen(SB); \
	JB   yes

// trapHandler turns a fault of native code into a TRAP exit; one of a stub,
// which only a bug can cause, as well: Go can't report it, for it knows neither
// the code nor the stack.
TEXT ·trapHandler(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	IF_NATIVE(forward)
	MOVL  si_code(SI), R8
	TESTL R8, R8
	JLE   sent // by kill, tgkill or sigqueue: Go's affair
	MOVQ  DI, ctxBlock_faultSignal(CX)
	MOVQ  si_addr(SI), R8
	MOVQ  R8, ctxBlock_faultAddr(CX)
	MOVQ  AX, ctxBlock_faultPC(CX)
	MOVQ  ·sigs+sigState_trapPad(SB), AX
	MOVQ  AX, uc_pc(DX)
	RET

sent:
	JMP ·tracebackHandler(SB)

forward:
	FORWARD

// preemptHandler turns SIGURG into a PREEMPT exit of native code. Go's
// handler always runs too: it acknowledges the signal, without which Go would
// never send another to this thread.
TEXT ·preemptHandler(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	IF_NATIVE(forward)
	IF_QUIET(forward)
	MOVQ AX, ctxBlock_preemptPC(CX)
	MOVQ ·sigs+sigState_preemptPad(SB), AX
	MOVQ AX, uc_pc(DX)

forward:
	FORWARD

// tracebackHandler shows Go a Go frame instead of native code while its
// handler walks the stack (SIGPROF, SIGQUIT, SIGABRT, kill): wasmCode, called by
// whoever entered native code. goSP, goFP and goPC are complete before the
// jump into the arena and stay until the next one: they hold in every stub,
// whichever stack it has got to.
TEXT ·tracebackHandler(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	IF_NATIVE(forward)
	// The kernel left SP at 8 modulo 16.
	LEAQ -40(SP), SP
	MOVQ DX, 0(SP)
	MOVQ AX, 8(SP)
	MOVQ uc_sp(DX), AX
	MOVQ AX, 16(SP)
	MOVQ uc_bp(DX), AX
	MOVQ AX, 24(SP)

	// The cell below goSP is free while native code runs.
	MOVQ ctxBlock_goSP(CX), AX
	MOVQ ctxBlock_goPC(CX), R8
	MOVQ R8, -8(AX)
	LEAQ -8(AX), AX
	MOVQ AX, uc_sp(DX)
	MOVQ ctxBlock_goFP(CX), AX
	MOVQ AX, uc_bp(DX)
	LEAQ ·wasmCode(SB), AX
	LEAQ 1(AX), AX
	MOVQ AX, uc_pc(DX)
	LEAQ ·sigs+sigState_old(SB), AX
	MOVQ (AX)(DI*8), AX
	CALL AX

	// Where Go has moved the PC, it made wasmCode call a panic (a fault that
	// sigqueue pretends): that abandons the native frames.
	MOVQ 0(SP), DX
	LEAQ ·wasmCode(SB), AX
	LEAQ 1(AX), AX
	CMPQ AX, uc_pc(DX)
	JNE  moved
	MOVQ 8(SP), AX
	MOVQ AX, uc_pc(DX)
	MOVQ 16(SP), AX
	MOVQ AX, uc_sp(DX)
	MOVQ 24(SP), AX
	MOVQ AX, uc_bp(DX)

moved:
	LEAQ 40(SP), SP
	RET

forward:
	FORWARD

// wasmCode is the name of native code in profiles and goroutine dumps. It
// never runs; it needs two bytes, so that PC+1 is inside.
TEXT ·wasmCode(SB), NOSPLIT|NOFRAME, $0-0
	BYTE $0x90
	BYTE $0x90
	RET

// func handlerAddrs() (trap, preempt, traceback uintptr)
TEXT ·handlerAddrs(SB), NOSPLIT, $0-24
	LEAQ ·trapHandler(SB), AX
	MOVQ AX, trap+0(FP)
	LEAQ ·preemptHandler(SB), AX
	MOVQ AX, preempt+8(FP)
	LEAQ ·tracebackHandler(SB), AX
	MOVQ AX, traceback+16(FP)
	RET
