#include "textflag.h"

// signalStore is a signal handler: C arguments, no g, no stack use. It stores
// ud2 to the address in signalTarget.
TEXT signalStore<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVQ ·signalTarget(SB), AX
	MOVW $0x0b0f, (AX)
	MOVL $1, ·signalHits(SB)
	RET

// func signalHandler() uintptr
TEXT ·signalHandler(SB), NOSPLIT, $0-8
	MOVQ $signalStore<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET
