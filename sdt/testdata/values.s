# A stop with known register and memory contents: the arguments are put in by TestValues.
	.globl main
main:
	push	%rbp
	mov	%rsp, %rbp
	sub	$64, %rsp
	movq	$0x0102030405060708, %rax
	mov	%rax, -16(%rbp)
	movq	$-2, -24(%rbp)
	movq	$0x3ff8000000000000, %rcx	# 1.5
	mov	%rcx, -32(%rbp)
	movq	$0x1122334455667788, %rax
	movq	$-3, %rbx
	movq	$2, %rcx
	lea	table(%rip), %rdx
	movq	$0x8877665544332211, %r9
	movq	$-1, %r13
site:	nop
	leave
	xor	%eax, %eax
	ret

	.data
	.globl	counted
	.balign	8
table:	.quad	10, 11, 12, 13
counted: .long	-77, 78

	.section .note.stapsdt, "", @note
	.balign	4
	.long	8, 2f-1f, 3
	.asciz	"stapsdt"
1:	.quad	site, base, 0
	.asciz	"values"
	.asciz	"all"
	.asciz	"ARGUMENTS"
2:	.balign	4
	.section .stapsdt.base, "a", @progbits	# gdb looks for it
base:	.space	1
	.section .note.GNU-stack, "", @progbits
