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
