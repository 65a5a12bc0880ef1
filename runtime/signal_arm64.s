//go:build linux

#include "go_asm.h"
#include "textflag.h"

// Signal handlers. The kernel calls them on the thread's alternate stack with
// the C convention: R0 signal, R1 siginfo, R2 ucontext. They use caller-saved
// registers only (and the assembler's temporary, R27, whose interrupted value
// is in the ucontext), know no goroutine and call no Go function but the
// handler that Go had installed. R28 stays Go's g throughout.

// Offsets in siginfo and ucontext.
#define si_code 8
#define si_addr 16
#define uc_r27 400
#define uc_fp 416
#define uc_lr 424
#define uc_sp 432
#define uc_pc 440

// r = a field of sigs.
#define SIGS(field, r) \
	MOVD $·sigs(SB), r; \
	MOVD field(r), r

// R3 = Go's own handler.
#define OLD \
	MOVD $·sigs(SB), R3; \
	ADD  $sigState_old, R3; \
	MOVD (R3)(R0<<3), R3

// Goes to no unless the interrupted PC is in the code arena and R27 is a
// context block; then R4 is the PC and R5 the context.
#define IF_NATIVE(no) \
	MOVD uc_pc(R2), R4; \
	SIGS(sigState_codeLo, R6); \
	CMP  R6, R4; \
	BLO  no; \
	SIGS(sigState_codeHi, R6); \
	CMP  R6, R4; \
	BHS  no; \
	MOVD uc_r27(R2), R5; \
	TST  $4095, R5; \
	BNE  no; \
	SIGS(sigState_ctxLo, R6); \
	CMP  R6, R5; \
	BLO  no; \
	SIGS(sigState_ctxHi, R6); \
	CMP  R6, R5; \
	BHS  no

// Goes to yes if PC R4 is in a stub that switches stacks. Those can't be
// interrupted.
#define IF_QUIET(yes) \
	SIGS(sigState_quietLo, R6); \
	SUB  R6, R4, R7; \
	SIGS(sigState_quietLen, R6); \
	CMP  R6, R7; \
	BLO  yes

// trapHandler turns a fault of native code into a TRAP exit; one of a stub,
// which only a bug can cause, as well: Go can't report it, for it knows neither
// the code nor the stack.
TEXT ·trapHandler(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	IF_NATIVE(forward)
	MOVW si_code(R1), R6
	CMPW $0, R6
	BLE  sent // by kill, tgkill or sigqueue: Go's affair
	MOVD R0, ctxBlock_faultSignal(R5)
	MOVD si_addr(R1), R6
	MOVD R6, ctxBlock_faultAddr(R5)
	MOVD R4, ctxBlock_faultPC(R5)
	SIGS(sigState_trapPad, R6)
	MOVD R6, uc_pc(R2)
	RET

sent:
	JMP ·tracebackHandler(SB)

forward:
	OLD
	JMP (R3)

// preemptHandler turns SIGURG into a PREEMPT exit of native code. Go's
// handler always runs too: it acknowledges the signal, without which Go would
// never send another to this thread.
TEXT ·preemptHandler(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	IF_NATIVE(forward)
	IF_QUIET(forward)
	MOVD R4, ctxBlock_preemptPC(R5)
	SIGS(sigState_preemptPad, R6)
	MOVD R6, uc_pc(R2)

forward:
	OLD
	JMP (R3)

// tracebackHandler shows Go a Go frame instead of native code while its
// handler walks the stack (SIGPROF, SIGQUIT, SIGABRT, kill): wasmCode, called by
// whoever entered native code. goSP, goFP and goPC are complete before the
// jump into the arena and stay until the next one: they hold in every stub,
// whichever stack it has got to.
TEXT ·tracebackHandler(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	IF_NATIVE(forward)
	SUB  $64, RSP
	MOVD R30, 0(RSP)
	MOVD R2, 8(RSP)
	MOVD R4, 16(RSP)
	MOVD uc_sp(R2), R6
	MOVD R6, 24(RSP)
	MOVD uc_fp(R2), R6
	MOVD R6, 32(RSP)
	MOVD uc_lr(R2), R6
	MOVD R6, 40(RSP)

	MOVD ctxBlock_goSP(R5), R6
	MOVD R6, uc_sp(R2)
	MOVD ctxBlock_goFP(R5), R6
	MOVD R6, uc_fp(R2)
	MOVD ctxBlock_goPC(R5), R6
	MOVD R6, uc_lr(R2)
	MOVD $·wasmCode(SB), R6
	ADD  $4, R6
	MOVD R6, uc_pc(R2)
	OLD
	CALL (R3)

	// Where Go has moved the PC, it made wasmCode call a panic (a fault that
	// sigqueue pretends): that abandons the native frames.
	MOVD 8(RSP), R2
	MOVD $·wasmCode(SB), R6
	ADD  $4, R6
	MOVD uc_pc(R2), R7
	CMP  R6, R7
	BNE  moved
	MOVD 16(RSP), R6
	MOVD R6, uc_pc(R2)
	MOVD 24(RSP), R6
	MOVD R6, uc_sp(R2)
	MOVD 32(RSP), R6
	MOVD R6, uc_fp(R2)
	MOVD 40(RSP), R6
	MOVD R6, uc_lr(R2)

moved:
	MOVD 0(RSP), R30
	ADD  $64, RSP
	RET

forward:
	OLD
	JMP (R3)

// wasmCode is the name of native code in profiles and goroutine dumps. It
// never runs; it needs two instructions, so that PC+4 is inside.
TEXT ·wasmCode(SB), NOSPLIT|NOFRAME, $0-0
	WORD $0xd503201f // nop
	WORD $0xd503201f
	RET

// func handlerAddrs() (trap, preempt, traceback uintptr)
TEXT ·handlerAddrs(SB), NOSPLIT, $0-24
	MOVD $·trapHandler(SB), R0
	MOVD R0, trap+0(FP)
	MOVD $·preemptHandler(SB), R0
	MOVD R0, preempt+8(FP)
	MOVD $·tracebackHandler(SB), R0
	MOVD R0, traceback+16(FP)
	RET
