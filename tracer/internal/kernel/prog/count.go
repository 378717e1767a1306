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

// Registers of a program with a key: R6 the saved registers of the target, R8 the failed
// parts; R7 and R9 are for what is done with the key. The stack, below program's scratch:
const (
	stackPair = -48 // a string's pointer and length
	stackKey  = -48 // the key lies below
)

// keyProgram generates programs that make a key and do something with it.
type keyProgram struct {
	program
	layout KeyLayout
}

// withKey returns a program that starts with R6 and R8 as they are documented, for matching hits;
// the others go elsewhere.
func (b Base) withKey(layout KeyLayout, s *Site, m Means, otherwise string) *keyProgram {
	m.Sleepable = m.Sleepable && s.MayFault()
	a := &keyProgram{program{Base: b, Means: m}, layout}
	a.begin(s.Where, otherwise)
	return a
}

// key is where the key lies on the stack.
func (a *keyProgram) key() int16 { return stackKey - int16(a.layout.Size) }

// makeKey fills in the parts of the key. Its head, the first 8 bytes, is the caller's.
func (a *keyProgram) makeKey(k Key) { a.fill(k, a.layout, a.key()) }

// fill stores the parts of a key below its head, which is at a place on the stack.
func (a *keyProgram) fill(k Key, layout KeyLayout, head int16) {
	a.emit(asm.Mov.Imm(asm.R8, 0))
	for at := offKeyParts; at < layout.Size; at += 8 {
		a.emit(asm.StoreMem(asm.RFP, head+int16(at), asm.R8, asm.DWord))
	}
	for i := range k {
		a.part(i, &k[i], head+layout.at[i])
	}
}

// part stores part i at the stack's to.
func (a *keyProgram) part(i int, p *Part, to int16) {
	switch p.Source {
	case Absent:
	case FromText:
		a.keyText(i, &p.Text, to)
	case FromComm:
		a.emit(asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(to)), asm.Mov.Imm(asm.R2, commSize),
			asm.FnGetCurrentComm.Call())
	default:
		a.load(p, func() { a.failed(i) })
		a.emit(asm.StoreMem(asm.RFP, to, asm.R0, asm.DWord))
	}
}

// keyText stores the length and the first bytes of a text.
func (a *keyProgram) keyText(i int, t *Text, to int16) {
	store := func(v Value, at int16) {
		a.number(v, func() { a.failed(i) })
		a.emit(asm.StoreMem(asm.RFP, at, asm.R0, asm.DWord))
	}
	switch {
	case t.terminated():
		store(t.Pointer, stackPair)
		a.readText(stackPair, to+8, KeyText, a.unique())
		// Without the NUL it is a byte shorter, unless the NUL is one that the limit put there.
		a.emit(asm.Mov.Reg(asm.R1, asm.R0), asm.RSh.Imm(asm.R1, 6), asm.And.Imm(asm.R1, 1),
			asm.Add.Reg(asm.R1, asm.R0), asm.Sub.Imm(asm.R1, 1), asm.StoreMem(asm.RFP, to, asm.R1, asm.DWord))
		a.failed(i)
		return
	case t.adjacent():
		a.address(t.Pointer)
		a.read(stackPair, 16)
		a.failed(i)
	default:
		store(t.Pointer, stackPair)
		store(t.Length, stackPair+8)
	}
	a.emit(asm.LoadMem(asm.R2, asm.RFP, stackPair+8, asm.DWord), asm.StoreMem(asm.RFP, to, asm.R2, asm.DWord))
	fits := a.unique()
	a.emit(asm.JLE.Imm(asm.R2, KeyText, fits), asm.Mov.Imm(asm.R2, KeyText))
	a.label("%s", fits)
	a.emit(asm.LoadMem(asm.R3, asm.RFP, stackPair, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(to)+8), a.copier().Call())
	a.failed(i)
}

// keyArg points a register to the key.
func (a *keyProgram) keyArg(r asm.Register) {
	a.emit(asm.Mov.Reg(r, asm.RFP), asm.Add.Imm(r, int32(a.key())))
}
