package sdt

import (
	"math"
	"strings"
	"testing"
)

// The vectors of bcc's tests/cc/test_usdt_args.cc are among these.
var x86Tests = []operandTest{
	{text: "-4@$0", want: constant(4, true, 0)},
	{text: "8@$1234", want: constant(8, false, 1234)},
	{text: "-4@$-9", want: constant(4, true, minusOne-8)},
	{text: "4@$-1", want: constant(4, false, math.MaxUint32)},
	{text: "-4@$4294967295", want: constant(4, true, minusOne)},
	{text: "1@$300", want: constant(1, false, 44)},
	{text: "8@$0xfF", want: constant(8, false, 255)},
	{text: "-8@$-0x10", want: constant(8, true, minusOne-15)},
	{text: "8@$9223372036854775806", want: constant(8, false, 9223372036854775806)},
	{text: "8@$18446744073709551614", want: constant(8, false, 18446744073709551614)},
	{text: "8@$18446744073709551615", want: constant(8, false, math.MaxUint64)},
	{text: "-8@$-9223372036854775808", want: constant(8, true, 1<<63)},
	{text: "$7", want: constant(8, false, 7)},
	{text: "8f@$4607182418800017408", want: float(constant(8, false, math.Float64bits(1)))},
	{text: "4f@$0x3f800000", want: float(constant(4, false, uint64(math.Float32bits(1))))},

	{text: "%rdi", want: reg(8, false, RDI)},
	{text: "%eax", want: reg(4, false, RAX)},
	{text: "%r9w", want: reg(2, false, R9)},
	{text: "%bh", want: Operand{Kind: Register, Size: 1, Base: RBX, Shift: 8}},
	{text: "-8@%rbx", want: reg(8, true, RBX)},
	{text: "4@%r12", want: reg(4, false, R12)},
	{text: "-2@%r13w", want: reg(2, true, R13)},
	{text: "1@%sil", want: reg(1, false, RSI)},
	{text: "1@%bpl", want: reg(1, false, RBP)},
	{text: "-1@%ah", want: Operand{Kind: Register, Size: 1, Signed: true, Base: RAX, Shift: 8}},
	{text: "1@%edx", want: reg(1, false, RDX)},
	{text: "8@%rip", want: reg(8, false, PC)},
	{text: "8f@%rax", want: float(reg(8, false, RAX))},
	{text: "4f@%edx", want: float(reg(4, false, RDX))},
	{text: "-8f@%rax", want: float(reg(8, true, RAX))},

	{text: "f@%rax", want: float(reg(8, false, RAX))},
	{text: "-f@%edx", want: float(reg(4, true, RDX))},
	{text: "f@-8(%rbp)", want: float(mem(8, false, RBP, -8))},
	{text: "4@(%rax)", want: mem(4, false, RAX, 0)},
	{text: "(%rax)", want: mem(8, false, RAX, 0)},
	{text: "8@-8(%rbp)", want: mem(8, false, RBP, -8)},
	{text: "8@+8(%rbp)", want: mem(8, false, RBP, 8)},
	{text: "8@0x10(%rsp)", want: mem(8, false, RSP, 16)},
	{text: "8@4+8(%rbp)", want: mem(8, false, RBP, 12)},
	{text: "8@4+8-20(%rbp)", want: mem(8, false, RBP, -8)},
	{text: "8@-4+8+16-1(%rbp)", want: mem(8, false, RBP, 19)},
	{text: "8@16(%rip)", want: mem(8, false, PC, 16)},
	{text: "8f@-8(%rbp)", want: float(mem(8, false, RBP, -8))},
	{text: "4f@12(%rsp)", want: float(mem(4, false, RSP, 12))},
	{text: "8@(%rax,%rdx,8)", want: sib(8, RAX, RDX, 8, 0)},
	{text: "8@( %rax, %rdx, 8 )", want: sib(8, RAX, RDX, 8, 0)},
	{text: "4@(%rbx,%rcx)", want: sib(4, RBX, RCX, 1, 0)},
	{text: "4@-16(%rsp,%r12,4)", want: sib(4, RSP, R12, 4, -16)},
	{text: "8@(,%rax,8)", want: sib(8, NoReg, RAX, 8, 0)},
	{text: "8@64(,%rax)", want: sib(8, NoReg, RAX, 1, 64)},
	{text: "-9223372036854775808(%rax)", want: mem(8, false, RAX, math.MinInt64)},

	{text: "-4@global_max_action(%rip)", want: sym(4, true, "global_max_action", 0)},
	{text: "8@24+mp_(%rip)", want: sym(8, false, "mp_", 24)},
	{text: "-4@CheckpointStats+40(%rip)", want: sym(4, true, "CheckpointStats", 40)},
	{text: "4@glob-2(%rip)", want: sym(4, false, "glob", -2)},
	{text: "4@8+glob-2(%rip)", want: sym(4, false, "glob", 6)},
	{text: "4@a.b$c.1(%rip)", want: sym(4, false, "a.b$c.1", 0)},
	{text: "4@.LC0(%rip)", want: sym(4, false, ".LC0", 0)},
	{text: "4@größe(%rip)", want: sym(4, false, "größe", 0)},
	{text: "8@tab(,%rax,8)", want: Operand{Kind: Memory, Size: 8, Index: RAX, Scale: 8, Symbol: "tab"}},

	// gcc 12 without PIE: table[i].
	{text: "-1@tab(%r11)", want: Operand{Kind: Memory, Size: 1, Signed: true, Base: R11, Symbol: "tab"}},
	{text: "8f@8+tab-16(%rax,%r9,8)", want: Operand{Kind: Memory, Size: 8, Float: true, Base: RAX, Index: R9, Scale: 8, Disp: -8, Symbol: "tab"}},

	{text: "8f@%xmm0", fail: "%xmm0 is a floating-point or vector register"},
	{text: "8f@%xmm31", fail: "vector register"},
	{text: "-4@%fs:(%rdx)", fail: "segment register"}, // gcc: a thread-local variable
	{text: "4@%fs:var@tpoff", fail: "segment register"},
	{text: "8@var@GOTPCREL(%rip)", fail: "not a sum"},
	{text: "-16@%rsi", fail: "a size of 16 bytes"},     // gcc: an __int128
	{text: "16f@16(%rbp)", fail: "a size of 16 bytes"}, // gcc, clang: a long double
	{text: "%st(1)", fail: "vector register"},
	{text: "8@%fs:-16", fail: "segment register"},
	{text: "8@%fs:-16(%rax)", fail: "segment register"},
	{text: "4@i%ra+1r", fail: "neither a constant, a register nor memory"},
	{text: "4@", fail: "neither"},
	{text: "@", fail: "neither"},
	{text: "-@%rax", fail: "neither"},
	{text: "3@%rax", fail: "a size of 3 bytes"},
	{text: "16@%rax", fail: "a size of 16 bytes"},
	{text: "08@%rax", fail: "a size of 08 bytes"},
	{text: "2f@%rax", fail: "floating-point number of 2 bytes"},
	{text: "f@%ax", fail: "floating-point number of 2 bytes"},
	{text: "1f@(%rax)", fail: "floating-point number of 1 bytes"},
	{text: "f@", fail: "neither"},
	{text: "ff@%rax", fail: "neither"},
	{text: "8@%raxx", fail: "no register %raxx"},
	{text: "8@rax", fail: "neither"},
	{text: "8@%r16", fail: "no register"},
	{text: "8@%rax,%rbx", fail: "no register"},
	{text: "4@%ah", fail: "%ah has 1 byte, the operand 4"},
	{text: "8@1234", fail: "neither"},
	{text: "8@sym", fail: "neither"},
	{text: "8@$", fail: "not a number"},
	{text: "8@$--5", fail: "not a number"},
	{text: "8@$0x", fail: "not a number"},
	{text: "8@$1.5", fail: "not a number"},
	{text: "8@$sym", fail: "not a number"},
	{text: "8@$1_000", fail: "not a number"},
	{text: "8@$18446744073709551616", fail: "more than 64 bits"},
	{text: "8@$-9223372036854775809", fail: "more than 64 bits"},
	{text: "8@9223372036854775808(%rax)", fail: "more than 64 bits"},
	{text: "8@9223372036854775807+1(%rax)", fail: "more than 64 bits"},
	{text: "8@(%rax", fail: "neither"},
	{text: "8@(%rax)8", fail: "neither"},
	{text: "8@()", fail: "base register"},
	{text: "8@(,)", fail: "index register"},
	{text: "8@(%eax)", fail: "no 64-bit base register %eax"},
	{text: "8@(%rax,%ebx)", fail: "no 64-bit index register"},
	{text: "8@(%rax,%rsp)", fail: "no 64-bit index register"},
	{text: "8@(%rip,%rax)", fail: "no 64-bit index register"},
	{text: "8@(%rax,8)", fail: "no 64-bit index register"},
	{text: "8@(%rax,%rbx,3)", fail: "a scale of"},
	{text: "8@(%rax,%rbx,)", fail: "a scale of"},
	{text: "8@(%rax,%rbx,8,1)", fail: "more than base"},
	{text: "8@8+(%rax)", fail: "not a sum"},
	{text: "8@8++8(%rax)", fail: "not a sum"},
	{text: "8@a+b(%rip)", fail: "two symbols"},
	{text: "8@8-a(%rip)", fail: "subtracted symbol"},
	{text: "8@var@gottpoff(%rip)", fail: "not a sum"},
	{text: "4@1f(%rip)", fail: "not a sum"},
}

// Every name of every general register, as the assembler knows them.
func TestX86RegisterNames(t *testing.T) {
	const names = `rax eax ax al|rcx ecx cx cl|rdx edx dx dl|rbx ebx bx bl|rsp esp sp spl|rbp ebp bp bpl|rsi esi si sil|rdi edi di dil|
r8 r8d r8w r8b|r9 r9d r9w r9b|r10 r10d r10w r10b|r11 r11d r11w r11b|r12 r12d r12w r12b|r13 r13d r13w r13b|r14 r14d r14w r14b|r15 r15d r15w r15b`
	for i, group := range strings.Split(strings.ReplaceAll(names, "\n", ""), "|") {
		for j, name := range strings.Fields(group) {
			if got, want := x86Registers["%"+name], (x86Register{RAX + Reg(i), 8 >> j, 0}); got != want {
				t.Errorf("%s: got %+v, want %+v", name, got, want)
			}
		}
	}
	for i, name := range []string{"ah", "ch", "dh", "bh"} {
		if got, want := x86Registers["%"+name], (x86Register{RAX + Reg(i), 1, 8}); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if got := len(x86Registers); got != 16*4+4+1 {
		t.Errorf("%d names", got)
	}
}
