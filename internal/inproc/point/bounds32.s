//go:build 386 || arm || mips || mipsle

#include "textflag.h"

DATA ·bounds+0(SB)/4, $runtime·data(SB)
DATA ·bounds+4(SB)/4, $runtime·edata(SB)
DATA ·bounds+8(SB)/4, $runtime·bss(SB)
DATA ·bounds+12(SB)/4, $runtime·ebss(SB)
GLOBL ·bounds(SB), NOPTR, $16
