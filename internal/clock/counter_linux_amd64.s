#include "textflag.h"

// func count() uint64
TEXT ·count(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func cpuid(leaf, sub uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET

// stamp returns the counter in AX and the goroutine's descriptor, which Go's internal ABI keeps in
// R14, in BX. It is reached through a func value only: see stamp_unsafe.go.
TEXT stamp<>(SB), NOSPLIT|NOFRAME, $0-0
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ R14, BX
	RET

DATA ·stampCode+0(SB)/8, $stamp<>(SB)
GLOBL ·stampCode(SB), NOPTR, $8
