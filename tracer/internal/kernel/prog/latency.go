package prog

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/waymark-trace/waymark/event/histogram"
)

// Latencies are the pairs of some programs, times in nanoseconds.
type Latencies struct {
	Begins, Ends uint64
	Nested       uint64 // begins with a key that was open: its time is replaced
	Unread       uint64 // hits whose key could not be read
	Full         uint64 // begins that found no room
	Sum, Max     uint64
	Counts       []uint64 // pairs by bucket of package histogram
}

// The state of a CPU, the one element of a per-CPU array: Latencies in 64-bit words. One
// element, so that all of it is read by one system call.
const (
	stateBegins = 8 * iota
	stateEnds
	stateNested
	stateUnread
	stateFull
	stateSum
	stateMax
	stateKeptFull // 1 once a CPU has found no room for a key to keep
	stateCounts
	stateSize = stateCounts + 8*histogram.Size
)

// CPUState is the state of a CPU as the kernel wrote it.
type CPUState [stateSize / 8]uint64

// SumPairs adds up the states of all CPUs.
func SumPairs(perCPU []CPUState) *Latencies {
	r := &Latencies{Counts: make([]uint64, histogram.Size)}
	for i := range perCPU {
		s := &perCPU[i]
		r.Begins += s[stateBegins/8]
		r.Ends += s[stateEnds/8]
		r.Nested += s[stateNested/8]
		r.Unread += s[stateUnread/8]
		r.Full += s[stateFull/8]
		r.Sum += s[stateSum/8]
		r.Max = max(r.Max, s[stateMax/8])
		for j := range r.Counts {
			r.Counts[j] += s[stateCounts/8+j]
		}
	}
	return r
}

// PairState returns the map with the state of each CPU.
func PairState() *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: "waymark_latency", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: stateSize, MaxEntries: 1}
}

// maxKept is how many keys have a place for good: most programs have fewer threads and goroutines.
const maxKept = 8192

// KeptKeys returns a map of at most n keys with the time when each began, 0 while it is not open. The
// size of a key is left open. Keys that come again and again, as threads and goroutines do, are then
// neither inserted nor deleted: that is half of the cost of a pair.
func KeptKeys(n int) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: "waymark_kept", Type: ebpf.Hash, ValueSize: 8, MaxEntries: uint32(min(n, maxKept))}
}

// OpenKeys returns a map of n keys that are open and found no room in KeptKeys. LRU: a pair that begins
// and never ends, as when a goroutine panics, does not stay for good.
func OpenKeys(n int) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: "waymark_open", Type: ebpf.LRUHash, ValueSize: 8, MaxEntries: uint32(n)}
}

// PairMaps are the maps of programs that measure pairs.
type PairMaps struct {
	Layout            KeyLayout // of the keys of Open
	Kept, Open, State int       // descriptors
	Groups            *GroupMaps
}

// Latency returns the program of a site that begins or ends a pair. R7 is the state, R9 the time
// of the key's begin. The key's head is the process: goroutines and arguments are told apart
// within one.
func (b Base) Latency(s *Site, m Means, maps PairMaps) asm.Instructions {
	a := b.withKey(maps.Layout, s, m, "other")
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
	a.emit(asm.LoadMapPtr(asm.R1, maps.State), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackScratch),
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
		a.endPair(s, maps)
	} else {
		if s.Where != nil {
			a.forget(maps)
		}
		a.beginPair(s, maps)
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

// place points R0 to the key's number in a map, or goes elsewhere.
func (a *keyProgram) place(m int, none string) {
	a.emit(asm.LoadMapPtr(asm.R1, m))
	a.keyArg(asm.R2)
	a.emit(asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, none))
}

// Errors of the kernel: include/uapi/asm-generic/errno-base.h.
const (
	e2big  = 7
	eexist = 17
)

// exchange stores R1 where a register points to, and leaves in R1 what was there.
func (a *keyProgram) exchange(at asm.Register) {
	swap := asm.Xchg.Mem(at, asm.R1, asm.DWord, 0)
	swap.Constant = int64(asm.Xchg >> 8) // see highest
	a.emit(swap)
}

// forget ends a begin that does not count, and what was open with its key: the next end is not that one's.
func (a *keyProgram) forget(maps PairMaps) {
	a.emit(asm.LoadMem(asm.R1, asm.RFP, stackTime, asm.Word), asm.JNE.Imm(asm.R1, 0, "counts"))
	if a.keeps(maps) {
		a.place(maps.Kept, "forgotten")
		a.zero(asm.R0, 0)
		a.emit(asm.Ja.Label("out"))
		a.label("forgotten")
	}
	a.emit(asm.LoadMapPtr(asm.R1, maps.Open))
	a.keyArg(asm.R2)
	a.emit(asm.FnMapDeleteElem.Call(), asm.Ja.Label("out"))
	a.label("counts")
}

// keeps reports whether keys have a place in Kept. The values there have no room for a group.
func (a *keyProgram) keeps(maps PairMaps) bool { return a.Exchange && maps.Groups == nil }

// beginPair notes the time. A begin of an open key replaces the one before: of nested pairs
// the innermost is measured, and an end that was missed spoils one pair, not all that follow.
func (a *keyProgram) beginPair(s *Site, maps PairMaps) {
	a.count(stateBegins)
	value := int16(stackTime)
	if maps.Groups != nil {
		value = a.opened(maps.Groups)
		a.beginGroup(s, maps.Groups)
	}
	now := func() { a.emit(asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, value, asm.R0, asm.DWord)) }
	store := func(to int, how ebpf.MapUpdateFlags) {
		a.emit(asm.LoadMapPtr(asm.R1, to))
		a.keyArg(asm.R2)
		a.emit(asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, int32(value)), asm.Mov.Imm(asm.R4, int32(how)),
			asm.FnMapUpdateElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"))
	}
	again := func(none string) {
		a.place(maps.Kept, none)
		a.emit(asm.Mov.Reg(asm.R9, asm.R0), asm.FnKtimeGetNs.Call(), asm.Mov.Reg(asm.R1, asm.R0))
		a.exchange(asm.R9)
		a.emit(asm.JEq.Imm(asm.R1, 0, "out"))
		a.count(stateNested)
		a.emit(asm.Ja.Label("out"))
	}
	if a.keeps(maps) {
		again("new")
		a.label("new")
		a.emit(asm.LoadMem(asm.R1, asm.R7, stateKeptFull, asm.Word), asm.JNE.Imm(asm.R1, 0, "away"))
		now()
		store(maps.Kept, ebpf.UpdateNoExist)
		a.emit(asm.JNE.Imm(asm.R0, -e2big, "raced"), asm.StoreImm(asm.R7, stateKeptFull, 1, asm.Word))
		a.label("raced")
		again("away") // another thread was first
		a.label("away")
	}
	now()
	store(maps.Open, ebpf.UpdateNoExist) // nearly always, and a look whether it is there is saved
	a.emit(asm.JNE.Imm(asm.R0, -eexist, "full"))
	a.count(stateNested)
	store(maps.Open, ebpf.UpdateAny)
	a.label("full")
	a.count(stateFull)
	a.emit(asm.Ja.Label("out"))
}

// endPair counts the time since the key's begin. Of several ends that race for a begin one has it: the one
// that finds it, or that deletes it.
func (a *keyProgram) endPair(s *Site, maps PairMaps) {
	a.count(stateEnds)
	if a.keeps(maps) {
		a.place(maps.Kept, "away")
		a.emit(asm.Mov.Imm(asm.R1, 0))
		a.exchange(asm.R0)
		a.emit(asm.JEq.Imm(asm.R1, 0, "out"), asm.Mov.Reg(asm.R9, asm.R1), asm.Ja.Label("paired"))
		a.label("away")
	}
	a.place(maps.Open, "out")
	a.emit(asm.LoadMem(asm.R9, asm.R0, 0, asm.DWord))
	if maps.Groups != nil {
		a.copyGroup(maps.Groups)
	}
	a.emit(asm.LoadMapPtr(asm.R1, maps.Open))
	a.keyArg(asm.R2)
	a.emit(asm.FnMapDeleteElem.Call(), asm.JNE.Imm(asm.R0, 0, "out"))
	a.label("paired")
	later := a.unique()
	a.emit(asm.LoadMem(asm.R1, asm.RFP, stackTime, asm.DWord), asm.JGE.Reg(asm.R1, asm.R9, later),
		asm.Mov.Reg(asm.R1, asm.R9)) // an end on another CPU that began before: no time
	a.label("%s", later)
	a.emit(asm.Sub.Reg(asm.R1, asm.R9), asm.Mov.Reg(asm.R9, asm.R1))
	attempts := 4
	if maps.Groups != nil {
		a.emit(asm.StoreMem(asm.RFP, stackTime, asm.R9, asm.DWord))
		a.endGroup(s, maps.Groups)
		a.emit(asm.LoadMem(asm.R9, asm.RFP, stackTime, asm.DWord))
		attempts = groupAttempts
	}
	a.add(attempts)
	a.emit(asm.Ja.Label("out"))
}

// add counts the duration R9 in the state at R7.
func (a *keyProgram) add(attempts int) {
	a.emit(asm.AddAtomic.Mem(asm.R7, asm.R9, asm.DWord, stateSum))
	a.highest(attempts)
	a.bucket()
}

// highest keeps the maximum of R9. Where programs can be preempted, and where CPUs share the state, another
// thread's may run between looking and storing, so it looks again; that there was one each time does not happen.
func (a *keyProgram) highest(attempts int) {
	done := a.unique()
	for range attempts {
		a.emit(asm.LoadMem(asm.R0, asm.R7, stateMax, asm.DWord), asm.JGE.Reg(asm.R0, asm.R9, done))
		if !a.Exchange { // kernels without compare and exchange (Linux 5.12) do not preempt
			a.emit(asm.StoreMem(asm.R7, stateMax, asm.R9, asm.DWord))
			break
		}
		swap := asm.CmpXchg.Mem(asm.R7, asm.R9, asm.DWord, stateMax)
		// The library drops which atomic operation it is, and it becomes an addition: v0.22.0,
		// asm.Instruction.Marshal, takes the constant before it sets it.
		swap.Constant = int64(asm.CmpXchg >> 8)
		a.emit(asm.Mov.Reg(asm.R2, asm.R0), swap,
			asm.JEq.Reg(asm.R0, asm.R2, done))
	}
	a.label("%s", done)
}

// bucket counts R9 in its bucket: see package histogram. R7 points elsewhere then.
func (a *keyProgram) bucket() {
	a.emit(asm.Mov.Imm(asm.R2, 0)) // the shift
	for by := int32(32); by > 0; by /= 2 {
		small := a.unique()
		a.emit(asm.Mov.Reg(asm.R1, asm.R9), asm.RSh.Imm(asm.R1, by), asm.JLT.Imm(asm.R1, 1<<histogram.SubBits, small),
			asm.Mov.Reg(asm.R9, asm.R1), asm.Add.Imm(asm.R2, by))
		a.label("%s", small)
	}
	a.emit(asm.LSh.Imm(asm.R2, histogram.SubBits), asm.Add.Reg(asm.R2, asm.R9),
		asm.JGE.Imm(asm.R2, histogram.Size, "out"), // never: for the verifier
		asm.LSh.Imm(asm.R2, 3), asm.Add.Reg(asm.R7, asm.R2))
	a.count(stateCounts)
}
