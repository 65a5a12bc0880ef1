//go:build linux

#include "textflag.h"

// Offsets in the kernel's siginfo and ucontext.
#define INFO_SYSCALL 24
#define UC_R8 40
#define UC_R9 48
#define UC_R10 56
#define UC_RDI 104
#define UC_RSI 112
#define UC_RDX 136
#define UC_RAX 144
#define UC_SIGMASK 296

#define SYS_RT_SIGPROCMASK 14
#define SIGSYS_BIT 30
#define EINVAL 22

// sigsys handles the SIGSYS of a trapped call: it counts the call, issues it
// again and makes the program see its result. C arguments: DI signal, SI
// siginfo, DX ucontext. Every register is restored from the ucontext after
// it, so none needs saving; g is neither read nor changed.
TEXT ·sigsys(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVQ	DX, BX
	MOVLQSX	INFO_SYSCALL(SI), AX
	CMPQ	AX, $SYS_RT_SIGPROCMASK
	JEQ	mask
	CMPQ	AX, $512
	JAE	issue
	LEAQ	·trapped(SB), CX
	LOCK
	INCQ	(CX)(AX*8)
issue:
	MOVQ	UC_RDI(BX), DI
	MOVQ	UC_RSI(BX), SI
	MOVQ	UC_RDX(BX), DX
	MOVQ	UC_R10(BX), R10
	MOVQ	UC_R8(BX), R8
	MOVQ	UC_R9(BX), R9
	CALL	·reissue(SB)
	MOVQ	AX, UC_RAX(BX)
	RET

	// A thread that blocks SIGSYS would be killed by its next counted call,
	// and Go blocks every signal in a thread that ends. So a change of the
	// mask is made here, in the mask that the return from the handler puts
	// into force, without that bit.
mask:
	MOVQ	UC_SIGMASK(BX), R8
	MOVQ	UC_RSI(BX), SI
	TESTQ	SI, SI
	JEQ	old
	MOVQ	(SI), R9
	MOVQ	UC_RDI(BX), DI
	CMPQ	DI, $2 // SIG_SETMASK
	JEQ	set
	CMPQ	DI, $1 // SIG_UNBLOCK
	JEQ	unblock
	TESTQ	DI, DI // SIG_BLOCK
	JNE	invalid
	ORQ	R8, R9
	JMP	set
unblock:
	NOTQ	R9
	ANDQ	R8, R9
set:
	BTRQ	$SIGSYS_BIT, R9
	MOVQ	R9, UC_SIGMASK(BX)
old:
	MOVQ	UC_RDX(BX), DX
	TESTQ	DX, DX
	JEQ	done
	MOVQ	R8, (DX)
done:
	MOVQ	$0, UC_RAX(BX)
	RET
invalid:
	MOVQ	$-EINVAL, UC_RAX(BX)
	RET

// reissue is the only place whose calls the filter lets pass.
TEXT ·reissue(SB), NOSPLIT|NOFRAME, $0
	SYSCALL
	RET

// func sigsysAddrs() (handler, reissued uintptr)
TEXT ·sigsysAddrs(SB), NOSPLIT, $0-16
	LEAQ	·sigsys(SB), AX
	MOVQ	AX, handler+0(FP)
	LEAQ	·reissue(SB), AX
	ADDQ	$2, AX // the length of SYSCALL
	MOVQ	AX, reissued+8(FP)
	RET
