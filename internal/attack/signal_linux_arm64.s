#include "textflag.h"

// signalStore is a signal handler: C arguments, no g, no stack use. It stores
// udf to the address in signalTarget.
TEXT signalStore<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVD ·signalTarget(SB), R0
	MOVW ZR, (R0)
	MOVD $1, R1
	MOVW R1, ·signalHits(SB)
	RET

// func signalHandler() uintptr
TEXT ·signalHandler(SB), NOSPLIT, $0-8
	MOVD $signalStore<>(SB), R0
	MOVD R0, ret+0(FP)
	RET
