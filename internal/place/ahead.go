package place

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/internal/variable"
)

// scratch are the registers that a function need not leave as they are: AMD64 ABI, figure 3.4.
var scratch = bits(x86asm.RAX, x86asm.RCX, x86asm.RDX, x86asm.RSI, x86asm.RDI, x86asm.R8, x86asm.R9, x86asm.R10, x86asm.R11)

// ahead returns what is executed ahead of an address.
func (fl *flow) ahead(address uint64) (a variable.Ahead) {
	if ways := fl.ways(address); fl.opaque || ways > maxJumps {
		return a
	}
	a.From = slices.Clone(fl.into[address])
	in := fl.before(address)
	if in == nil || !in.falls {
		return a
	}
	a.From = append(a.From, in.address)
	if len(a.From) > 1 || in.code == nil {
		return a
	}
	inst, err := x86asm.Decode(append(in.code[:len(in.code):len(in.code)], make([]byte, 16)...), 64)
	if err != nil {
		return a
	}
	if inst.Op == x86asm.CALL {
		a.Changes, a.Fresh = scratch, bits(x86asm.RAX)
		return a
	}
	reg, ok := inst.Args[0].(x86asm.Reg)
	to, known := dwarfRegister(reg)
	if !ok || !known || leaves[inst.Op] {
		return a
	}
	a.Changes = 1 << to
	switch inst.Op {
	case x86asm.MOV, x86asm.MOVSXD, x86asm.MOVSX, x86asm.MOVZX:
	default:
		return a
	}
	switch from := inst.Args[1].(type) {
	case x86asm.Reg:
		if n, known := dwarfRegister(from); known && (inst.Op == x86asm.MOV || inst.Op == x86asm.MOVSXD) {
			a.Copies, a.Of, a.To = true, n, to
		}
	case x86asm.Mem:
		if from.Base != x86asm.RSP && from.Base != x86asm.RBP { // what the compiler put aside itself
			a.Fresh = a.Changes
		}
	}
	return a
}

// leaves are instructions that leave their first operand as it is.
var leaves = map[x86asm.Op]bool{x86asm.CMP: true, x86asm.TEST: true, x86asm.BT: true, x86asm.PUSH: true, x86asm.NOP: true}

func bits(registers ...x86asm.Reg) (all uint32) {
	for _, r := range registers {
		n, _ := dwarfRegister(r)
		all |= 1 << n
	}
	return all
}

// dwarfRegister returns the number of a register of 32 or 64 bits: AMD64 ABI, figure 3.36.
func dwarfRegister(r x86asm.Reg) (n uint8, known bool) {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		r -= x86asm.RAX
	case r >= x86asm.EAX && r <= x86asm.R15L:
		r -= x86asm.EAX
	default:
		return 0, false
	}
	if r < 8 { // AX CX DX BX SP BP SI DI
		return [...]uint8{0, 2, 1, 3, 7, 6, 4, 5}[r], true
	}
	return uint8(r), true
}
