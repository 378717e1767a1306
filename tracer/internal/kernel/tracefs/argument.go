package tracefs

import (
	"debug/elf"
	"errors"
	"fmt"
	"strconv"

	"github.com/waymark-trace/waymark/sdt"
)

// x86Names are the registers as regs_query_register_offset, arch/x86/kernel/ptrace.c, names them.
var x86Names = map[sdt.Reg]string{
	sdt.RAX: "ax", sdt.RCX: "cx", sdt.RDX: "dx", sdt.RBX: "bx", sdt.RSP: "sp", sdt.RBP: "bp", sdt.RSI: "si", sdt.RDI: "di",
	sdt.PC: "ip",
}

// register returns the name of a register after the %.
func register(machine elf.Machine, r sdt.Reg) (string, error) {
	switch {
	case machine == elf.EM_X86_64 && x86Names[r] != "":
		return x86Names[r], nil
	case machine == elf.EM_X86_64 && r >= sdt.R8 && r <= sdt.R15,
		machine == elf.EM_AARCH64 && r >= sdt.X0 && r <= sdt.SP,
		machine == elf.EM_AARCH64 && r == sdt.PC:
		return r.String(), nil
	}
	return "", fmt.Errorf("register %v is not one of %v", r, machine)
}

var (
	errIndex = errors.New("its address is a sum of two registers, which tracefs cannot add")
	errHigh  = errors.New("it is a signed byte amid a register, and tracefs has no signed bit fields")
)

// Fetch returns what fetches an operand, with its type: "+24(%sp):s16". shift is how far
// behind the site's own address the event sits.
//
// What perf drops and tracefs can do: constants (\7), memory relative to the program counter
// (+4096(%ip)) or at an address (@0x404040), the second byte of a register (%ax:b8@8/64).
func Fetch(machine elf.Machine, o *sdt.Operand, shift int64) (string, error) {
	if o.Err != nil {
		return "", o.Err
	}
	if o.Size != 1 && o.Size != 2 && o.Size != 4 && o.Size != 8 {
		return "", fmt.Errorf("operand of %d bytes", o.Size)
	}
	typ := Type(o.Size, o.Signed, o.Float)
	switch o.Kind {
	case sdt.Constant:
		value := strconv.FormatUint(o.Value, 10)
		if o.Signed && !o.Float {
			value = strconv.FormatInt(int64(o.Value), 10)
		}
		return `\` + value + typ, nil
	case sdt.Register:
		name, err := register(machine, o.Base)
		if err == nil && o.Shift != 0 {
			if typ = fmt.Sprintf(":b8@%d/64", o.Shift); o.Signed || o.Size != 1 {
				err = errHigh
			}
		}
		return "%" + name + typ, err
	case sdt.Memory:
		place, err := memory(machine, o, shift)
		return place + typ, err
	}
	return "", errors.New("operand of an unknown kind")
}

func memory(machine elf.Machine, o *sdt.Operand, shift int64) (string, error) {
	base, disp := o.Base, o.Disp
	if o.Index != sdt.NoReg {
		if base != sdt.NoReg || o.Scale != 1 || o.Extend != sdt.Whole {
			return "", errIndex
		}
		base = o.Index
	}
	if base == sdt.NoReg {
		return fmt.Sprintf("@%#x", uint64(disp)), nil
	}
	if base == sdt.PC {
		disp -= shift
	}
	name, err := register(machine, base)
	return fmt.Sprintf("%+d(%%%s)", disp, name), err
}

// Type returns the type of a value of size bytes. There is none for floating-point numbers:
// they are their bits, in hexadecimal.
func Type(size int, signed, float bool) string {
	letter := "u"
	switch {
	case float:
		letter = "x"
	case signed:
		letter = "s"
	}
	return ":" + letter + strconv.Itoa(8*size)
}

// reserved are names that an argument cannot have: reserved_field_names of
// kernel/trace/trace_probe.c.
var reserved = []string{
	"common_type", "common_flags", "common_preempt_count", "common_pid", "common_tgid",
	"__probe_ip", "__probe_ret_ip", "__probe_func",
}

// ArgNames hands out names of one event's arguments, each once.
type ArgNames map[string]bool

// Unique returns a name like this one that was not handed out before.
func (used ArgNames) Unique(name string) string {
	if len(used) == 0 {
		for _, r := range reserved {
			used[r] = true
		}
	}
	unique := Name(name, maxArgName)
	for n := 2; used[unique]; n++ {
		suffix := "_" + strconv.Itoa(n)
		unique = Name(name, maxArgName-len(suffix)) + suffix
	}
	used[unique] = true
	return unique
}
