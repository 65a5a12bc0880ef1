#include "textflag.h"

// func syncRange(lo, hi uintptr)
//
// Makes stores to [lo, hi) visible to instruction fetch on all processors (Arm
// ARM, B2.4.4): clean the data cache to the point of unification, invalidate
// the instruction cache there. CTR_EL0 has the line sizes, as logarithms of
// words.
TEXT ·syncRange(SB), NOSPLIT, $0-16
	MOVD lo+0(FP), R0
	MOVD hi+8(FP), R1
	MRS  CTR_EL0, R2
	MOVD $4, R5
	LSR  $16, R2, R3
	AND  $15, R3
	LSL  R3, R5, R3 // bytes of a data line
	AND  $15, R2, R4
	LSL  R4, R5, R4 // bytes of an instruction line

	SUB  $1, R3, R6
	BIC  R6, R0, R7
data:
	CMP  R1, R7
	BHS  cleaned
	WORD $0xd50b7b27 // dc cvau, x7
	ADD  R3, R7
	B    data
cleaned:
	DSB  $11 // inner shareable

	SUB  $1, R4, R6
	BIC  R6, R0, R7
instructions:
	CMP  R1, R7
	BHS  invalidated
	WORD $0xd50b7527 // ic ivau, x7
	ADD  R4, R7
	B    instructions
invalidated:
	DSB  $11
	ISB  $15
	RET
