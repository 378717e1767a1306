#include "textflag.h"

// func count() uint64
TEXT ·count(SB), NOSPLIT, $0-8
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// stamp returns the counter in R0 and the goroutine's descriptor, which Go's internal ABI keeps in
// R28, in R1. It is reached through a func value only: see stamp_unsafe.go.
TEXT stamp<>(SB), NOSPLIT|NOFRAME, $0-0
	MRS  CNTVCT_EL0, R0
	MOVD g, R1
	RET

DATA ·stampCode+0(SB)/8, $stamp<>(SB)
GLOBL ·stampCode(SB), NOPTR, $8
