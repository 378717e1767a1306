#include "textflag.h"

// The pool of stubs and the anchor; package markerabi describes both to the byte.

#define STUB \
	BYTE $0x0f; BYTE $0x1f; BYTE $0x44; BYTE $0x00; BYTE $0x00; \
	BYTE $0x66; BYTE $0x2e; BYTE $0x0f; BYTE $0x1f; BYTE $0x84; \
	BYTE $0x00; BYTE $0x00; BYTE $0x00; BYTE $0x00; BYTE $0x00; \
	BYTE $0xc3
#define STUB4 STUB; STUB; STUB; STUB
#define STUB16 STUB4; STUB4; STUB4; STUB4
#define STUB64 STUB16; STUB16; STUB16; STUB16
#define STUB256 STUB64; STUB64; STUB64; STUB64
#define STUB1024 STUB256; STUB256; STUB256; STUB256

// NOSPLIT because a stub is entered with the caller's record in a register that no stack
// map describes; NOFRAME because the bytes must be exactly the stubs. The linker aligns
// every function to 32 bytes, so each stub is 16-byte aligned.
TEXT ·pool<>(SB), NOSPLIT|NOFRAME, $0-0
	STUB1024

DATA ·anchor+0(SB)/8, $0x68636e6179617702
DATA ·anchor+8(SB)/8, $0x41f6d80b93ce275a
DATA ·anchor+16(SB)/8, $3
DATA ·anchor+24(SB)/8, $·pool<>(SB)
DATA ·anchor+32(SB)/8, $1024
DATA ·anchor+40(SB)/8, $runtime·types(SB)
DATA ·anchor+48(SB)/8, $runtime·etypes(SB)
DATA ·anchor+56(SB)/8, $runtime·text(SB)
DATA ·anchor+64(SB)/8, $runtime·etext(SB)
DATA ·anchor+72(SB)/8, $runtime·pclntab(SB)
DATA ·anchor+80(SB)/8, $runtime·epclntab(SB)
DATA ·anchor+88(SB)/8, $runtime·data(SB)
DATA ·anchor+96(SB)/8, $runtime·edata(SB)
DATA ·anchor+104(SB)/8, $runtime·bss(SB)
DATA ·anchor+112(SB)/8, $runtime·ebss(SB)
DATA ·anchor+120(SB)/8, $0
DATA ·anchor+128(SB)/8, $0
GLOBL ·anchor(SB), NOPTR, $136
