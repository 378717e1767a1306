#include "textflag.h"

// func ticks() uint64
//
// Neither what comes before nor what comes after is executed meanwhile.
// (Intel SDM volume 2B, RDTSC)
TEXT ·ticks(SB), NOSPLIT, $0-8
	LFENCE
	RDTSC
	LFENCE
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, ret+0(FP)
	RET

// func flush(words *[8]unsafe.Pointer)
TEXT ·flush(SB), NOSPLIT, $0-8
	MOVQ	words+0(FP), AX
	MOVQ	$8, CX
line:
	MOVQ	(AX), BX
	CLFLUSH	(BX)
	ADDQ	$8, AX
	DECQ	CX
	JNE	line
	MFENCE
	RET

// Where the kernel puts breakpoints for comparison: on a NOP of one byte, which it emulates, and on
// what it must single-step.

// func oneByte()
TEXT ·oneByte(SB), NOSPLIT, $0-0
	BYTE	$0x90
	RET

// func stepped()
TEXT ·stepped(SB), NOSPLIT, $0-0
	XORL	AX, AX
	RET
