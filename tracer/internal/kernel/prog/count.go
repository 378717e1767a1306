package prog

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Counters returns a map of n counters.
func Counters(name string, n int) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: name, Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: uint32(n)}
}

// KeyCounters returns a map of counters for n keys, whose size is left open. All elements are made
// beforehand: sleepable programs may not allocate on older kernels, and "no room" then means just that.
func KeyCounters(n int) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: "waymark_keys", Type: ebpf.PerCPUHash, ValueSize: 8, MaxEntries: uint32(n)}
}

// Count returns the program that adds one to the counter with the cookie's index in the map of Counters
// with a descriptor.
func (b Base) Count(s *Site, m Means, counters int) asm.Instructions {
	a := program{Base: b, Means: m}
	a.begin(s.Where, "out")
	a.emit(loadCookie(asm.R6, a.Cookie)...)
	a.emit(asm.StoreMem(asm.RFP, stackScratch, asm.R0, asm.Word))
	a.emit(increment(counters, stackScratch, "out")...)
	return a.ins
}

// KeyMaps are the maps of programs that count by key.
type KeyMaps struct {
	Layout KeyLayout // of the keys of Keys
	Keys   int       // descriptor of KeyCounters
	Others int       // descriptor of Counters: hits whose key found no room, by index
	First  int       // index in keys of the first of Others
}

// CountBy returns the program that adds one to the counter of the hit's key, or to that of the
// others. Each way through it adds exactly once. A key's index is the cookie's after the first.
func (b Base) CountBy(s *Site, m Means, maps KeyMaps) asm.Instructions {
	a := b.withKey(maps.Layout, s, m, "out")
	head := a.key()
	a.emit(loadCookie(asm.R6, a.Cookie)...)
	a.emit(asm.Add.Imm(asm.R0, int32(maps.First)), asm.StoreMem(asm.RFP, head, asm.R0, asm.Word))
	a.makeKey(s.Key)
	a.emit(asm.StoreMem(asm.RFP, head+offKeyFailed, asm.R8, asm.Half),
		asm.StoreImm(asm.RFP, head+offKeyAbsent, s.Key.absent(), asm.Half))
	add := func(m int, at int16, none string) {
		a.emit(asm.LoadMapPtr(asm.R1, m), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, int32(at)),
			asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, none),
			// Atomic, because another thread's program may run on this CPU in between.
			asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
			asm.Ja.Label("out"))
	}
	add(maps.Keys, head, "new")

	a.label("new")
	a.emit(asm.Mov.Imm(asm.R1, 1), asm.StoreMem(asm.RFP, stackScratch, asm.R1, asm.DWord), asm.LoadMapPtr(asm.R1, maps.Keys))
	a.keyArg(asm.R2)
	a.emit(asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackScratch), asm.Mov.Imm(asm.R4, int32(ebpf.UpdateNoExist)),
		asm.FnMapUpdateElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"))
	add(maps.Keys, head, "other") // another thread may have been first

	a.label("other")
	a.emit(asm.LoadMem(asm.R1, asm.RFP, head, asm.Word), asm.Sub.Imm(asm.R1, int32(maps.First)), asm.StoreMem(asm.RFP, stackScratch, asm.R1, asm.Word))
	add(maps.Others, stackScratch, "out")

	a.label("out")
	a.emit(asm.Mov.Imm(asm.R0, 0), asm.Return())
	return a.ins
}
