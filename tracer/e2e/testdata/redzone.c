// A leaf function that keeps 16 values in the red zone, the 128 bytes below the stack pointer
// that are its own (System V ABI, AMD64 supplement, 3.2.2), across a marker. It returns how
// many are not what they were.
#include <stdio.h>
#include <stdlib.h>

// The marker's instruction as a list of bytes: sys/sdt.h has 1, and there are headers that have 5.
#ifndef NOP
#define NOP "0x90"
#endif

__asm__(
	".text\n.globl leaf\n.type leaf, @function\n.balign 64\nleaf:\n"
	".irp at, 8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128\n"
	"	lea	\\at(%rdi), %rax\n	mov	%rax, -\\at(%rsp)\n"
	".endr\n"
	"990:	.byte " NOP "\n"
	"	xor	%eax, %eax\n"
	".irp at, 8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128\n"
	"	lea	\\at(%rdi), %rcx\n	cmp	%rcx, -\\at(%rsp)\n	setne	%cl\n	movzbl	%cl, %ecx\n	add	%rcx, %rax\n"
	".endr\n"
	"	ret\n.size leaf, .-leaf\n"
	".pushsection .note.stapsdt, \"\", \"note\"\n"
	"	.balign 4\n	.4byte 992f-991f, 994f-993f, 3\n"
	"991:	.asciz \"stapsdt\"\n992:	.balign 4\n"
	"993:	.8byte 990b, _.stapsdt.base, 0\n"
	"	.asciz \"redzone\"\n	.asciz \"leaf\"\n	.asciz \"8@%rdi 8@-128(%rsp)\"\n"
	"994:	.balign 4\n.popsection\n"
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	"_.stapsdt.base: .space 1\n.popsection\n");

unsigned long leaf(unsigned long n);

int main(int argc, char **argv) {
	for (int c; (c = getchar()) != EOF;) {
		unsigned long n = atol(argv[1]), changed = 0;
		for (unsigned long i = 0; i < n; i++) changed += leaf(i) != 0;
		printf("%lu\n", changed);
		fflush(stdout);
	}
}
