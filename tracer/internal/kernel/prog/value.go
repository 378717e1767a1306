package prog

import (
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// Value is one operand in terms of the saved registers. The zero value is nothing to read.
type Value struct {
	Kind  ValueKind
	Size  uint8 // of FromMemory, and of numbers: 1, 2, 4 or 8
	Scale uint8 // of Index
	Base  int16 // offset in the saved registers, noRegister for none
	Index int16 // the same
	Disp  int64
	// Extend says how much of Index counts.
	Extend sdt.Extend
	// Signed and Shift say how to make a number of what was read; events carry it as it is.
	Signed bool
	Shift  uint8 // of FromRegister: bits below it
	// Steps leave the number, of Computed.
	Steps *location.Program
}

// ValueKind says where a value lies.
type ValueKind uint8

const (
	// Nothing is a value that events do not carry: a constant, or one that cannot be read.
	Nothing ValueKind = iota
	// FromRegister is all of register Base.
	FromRegister
	// FromMemory is Size bytes at Base + Index*Scale + Disp.
	FromMemory
	// Immediate is the number Disp.
	Immediate
	// Computed is the number that Steps leave.
	Computed
)

const noRegister = -1

func value(machine elf.Machine, o *sdt.Operand, shift int64) (Value, error) {
	if o.Err != nil {
		return Value{}, o.Err
	}
	switch o.Kind {
	case sdt.Constant:
		return Value{}, nil
	case sdt.Register:
		base, err := registerOffset(machine, o.Base)
		return Value{Kind: FromRegister, Base: base, Index: noRegister}, err
	case sdt.Memory:
		return memory(machine, o, shift)
	}
	return Value{}, errors.New("operand of an unknown kind")
}

func memory(machine elf.Machine, o *sdt.Operand, shift int64) (Value, error) {
	v := Value{Kind: FromMemory, Size: uint8(o.Size), Scale: o.Scale, Base: noRegister, Index: noRegister, Disp: o.Disp}
	switch o.Size {
	case 1, 2, 4, 8:
	default:
		return Value{}, fmt.Errorf("operand of %d bytes", o.Size)
	}
	var err error
	if o.Base != sdt.NoReg {
		if v.Base, err = registerOffset(machine, o.Base); err != nil {
			return Value{}, err
		}
	}
	if o.Base == sdt.PC {
		v.Disp -= shift // the saved program counter is that of the probe
	}
	if o.Index != sdt.NoReg {
		if v.Index, err = registerOffset(machine, o.Index); err != nil {
			return Value{}, err
		}
		switch o.Scale {
		case 1, 2, 4, 8:
		default:
			return Value{}, fmt.Errorf("index scaled by %d", o.Scale)
		}
		v.Extend = o.Extend
	}
	return v, nil
}

// OperandValue returns an operand as a number, extended to 64 bits as its size and sign say.
func OperandValue(machine elf.Machine, o *sdt.Operand, shift int64) (Value, error) {
	v, err := value(machine, o, shift)
	if err != nil {
		return Value{}, err
	}
	if o.Kind == sdt.Constant {
		return Value{Kind: Immediate, Base: noRegister, Index: noRegister, Disp: int64(o.Value)}, nil
	}
	switch o.Size {
	case 1, 2, 4, 8:
		v.Size = uint8(o.Size)
	default:
		v.Size = 8
	}
	v.Signed, v.Shift = o.Signed && !o.Float, o.Shift
	return v, nil
}

// ComputedValue returns what a program leaves as a number of size bytes.
func ComputedValue(machine elf.Machine, p location.Program, size int, signed bool) (Value, error) {
	v := Value{Kind: Computed, Size: uint8(size), Signed: signed, Base: noRegister, Index: noRegister, Steps: &p}
	if err := p.Check(); err != nil {
		return Value{}, err
	}
	for _, s := range p {
		if s.Op == location.Register {
			if _, err := dwarfRegister(machine, s.Arg); err != nil {
				return Value{}, err
			}
		}
	}
	return v, nil
}

// reads reports whether the value is in the program's memory.
func (v *Value) reads() bool {
	return v.Kind == FromMemory || v.Kind == Computed && slices.ContainsFunc(*v.Steps, func(s location.Step) bool { return s.Op == location.Deref })
}

// fitsImmediate reports whether a displacement fits an eBPF immediate.
func fitsImmediate(disp int64) bool { return disp >= math.MinInt32 && disp <= math.MaxInt32 }

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
