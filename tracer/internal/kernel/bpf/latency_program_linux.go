package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/waymark-trace/waymark/internal/histogram"
	"golang.org/x/sys/unix"
)

// pairMaps are the descriptors of a Latency's maps.
type pairMaps struct{ kept, open, state int }

// latency generates the program of a site that begins or ends. R7 is the state, R9 the time
// of the key's begin. The key's head is the process: goroutines and arguments are told apart
// within one.
func (a *keyProgram) latency(s *Site, m Mode, maps pairMaps) asm.Instructions {
	if s.Where != nil { // it says which begins count; the key is needed in any case
		a.emit(asm.StoreImm(asm.RFP, stackTime, 1, asm.Word))
		a.to("key")
		a.label("other")
		a.emit(asm.StoreImm(asm.RFP, stackTime, 0, asm.Word))
		a.label("key")
	}
	if s.End { // before everything else: what follows is not part of what is measured
		a.emit(asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, stackTime, asm.R0, asm.DWord))
	}
	a.zero(asm.RFP, stackScratch)
	a.emit(asm.LoadMapPtr(asm.R1, maps.state), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackScratch),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Reg(asm.R7, asm.R0))
	// The kernel's own numbers, which no two processes have, whatever namespaces they are in.
	a.emit(asm.FnGetCurrentPidTgid.Call(), asm.RSh.Imm(asm.R0, 32),
		asm.StoreMem(asm.RFP, a.key(), asm.R0, asm.DWord))
	a.makeKey(s.Key)
	if s.Key.absent() != 0 {
		a.emit(asm.Mov.Imm(asm.R8, 1))
	}
	a.emit(asm.JNE.Imm(asm.R8, 0, "unread"))
	if s.End {
		a.endPair(m, maps)
	} else {
		if s.Where != nil {
			a.forget(m, maps)
		}
		a.beginPair(m, maps)
	}
	a.label("unread")
	a.count(stateUnread)
	a.label("out")
	a.emit(asm.Mov.Imm(asm.R0, 0), asm.Return())
	return a.ins
}

// count adds one to a number of the state.
func (a *keyProgram) count(at int16) {
	a.emit(asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R7, asm.R1, asm.DWord, at))
}

// keeps reports whether keys have a place for good: the kernel can exchange numbers (Linux 5.12).
func (m Mode) keeps() bool { return m != EventsPlain }

// place points R0 to the key's number in a map, or goes elsewhere.
func (a *keyProgram) place(m int, none string) {
	a.emit(asm.LoadMapPtr(asm.R1, m))
	a.keyArg(asm.R2)
	a.emit(asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, none))
}

// exchange stores R1 where a register points to, and leaves in R1 what was there.
func (a *keyProgram) exchange(at asm.Register) {
	swap := asm.Xchg.Mem(at, asm.R1, asm.DWord, 0)
	swap.Constant = int64(asm.Xchg >> 8) // see highest
	a.emit(swap)
}

// forget ends a begin that does not count, and what was open with its key: the next end is not that one's.
func (a *keyProgram) forget(m Mode, maps pairMaps) {
	a.emit(asm.LoadMem(asm.R1, asm.RFP, stackTime, asm.Word), asm.JNE.Imm(asm.R1, 0, "counts"))
	if m.keeps() {
		a.place(maps.kept, "forgotten")
		a.zero(asm.R0, 0)
		a.emit(asm.Ja.Label("out"))
		a.label("forgotten")
	}
	a.emit(asm.LoadMapPtr(asm.R1, maps.open))
	a.keyArg(asm.R2)
	a.emit(asm.FnMapDeleteElem.Call(), asm.Ja.Label("out"))
	a.label("counts")
}

// beginPair notes the time. A begin of an open key replaces the one before: of nested pairs
// the innermost is measured, and an end that was missed spoils one pair, not all that follow.
func (a *keyProgram) beginPair(m Mode, maps pairMaps) {
	a.count(stateBegins)
	now := func() { a.emit(asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, stackTime, asm.R0, asm.DWord)) }
	store := func(to int, how ebpf.MapUpdateFlags) {
		a.emit(asm.LoadMapPtr(asm.R1, to))
		a.keyArg(asm.R2)
		a.emit(asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackTime), asm.Mov.Imm(asm.R4, int32(how)),
			asm.FnMapUpdateElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"))
	}
	again := func(none string) {
		a.place(maps.kept, none)
		a.emit(asm.Mov.Reg(asm.R9, asm.R0), asm.FnKtimeGetNs.Call(), asm.Mov.Reg(asm.R1, asm.R0))
		a.exchange(asm.R9)
		a.emit(asm.JEq.Imm(asm.R1, 0, "out"))
		a.count(stateNested)
		a.emit(asm.Ja.Label("out"))
	}
	if m.keeps() {
		again("new")
		a.label("new")
		a.emit(asm.LoadMem(asm.R1, asm.R7, stateKeptFull, asm.Word), asm.JNE.Imm(asm.R1, 0, "away"))
		now()
		store(maps.kept, ebpf.UpdateNoExist)
		a.emit(asm.JNE.Imm(asm.R0, -int32(unix.E2BIG), "raced"), asm.StoreImm(asm.R7, stateKeptFull, 1, asm.Word))
		a.label("raced")
		again("away") // another thread was first
		a.label("away")
	}
	now()
	store(maps.open, ebpf.UpdateNoExist) // nearly always, and a look whether it is there is saved
	a.emit(asm.JNE.Imm(asm.R0, -int32(unix.EEXIST), "full"))
	a.count(stateNested)
	store(maps.open, ebpf.UpdateAny)
	a.label("full")
	a.count(stateFull)
	a.emit(asm.Ja.Label("out"))
}

// endPair counts the time since the key's begin. Of several ends that race for a begin one has it: the one
// that finds it, or that deletes it.
func (a *keyProgram) endPair(m Mode, maps pairMaps) {
	a.count(stateEnds)
	if m.keeps() {
		a.place(maps.kept, "away")
		a.emit(asm.Mov.Imm(asm.R1, 0))
		a.exchange(asm.R0)
		a.emit(asm.JEq.Imm(asm.R1, 0, "out"), asm.Mov.Reg(asm.R9, asm.R1), asm.Ja.Label("paired"))
		a.label("away")
	}
	a.place(maps.open, "out")
	a.emit(asm.LoadMem(asm.R9, asm.R0, 0, asm.DWord), asm.LoadMapPtr(asm.R1, maps.open))
	a.keyArg(asm.R2)
	a.emit(asm.FnMapDeleteElem.Call(), asm.JNE.Imm(asm.R0, 0, "out"))
	a.label("paired")
	a.emit(asm.LoadMem(asm.R1, asm.RFP, stackTime, asm.DWord), asm.JGE.Reg(asm.R1, asm.R9, "later"),
		asm.Mov.Reg(asm.R1, asm.R9)) // an end on another CPU that began before: no time
	a.label("later")
	a.emit(asm.Sub.Reg(asm.R1, asm.R9), asm.Mov.Reg(asm.R9, asm.R1),
		asm.AddAtomic.Mem(asm.R7, asm.R1, asm.DWord, stateSum))
	a.highest(m)
	a.bucket()
	a.emit(asm.Ja.Label("out"))
}

// highest keeps the maximum of R9. Where programs can be preempted another thread's may run
// between looking and storing, so it looks again; that there was one each time does not happen.
func (a *keyProgram) highest(m Mode) {
	for range 4 {
		a.emit(asm.LoadMem(asm.R0, asm.R7, stateMax, asm.DWord), asm.JGE.Reg(asm.R0, asm.R9, "bucket"))
		if m == EventsPlain { // kernels without compare and exchange (Linux 5.12) do not preempt
			a.emit(asm.StoreMem(asm.R7, stateMax, asm.R9, asm.DWord))
			break
		}
		swap := asm.CmpXchg.Mem(asm.R7, asm.R9, asm.DWord, stateMax)
		// The library drops which atomic operation it is, and it becomes an addition: v0.22.0,
		// asm.Instruction.Marshal, takes the constant before it sets it.
		swap.Constant = int64(asm.CmpXchg >> 8)
		a.emit(asm.Mov.Reg(asm.R2, asm.R0), swap,
			asm.JEq.Reg(asm.R0, asm.R2, "bucket"))
	}
	a.label("bucket")
}

// bucket counts R9 in its bucket: see Bucket.
func (a *keyProgram) bucket() {
	a.emit(asm.Mov.Imm(asm.R2, 0)) // the shift
	for by := int32(32); by > 0; by /= 2 {
		small := fmt.Sprintf("small%d", by)
		a.emit(asm.Mov.Reg(asm.R1, asm.R9), asm.RSh.Imm(asm.R1, by), asm.JLT.Imm(asm.R1, 1<<histogram.SubBits, small),
			asm.Mov.Reg(asm.R9, asm.R1), asm.Add.Imm(asm.R2, by))
		a.label("%s", small)
	}
	a.emit(asm.LSh.Imm(asm.R2, histogram.SubBits), asm.Add.Reg(asm.R2, asm.R9),
		asm.JGE.Imm(asm.R2, histogram.Size, "out"), // never: for the verifier
		asm.LSh.Imm(asm.R2, 3), asm.Add.Reg(asm.R7, asm.R2))
	a.count(stateCounts)
}
