package sdt

import (
	"debug/elf"
	"math"
	"slices"
	"strings"
	"testing"
)

type operandTest struct {
	text string
	want Operand // without Text
	fail string  // a part of the error instead
}

func mem(size int, signed bool, base Reg, disp int64) Operand {
	return Operand{Kind: Memory, Size: size, Signed: signed, Base: base, Disp: disp}
}

func sib(size int, base, index Reg, scale uint8, disp int64) Operand {
	return Operand{Kind: Memory, Size: size, Base: base, Index: index, Scale: scale, Disp: disp}
}

func reg(size int, signed bool, r Reg) Operand {
	return Operand{Kind: Register, Size: size, Signed: signed, Base: r}
}

func constant(size int, signed bool, value uint64) Operand {
	return Operand{Kind: Constant, Size: size, Signed: signed, Value: value}
}

func sym(size int, signed bool, name string, disp int64) Operand {
	return Operand{Kind: Memory, Size: size, Signed: signed, Base: PC, Disp: disp, Symbol: name}
}

func float(o Operand) Operand { o.Float = true; return o }

func extended(o Operand, by Extend) Operand { o.Extend = by; return o }

var minusOne = uint64(math.MaxUint64)

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

var arm64Tests = []operandTest{
	{text: "-1@x0", want: reg(1, true, X0)},
	{text: "1@x3", want: reg(1, false, X3)},
	{text: "4@5", want: constant(4, false, 5)},
	{text: "-4@-9", want: constant(4, true, minusOne-8)},
	{text: "8@0x10", want: constant(8, false, 16)},
	{text: "4@#5", want: constant(4, false, 5)},
	{text: "8@18446744073709551615", want: constant(8, false, minusOne)},
	{text: "5", want: constant(8, false, 5)},
	{text: "4@wzr", want: constant(4, false, 0)},
	{text: "8f@4607182418800017408", want: float(constant(8, false, math.Float64bits(1)))},
	{text: "8@x30", want: reg(8, false, X30)},
	{text: "-4@w7", want: reg(4, true, X7)},
	{text: "w7", want: reg(4, false, X7)},
	{text: "x7", want: reg(8, false, X7)},
	{text: "8@sp", want: reg(8, false, SP)},
	{text: "8@x31", want: reg(8, false, SP)},
	{text: "4@wsp", want: reg(4, false, SP)},
	{text: "8@fp", want: reg(8, false, X29)},
	{text: "8@lr", want: reg(8, false, X30)},
	{text: "8f@x1", want: float(reg(8, false, X1))},
	{text: "4f@w2", want: float(reg(4, false, X2))},
	{text: "8@[x12]", want: mem(8, false, X12, 0)},
	{text: "[x12]", want: mem(8, false, X12, 0)},
	{text: "-4@[x30,-40]", want: mem(4, true, X30, -40)},
	{text: "-4@[x31,-40]", want: mem(4, true, SP, -40)},
	{text: "8@[sp, 120]", want: mem(8, false, SP, 120)},
	{text: "8@[x0, 8]", want: mem(8, false, X0, 8)},
	{text: "8@[x0, #8]", want: mem(8, false, X0, 8)},
	{text: "8f@[x29, -16]", want: float(mem(8, false, X29, -16))},
	{text: "8@[x0, x1]", want: sib(8, X0, X1, 1, 0)},
	{text: "8@[x0,x1,lsl 3]", want: sib(8, X0, X1, 8, 0)},
	{text: "2@[sp, x1, lsl #1]", want: sib(2, SP, X1, 2, 0)},
	{text: "8@[x0, x1, sxtx 3]", want: sib(8, X0, X1, 8, 0)},
	{text: "8@[x0, x1, sxtx]", want: sib(8, X0, X1, 1, 0)},
	// gcc 12 -O2 for aarch64, char table[i] and the like with an int i.
	{text: "1@[x10, w1, sxtw]", want: extended(sib(1, X10, X1, 1, 0), SignExtend)},
	{text: "4@[x10, w1, sxtw 2]", want: extended(sib(4, X10, X1, 4, 0), SignExtend)},
	{text: "8@[x5, w30, uxtw #3]", want: extended(sib(8, X5, X30, 8, 0), ZeroExtend)},
	{text: "8f@[sp,w0,uxtw]", want: float(extended(sib(8, SP, X0, 1, 0), ZeroExtend))},

	{text: "8@[x11, #:lo12:.LC3]", fail: "not a sum"},  // gcc -mcmodel=large
	{text: "16f@[sp, 32]", fail: "a size of 16 bytes"}, // gcc: a long double
	{text: "8f@v0", fail: "v0 is a floating-point"},    // gcc with STAP_SDT_ARG_CONSTRAINT=norw
	{text: "8f@d0", fail: "d0 is a floating-point or vector register"},
	{text: "4f@s31", fail: "vector register"},
	{text: "8@v0.2d", fail: "vector register"},
	{text: "4@[x32,200]", fail: "no 64-bit base register x32"},
	{text: "4@x32", fail: "no register"},
	{text: "4@x07", fail: "no register"},
	{text: "4@", fail: "neither"},
	{text: "4@[x0", fail: "not closed"},
	{text: "4@[x0, 8]!", fail: "something follows"},
	{text: "4@[x0],8", fail: "something follows"},
	{text: "4@[]", fail: "base register"},
	{text: "4@[w0]", fail: "no 64-bit base register"},
	{text: "4@[x0, ]", fail: "displacement"},
	{text: "4@[x0, sym]", fail: "neither a number nor a register"},
	{text: "4@[x0, #:lo12:sym]", fail: "not a sum"},
	{text: "4@[x0, w1]", fail: "not how it is extended"},
	{text: "4@[x0, w1, lsl 2]", fail: "an index of 32 bits extended by"},
	{text: "4@[x0, x1, sxtw 2]", fail: "an index of 64 bits extended by"},
	{text: "4@[x0, w1, sxtw 4]", fail: "shifted"},
	{text: "4@[x0, w1, sxtw 2 2]", fail: "shifted"},
	{text: "4@[x0, x1, lsl]", fail: "shifted"},
	{text: "4@[x0, wsp, uxtw]", fail: "no index register"},
	{text: "4@[x0, sp]", fail: "no index register"},
	{text: "4@[x0, x1, lsl 4]", fail: "shifted"},
	{text: "4@[x0, x1, lsl -1]", fail: "shifted"},
	{text: "4@[x0, 8, lsl 1]", fail: "no index register"},
	{text: "4@[x0, x1, lsl 1, 2]", fail: "more than base"},
	{text: "4@$5", fail: "no register"},
}

func TestParseOperands(t *testing.T) {
	for machine, tests := range map[elf.Machine][]operandTest{elf.EM_X86_64: x86Tests, elf.EM_AARCH64: arm64Tests} {
		for _, test := range tests {
			ops := parseOperands(machine, test.text)
			if len(ops) != 1 || ops[0].Text != test.text {
				t.Errorf("%v %q: got %d operands %q", machine, test.text, len(ops), ops)
				continue
			}
			got := ops[0]
			checkOperand(t, got)
			if test.fail != "" {
				if got.Kind != Unreadable || !strings.Contains(got.Err.Error(), test.fail) ||
					!strings.Contains(got.Err.Error(), test.text) {
					t.Errorf("%v %q: got %v, want an error with %q", machine, test.text, got, test.fail)
				}
				continue
			}
			got.Text = ""
			if got != test.want {
				t.Errorf("%v %q:\n got %+v\nwant %+v", machine, test.text, got, test.want)
			}
		}
	}
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

func TestCutOperands(t *testing.T) {
	tests := []struct {
		machine elf.Machine
		args    string
		want    []string
		bad     int // which is unreadable, 1 for the first
	}{
		{elf.EM_X86_64, "", nil, 0},
		{elf.EM_X86_64, "  \t ", nil, 0},
		{elf.EM_X86_64, ":", nil, 0},
		{elf.EM_X86_64, ": anything", nil, 0},
		{elf.EM_X86_64, " 8@%rax  -4@$1 ", []string{"8@%rax", "-4@$1"}, 0},
		{elf.EM_X86_64, "8@%rax 4@i%ra+1r 8@%rbx", []string{"8@%rax", "4@i%ra+1r", "8@%rbx"}, 2},
		{elf.EM_X86_64, "8@(%rax 4@$1 8@(%rbx, %rcx, 8)", []string{"8@(%rax", "4@$1", "8@(%rbx, %rcx, 8)"}, 1},
		{elf.EM_X86_64, "8@%rax) 4@$1", []string{"8@%rax)", "4@$1"}, 1},
		{elf.EM_AARCH64, "8@[sp, 16] 8@[x28] -4@x0", []string{"8@[sp, 16]", "8@[x28]", "-4@x0"}, 0},
		{elf.EM_AARCH64, "8@[sp, 16 -4@-9", []string{"8@[sp, 16", "-4@-9"}, 1},
	}
	for _, test := range tests {
		var got []string
		for i, o := range ParseOperands(test.machine, test.args) {
			got = append(got, o.Text)
			if (o.Kind == Unreadable) != (i+1 == test.bad) {
				t.Errorf("%q: operand %d is %v", test.args, i+1, o)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.args, got, test.want)
		}
	}
}

func TestParseOperandsUnresolved(t *testing.T) {
	o := ParseOperands(elf.EM_X86_64, "-4@8+NBuffers(%rip)")[0]
	if o.Kind != Unreadable || o.Symbol != "NBuffers" || o.Size != 4 || !o.Signed ||
		!strings.Contains(o.Err.Error(), "NBuffers") {
		t.Errorf("got %+v", o)
	}
}

func TestOtherMachines(t *testing.T) {
	for machine, args := range map[elf.Machine]string{
		elf.EM_386: "4@(%eax,%edx,8) -4@%edx", elf.EM_ARM: "8@[sp, #16] 4@#5", elf.EM_PPC64: "8@9,8 -4@i1",
		elf.EM_S390: "8@0(%r3,%r1) 1@0", elf.EM_RISCV: "-8@-88(s0) 8@a1",
	} {
		ops := ParseOperands(machine, args)
		if len(ops) != 2 || ops[0].Kind != Unreadable || !strings.Contains(ops[0].Err.Error(), machine.String()) {
			t.Errorf("%v: %v", machine, ops)
		}
	}
}

func TestOperandBounds(t *testing.T) {
	ops := ParseOperands(elf.EM_X86_64, strings.Repeat("8@%rax ", 100000))
	if len(ops) != maxSiteOperands+1 || ops[maxSiteOperands-1].Kind != Register || ops[maxSiteOperands].Kind != Unreadable {
		t.Errorf("%d operands", len(ops))
	}
	long := ParseOperands(elf.EM_X86_64, "8@"+strings.Repeat("x", 1<<20))
	if len(long) != 1 || long[0].Kind != Unreadable || len(long[0].Err.Error()) > 200 {
		t.Errorf("long operand: %d", len(long))
	}
	open := ParseOperands(elf.EM_X86_64, "8@"+strings.Repeat("( ", 1<<20))
	if len(open) != 1 || open[0].Kind != Unreadable {
		t.Errorf("open brackets: %d", len(open))
	}
}

func TestOperandText(t *testing.T) {
	tests := []struct{ text, want, typeName string }{
		{"-4@$-5", "int32 -5", "int32"},
		{"8@$18446744073709551615", "uint64 18446744073709551615", "uint64"},
		{"1@%ah", "uint8 rax>>8", "uint8"},
		{"8f@%rax", "float64 rax", "float64"},
		{"4f@-4(%rbp,%rax,8)", "float32 [rbp+rax*8-4]", "float32"},
		{"2@(,%r9,2)", "uint16 [r9*2]", "uint16"},
		{"2@12(%rip)", "uint16 [pc+12]", "uint16"},
		{"8f@$4609434218613702656", "float64 1.5", "float64"},
		{"4f@$0x3fc00000", "float32 1.5", "float32"},
		{"16@%rax", `unreadable: operand "16@%rax": a size of 16 bytes`, "unknown"},
	}
	if got := ParseOperands(elf.EM_AARCH64, "-1@[x10, w1, sxtw]")[0].String(); got != "int8 [x10+int32(x1)*1]" {
		t.Errorf("got %s", got)
	}
	if got := ParseOperands(elf.EM_AARCH64, "4@[sp, w1, uxtw 2]")[0].String(); got != "uint32 [sp+uint32(x1)*4]" {
		t.Errorf("got %s", got)
	}
	for _, test := range tests {
		o := ParseOperands(elf.EM_X86_64, test.text)[0]
		if o.String() != test.want || o.TypeName() != test.typeName {
			t.Errorf("%s: got %q and %s, want %q and %s", test.text, o, o.TypeName(), test.want, test.typeName)
		}
	}
	names := map[Reg]string{NoReg: "none", PC: "pc", RAX: "rax", R15: "r15", X0: "x0", X30: "x30", SP: "sp", 255: "Reg(255)"}
	for r, want := range names {
		if r.String() != want {
			t.Errorf("register %d: got %s, want %s", r, r, want)
		}
	}
}
