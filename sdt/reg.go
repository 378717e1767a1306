package sdt

import "strconv"

// Reg is a register of the machine an operand was written for. The registers of different
// machines have different values, so a Reg names itself; PC alone is shared.
type Reg uint8

// NoReg is the absence of a register.
const NoReg Reg = 0

// PC is the program counter of every machine: %rip on x86-64. At a site it holds the address
// of the probed instruction.
const PC Reg = 1

// The registers of x86-64, in the order of their numbers in machine code.
const (
	RAX Reg = 16 + iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// The registers of aarch64.
const (
	X0 Reg = 32 + iota
	X1
	X2
	X3
	X4
	X5
	X6
	X7
	X8
	X9
	X10
	X11
	X12
	X13
	X14
	X15
	X16
	X17
	X18
	X19
	X20
	X21
	X22
	X23
	X24
	X25
	X26
	X27
	X28
	X29
	X30
	SP
)

var x86Names = [...]string{
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
}

// String is the full-width name in lower case without a sigil: "rax", "x0", "sp", "pc".
func (r Reg) String() string {
	switch {
	case r == NoReg:
		return "none"
	case r == PC:
		return "pc"
	case r >= RAX && r <= R15:
		return x86Names[r-RAX]
	case r >= X0 && r <= X30:
		return "x" + strconv.Itoa(int(r-X0))
	case r == SP:
		return "sp"
	}
	return "Reg(" + strconv.Itoa(int(r)) + ")"
}
