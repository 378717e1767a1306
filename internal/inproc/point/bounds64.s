//go:build amd64 || arm64 || riscv64 || loong64 || ppc64 || ppc64le || s390x || mips64 || mips64le || wasm

#include "textflag.h"

DATA ·bounds+0(SB)/8, $runtime·data(SB)
DATA ·bounds+8(SB)/8, $runtime·edata(SB)
DATA ·bounds+16(SB)/8, $runtime·bss(SB)
DATA ·bounds+24(SB)/8, $runtime·ebss(SB)
GLOBL ·bounds(SB), NOPTR, $32
