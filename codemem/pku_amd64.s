#include "textflag.h"

// RDPKRU reads the rights of the thread to EAX and wants ECX = 0. WRPKRU
// writes them from EAX and wants ECX = EDX = 0. Go's assembler knows neither.
#define RDPKRU BYTE $0x0f; BYTE $0x01; BYTE $0xee
#define WRPKRU BYTE $0x0f; BYTE $0x01; BYTE $0xef

// OPEN clears the bits of R9 in PKRU and keeps the old value in R8.
#define OPEN \
	XORL CX, CX \
	RDPKRU \
	MOVL AX, R8 \
	NOTL R9 \
	ANDL R9, AX \
	XORL CX, CX \
	XORL DX, DX \
	WRPKRU

// CLOSE restores what OPEN found.
#define CLOSE \
	MOVL R8, AX \
	XORL CX, CX \
	XORL DX, DX \
	WRPKRU

// func hasPKU() bool
TEXT ·hasPKU(SB), NOSPLIT, $0-1
	XORL AX, AX
	CPUID
	CMPL AX, $7
	JLT  no
	MOVL $7, AX
	XORL CX, CX
	CPUID
	SHRL $4, CX // OSPKE
	ANDL $1, CX
	MOVB CX, ret+0(FP)
	RET
no:
	MOVB $0, ret+0(FP)
	RET

// func keyCopy(dst unsafe.Pointer, src *byte, n uintptr, mask uint32)
TEXT ·keyCopy(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), R10
	MOVL mask+24(FP), R9
	OPEN
	MOVQ R10, CX
	REP; MOVSB
	CLOSE
	RET

// func keyCopyOut(dst *byte, src unsafe.Pointer, n uintptr, mask uint32)
TEXT ·keyCopyOut(SB), NOSPLIT, $0-28
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), R10
	MOVL mask+24(FP), R9
	OPEN
	MOVQ R10, CX
	REP; MOVSB
	CLOSE
	RET

// func keyStore64(p unsafe.Pointer, v uint64, mask uint32)
TEXT ·keyStore64(SB), NOSPLIT, $0-20
	MOVQ p+0(FP), DI
	MOVQ v+8(FP), SI
	MOVL mask+16(FP), R9
	OPEN
	MOVQ SI, (DI)
	CLOSE
	RET
