package prog

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// GroupMaps are the maps of programs that measure pairs by groups. The values of OpenKeys are then 8 bytes,
// the time of the begin, and after it the key of the group, whose index has a bit for each part that is
// a field of the begin.
type GroupMaps struct {
	Layout       KeyLayout // of the keys of States
	States, Zero int       // descriptors
}

// GroupStates returns a map of the states of n groups, whose size of a key is left open. CPUs share them: with
// one of each CPU they would take 16 KiB times the number of CPUs.
func GroupStates(n int) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: "waymark_groups", Type: ebpf.Hash, ValueSize: stateSize, MaxEntries: uint32(n)}
}

// ZeroState returns the map of the state with which a group begins, which the stack has no room for.
func ZeroState() *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: "waymark_zero", Type: ebpf.Array, KeySize: 4, ValueSize: stateSize, MaxEntries: 1}
}

// OpenValue returns the size of the values of OpenKeys for groups with a layout.
func OpenValue(layout KeyLayout) uint32 { return uint32(8 + layout.Size) }

// groupAttempts is how often a program tries to store a maximum that other CPUs change, too.
const groupAttempts = 16

// opened is where on the stack the value of OpenKeys lies: below the pair's key.
func (a *keyProgram) opened(g *GroupMaps) int16 { return a.key() - int16(OpenValue(g.Layout)) }

// beginGroup makes the begin's part of the group's key.
func (a *keyProgram) beginGroup(s *Site, g *GroupMaps) {
	head := a.opened(g) + 8
	a.fill(s.By, g.Layout, head)
	a.emit(asm.StoreImm(asm.RFP, head, s.Own, asm.Word),
		asm.StoreMem(asm.RFP, head+offKeyFailed, asm.R8, asm.Half),
		asm.StoreImm(asm.RFP, head+offKeyAbsent, s.By.absent(), asm.Half))
}

// copyGroup copies what the begin has left at R0.
func (a *keyProgram) copyGroup(g *GroupMaps) {
	for at := int16(0); at < int16(OpenValue(g.Layout)); at += 8 {
		a.emit(asm.LoadMem(asm.R1, asm.R0, at, asm.DWord), asm.StoreMem(asm.RFP, a.opened(g)+at, asm.R1, asm.DWord))
	}
}

// endGroup adds the end's part to the group's key, and points R7 to the group's state. Where there is no room for
// the group, R7 stays: pairs without a group are counted with what else there is of the CPU.
func (a *keyProgram) endGroup(s *Site, g *GroupMaps) {
	head := a.opened(g) + 8
	a.emit(asm.Mov.Imm(asm.R8, 0))
	for i := range s.By {
		if s.By[i].Source == Absent {
			continue
		}
		own := a.unique()
		a.emit(asm.LoadMem(asm.R1, asm.RFP, head, asm.Word), asm.And.Imm(asm.R1, 1<<i), asm.JNE.Imm(asm.R1, 0, own))
		to := head + g.Layout.at[i]
		for at := 0; at < g.Layout.room(i); at += 8 { // the begin's, which is no field
			a.zero(asm.RFP, to+int16(at))
		}
		a.part(i, &s.By[i], to)
		for _, bits := range []int16{offKeyFailed, offKeyAbsent} {
			a.emit(asm.LoadMem(asm.R1, asm.RFP, head+bits, asm.Half), asm.And.Imm(asm.R1, ^(1<<i)),
				asm.StoreMem(asm.RFP, head+bits, asm.R1, asm.Half))
		}
		a.label("%s", own)
	}
	a.emit(asm.LoadMem(asm.R1, asm.RFP, head+offKeyFailed, asm.Half), asm.Or.Reg(asm.R1, asm.R8),
		asm.StoreMem(asm.RFP, head+offKeyFailed, asm.R1, asm.Half), asm.StoreImm(asm.RFP, head, 0, asm.Word))
	find := func(none string) {
		a.emit(mapArgs(g.States, head)...)
		a.emit(asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, none), asm.Mov.Reg(asm.R7, asm.R0))
	}
	fresh, found := a.unique(), a.unique()
	find(fresh)
	a.to(found)
	a.label("%s", fresh)
	a.zero(asm.RFP, stackScratch)
	a.emit(mapArgs(g.Zero, stackScratch)...)
	a.emit(asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, found), asm.Mov.Reg(asm.R3, asm.R0))
	a.emit(mapArgs(g.States, head)...)
	a.emit(asm.Mov.Imm(asm.R4, int32(ebpf.UpdateNoExist)), asm.FnMapUpdateElem.Call())
	find(found) // also when another thread was first
	a.label("%s", found)
}
