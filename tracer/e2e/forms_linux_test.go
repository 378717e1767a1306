package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/sdt"
)

// form is a probe: code that sets its operands up, and the operands.
type form struct {
	setup string
	args  []arg
}

// arg is one operand as its note has it.
type arg struct {
	text string
	// head is the size and type where the text has none.
	head string
	// stored is the register or memory that holds it to an instruction, "" for the text itself.
	stored string
	// extend makes it an operand with half an index register, as aarch64 has them and x86-64 not.
	extend sdt.Extend
	// reason is part of the reason why it cannot be read, "" for one that can.
	reason string
}

// general are the names of each register that an operand can have, by width; %rsp is a stack.
var general = [][]string{
	{"rax", "eax", "ax", "al", "ah"}, {"rcx", "ecx", "cx", "cl", "ch"}, {"rdx", "edx", "dx", "dl", "dh"}, {"rbx", "ebx", "bx", "bl", "bh"},
	{"rbp", "ebp", "bp", "bpl"}, {"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"},
	{"r8", "r8d", "r8w", "r8b"}, {"r9", "r9d", "r9w", "r9b"}, {"r10", "r10d", "r10w", "r10b"}, {"r11", "r11d", "r11w", "r11b"},
	{"r12", "r12d", "r12w", "r12b"}, {"r13", "r13d", "r13w", "r13b"}, {"r14", "r14d", "r14w", "r14b"}, {"r15", "r15d", "r15w", "r15b"},
}

var widths = []int{8, 4, 2, 1, 1}

// registerForms are all names of all registers, signed, unsigned, as numbers with a point, without
// a size, and with a size that is not the register's: then the size says how much of it.
func registerForms() []form {
	var all []form
	for _, names := range general {
		load := "movq cell+8(%rip), %" + names[0]
		var args []arg
		for i, name := range names {
			for _, sign := range []string{"", "-"} {
				args = append(args, arg{text: fmt.Sprintf("%s%d@%%%s", sign, widths[i], name)})
			}
			args = append(args, arg{text: "%" + name, head: fmt.Sprint(widths[i])})
		}
		for _, size := range []int{8, 4, 2, 1} { // what compilers write: gdb PR 24541
			args = append(args,
				arg{text: fmt.Sprintf("%d@%%%s", size, names[1]), stored: "%" + names[0]},
				arg{text: fmt.Sprintf("-%d@%%%s", size, names[0]), stored: "%" + names[0]})
		}
		args = append(args, arg{text: "8f@%" + names[0]}, arg{text: "4f@%" + names[1]}, arg{text: "4f@%" + names[0]},
			arg{text: "f@%" + names[0], head: "8f"}, arg{text: "f@%" + names[1], head: "4f"})
		all = append(all, form{load, args})
	}
	return append(all, form{"", []arg{{text: "8@%rsp"}, {text: "4@%esp"}, {text: "2@%sp"}, {text: "1@%spl"}}})
}

// sized are the sizes and types that memory is read as.
var sized = []string{"1@", "-1@", "2@", "-2@", "4@", "-4@", "8@", "-8@", "4f@", "8f@", "f@", ""}

// sizedForms are places or constants, each as every size and type.
func sizedForms(setup string, places ...string) []form {
	var all []form
	for _, place := range places {
		f := form{setup: setup}
		for _, size := range sized {
			a := arg{text: size + place}
			switch size {
			case "":
				a.head = "8"
			case "f@":
				a.head = "8f"
			}
			f.args = append(f.args, a)
		}
		all = append(all, f)
	}
	return all
}

// memoryForms have displacements, their sums, and index registers, with and without a base.
func memoryForms() []form {
	const push = "subq $256, %rsp\n movq cell+8(%rip), %rcx\n movq %rcx, 40(%rsp)\n"
	// at leaves in a register the address that with a displacement is the cell's.
	at := func(r string, displacement int) string {
		return fmt.Sprintf("leaq cell+8-(%d)(%%rip), %%%s\n", displacement, r)
	}
	all := slices.Concat(
		sizedForms(push, "40(%rsp)"),
		sizedForms(push+"addq $40, %rsp", "(%rsp)", "0(%rsp)"),
		sizedForms(push+"movq $4, %rcx", "8(%rsp,%rcx,8)"),
		sizedForms(push+"addq $56, %rsp", "-16(%rsp)"), // the red zone
		sizedForms(at("rbp", 8), "-8+16(%rbp)", "8(%rbp)", "4+8-4(%rbp)"),
		sizedForms(at("rbp", -1), "-1(%rbp)", "0x10-17(%rbp)", "-8+3+4(%rbp)"),
		sizedForms(at("rax", 12)+"movq $3, %rbx", "(%rax,%rbx,4)", "( %rax, %rbx, 4 )"),
		sizedForms(at("r11", 3)+"movq $3, %rbx", "(%r11,%rbx)", "(%r11,%rbx,1)"),
		sizedForms(at("r13", -24+5)+"movq $-3, %r12", "5(%r13,%r12,8)", "8-3(%r13,%r12,8)"),
		sizedForms(at("rax", 0)+"subq $2147483647, %rax", "2147483647(%rax)", "0x7fffffff(%rax)"),
		sizedForms(at("rax", 0)+"subq $-2147483648, %rax", "-2147483648(%rax)"),
	)
	for i, names := range general {
		r, index := names[0], general[(i+1)%len(general)][0]
		all = append(all, sizedForms(at(r, 77), fmt.Sprintf("77(%%%s)", r))...)
		for shift, scale := range []int{1, 2, 4, 8} {
			all = append(all, slices.Concat(
				sizedForms(at(r, 7*scale+16)+"movq $7, %"+index, fmt.Sprintf("16(%%%s,%%%s,%d)", r, index, scale)),
				sizedForms(at(r, 16)+fmt.Sprintf("shrq $%d, %%%s", shift, r), fmt.Sprintf("16(,%%%s,%d)", r, scale)),
				sizedForms(at(r, 0)+fmt.Sprintf("shrq $%d, %%%s", shift, r), fmt.Sprintf("(,%%%s,%d)", r, scale)))...)
		}
	}
	return all
}

// edgeForms end with the last byte of a page that no other follows: exactly so many are read.
func edgeForms() []form {
	var all []form
	for _, n := range []int{1, 2, 4, 8} {
		setup := fmt.Sprintf("movq cell+8(%%rip), %%rcx\n movq edge(%%rip), %%rax\n movq %%rcx, -8(%%rax)\n subq $%d, %%rax", n)
		all = append(all, form{setup, []arg{{text: fmt.Sprintf("%d@(%%rax)", n)}, {text: fmt.Sprintf("-%d@(%%rax)", n)}}})
	}
	setup := "movq edge(%rip), %rax\n movq cell+8(%rip), %rbx"
	return append(all, form{setup, []arg{{text: "1@(%rax)", reason: "memory could not be read"}, {text: "8@-7(%rax)", reason: "memory could not be read"},
		{text: "8@(,%rax)", reason: "memory could not be read"}, {text: "8@%rbx"}}})
}

// symbolForms name variables: ours, and one that two objects have. Those with a register besides
// %rip are of programs at a fixed address.
func symbolForms(fixed bool) []form {
	all := append(sizedForms("", "cell+8(%rip)", "8+cell(%rip)", "cell+16-8(%rip)", "4+cell+4(%rip)", "-8+cell+16(%rip)", "local.1(%rip)", "größe(%rip)"),
		form{"", []arg{{text: "8@twice(%rip)", reason: "symbol twice is defined at 2 addresses"}, {text: "8@cell+8(%rip)"},
			{text: "8@nowhere(%rip)", reason: "no symbol nowhere"}, {text: "-1@cell+8(%rip)"}}})
	if fixed {
		all = append(all, sizedForms("movq $1, %rcx", "cell(,%rcx,8)", "8+cell-8(,%rcx,8)", "cell-1(%rcx,%rcx,8)")...)
		all = append(all, sizedForms("movq $8, %r11", "cell(%r11)", "cell+8-8(%r11)")...)
	}
	return all
}

// extendForms have index registers of which the lower half counts. Their notes say the whole of
// it; hits changes what was read of them.
func extendForms() []form {
	const setup = "movabsq $0x5a5a5a5a00000003, %rbx\n leaq cell+8-3*8(%rip), %rax\n" +
		"movabsq $0x5a5a5a5afffffffe, %rdx\n leaq cell+8+2*4(%rip), %rcx\n"
	return []form{{setup, []arg{
		{text: "8@(%rax,%rbx,8)", stored: "cell+8(%rip)", extend: sdt.ZeroExtend},
		{text: "-2@(%rax,%rbx,8)", stored: "cell+8(%rip)", extend: sdt.SignExtend},
		{text: "4@(%rcx,%rdx,4)", stored: "cell+8(%rip)", extend: sdt.SignExtend},
		{text: "4@(%rcx,%rdx,4)", extend: sdt.ZeroExtend, reason: "memory could not be read"},
	}}}
}

// constantForms have values in the note itself.
func constantForms() []form {
	return sizedForms("", "$0", "$1", "$-1", "$127", "$-128", "$255", "$0xff", "$-0x80", "$+5",
		"$32767", "$-32768", "$65535", "$2147483647", "$-2147483648", "$4294967295", "$0xFFFFFFFF", "$-0x80000000",
		"$9223372036854775807", "$-9223372036854775808", "$18446744073709551615", "$0xffffffffffffffff",
		"$0x123456789abcdef0", "$-0x8000000000000000")
}

// Every form of operand, with real registers and memory, has the value that the CPU finds there.
func TestOperandForms(t *testing.T) {
	peer.Root(t)
	gcc := peer.Need(t, "gcc")[0]
	for _, pie := range []string{"-pie", "-no-pie"} {
		t.Run(strings.TrimPrefix(pie, "-"), func(t *testing.T) {
			all := slices.Concat(registerForms(), memoryForms(), edgeForms(), symbolForms(pie == "-no-pie"), extendForms(), constantForms(), otherForms())
			compareForms(t, buildForms(t, gcc, pie, all), all)
		})
	}
}
