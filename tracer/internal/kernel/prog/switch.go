package prog

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Switch is what all programs of a collection begin and end with at one moment, however long it takes to attach and
// to detach them: a number in memory that they share. Programs that are added with number n do something while it is
// greater than n.
type Switch struct {
	Map    int // descriptor
	Number int32
}

// SwitchMap returns the map of a Switch, which holds a 32-bit number, 0 at first.
func SwitchMap() *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: "waymark_switch", Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1}
}

// on leaves a program that is switched off. R6 is the context, which is in R1 then. The kernel makes a few
// instructions of the lookup in an array, since Linux 4.10; the address itself would need Linux 5.2.
func (s *Switch) on() asm.Instructions {
	if s == nil {
		return nil
	}
	return join(asm.StoreImm(asm.RFP, stackScratch, 0, asm.Word), mapArgs(s.Map, stackScratch), asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "off"), asm.LoadMem(asm.R0, asm.R0, 0, asm.Word), asm.JGT.Imm(asm.R0, s.Number, "on"),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("off"), asm.Return(),
		asm.Mov.Reg(asm.R1, asm.R6).WithSymbol("on"),
	)
}
