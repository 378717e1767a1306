package bpf

import (
	"debug/elf"
	"fmt"

	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// x86Registers are the offsets in struct pt_regs, arch/x86/include/uapi/asm/ptrace.h.
var x86Registers = map[sdt.Reg]int16{
	sdt.R15: 0, sdt.R14: 8, sdt.R13: 16, sdt.R12: 24, sdt.RBP: 32, sdt.RBX: 40, sdt.R11: 48,
	sdt.R10: 56, sdt.R9: 64, sdt.R8: 72, sdt.RAX: 80, sdt.RCX: 88, sdt.RDX: 96, sdt.RSI: 104,
	sdt.RDI: 112, sdt.PC: 128, sdt.RSP: 152,
}

// registerOffset returns where a register is in what the kernel hands to a program.
func registerOffset(machine elf.Machine, r sdt.Reg) (int16, error) {
	switch machine {
	case elf.EM_X86_64:
		if off, ok := x86Registers[r]; ok {
			return off, nil
		}
	case elf.EM_AARCH64:
		// struct user_pt_regs, arch/arm64/include/uapi/asm/ptrace.h: regs[31], sp, pc, pstate.
		switch {
		case r >= sdt.X0 && r <= sdt.X30:
			return int16(r-sdt.X0) * 8, nil
		case r == sdt.SP:
			return 31 * 8, nil
		case r == sdt.PC:
			return 32 * 8, nil
		}
	}
	return noRegister, fmt.Errorf("register %v cannot be read on %v", r, machine)
}

// dwarfX86 are the registers as DWARF numbers them: AMD64 ABI, figure 3.36.
var dwarfX86 = [...]sdt.Reg{
	sdt.RAX, sdt.RDX, sdt.RCX, sdt.RBX, sdt.RSI, sdt.RDI, sdt.RBP, sdt.RSP,
	sdt.R8, sdt.R9, sdt.R10, sdt.R11, sdt.R12, sdt.R13, sdt.R14, sdt.R15, location.PC: sdt.PC,
}

// dwarfRegister returns where a register of a fetch.Program is.
func dwarfRegister(machine elf.Machine, n int64) (int16, error) {
	if machine != elf.EM_X86_64 || n < 0 || n >= int64(len(dwarfX86)) {
		return noRegister, fmt.Errorf("register %d cannot be read on %v", n, machine)
	}
	return registerOffset(machine, dwarfX86[n])
}

// goRegisters are where a linked Go program's marker keeps the address of its record and the
// runtime's g: the first integer argument and the g register of Go's ABIInternal.
func goRegisters(machine elf.Machine) (record, g int16, err error) {
	switch machine {
	case elf.EM_X86_64:
		return x86Registers[sdt.RAX], x86Registers[sdt.R14], nil
	case elf.EM_AARCH64:
		return 0, 28 * 8, nil
	}
	return 0, 0, fmt.Errorf("markers of Go programs cannot be read on %v", machine)
}

// Machine is the architecture that programs are generated for: the one this process runs on.
func Machine(goarch string) elf.Machine {
	switch goarch {
	case "amd64":
		return elf.EM_X86_64
	case "arm64":
		return elf.EM_AARCH64
	}
	return elf.EM_NONE
}
