#include "textflag.h"

// 4096 sites, 61 bytes apart: each at another place relative to words, cache lines and pages.
// A site is what the compiler makes of one, with a count for the slow path.

#define NOP8 BYTE $0x0f; BYTE $0x1f; BYTE $0x84; BYTE $0; BYTE $0; BYTE $0; BYTE $0; BYTE $0
#define SHORT MOVL ·point+0(SB), AX; TESTL AX, AX; JE 2(PC); INCQ (CX); NOP8; NOP8; NOP8; NOP8; NOP8; NOP8
#define SHORT4 SHORT; SHORT; SHORT; SHORT
#define SHORT16 SHORT4; SHORT4; SHORT4; SHORT4
#define SHORT64 SHORT16; SHORT16; SHORT16; SHORT16
#define SHORT256 SHORT64; SHORT64; SHORT64; SHORT64
#define SHORT1024 SHORT256; SHORT256; SHORT256; SHORT256

// func short(hits *int)
TEXT ·short(SB), NOSPLIT, $0-8
	MOVQ hits+0(FP), CX
	SHORT1024; SHORT1024; SHORT1024; SHORT1024
	XORL AX, AX
	RET

// The same with an instruction in between, so that the branch itself is the site, and with a
// branch over more than 127 bytes: 0f 84 rel32 becomes e9 rel32. A site is 159 bytes.
#define NOP32 NOP8; NOP8; NOP8; NOP8
#define NEAR MOVL ·point+0(SB), AX; LEAQ (CX), DX; TESTL AX, AX; JE 138(PC); INCQ (DX); NOP32; NOP32; NOP32; NOP32; NOP8; INCQ BX
#define NEAR4 NEAR; NEAR; NEAR; NEAR
#define NEAR16 NEAR4; NEAR4; NEAR4; NEAR4
#define NEAR64 NEAR16; NEAR16; NEAR16; NEAR16
#define NEAR256 NEAR64; NEAR64; NEAR64; NEAR64
#define NEAR1024 NEAR256; NEAR256; NEAR256; NEAR256

// func near(hits *int)
TEXT ·near(SB), NOSPLIT, $0-8
	MOVQ hits+0(FP), CX
	NEAR1024; NEAR1024; NEAR1024; NEAR1024
	XORL AX, AX // or the last branch would hand AX on
	RET
