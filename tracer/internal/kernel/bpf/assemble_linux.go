package bpf

import (
	"fmt"
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/waymark-trace/waymark/sdt"
)

// Registers of a trace program: R6 the saved registers of the target, R7 the event, R8 the
// failed bits, R9 the size of a string slot. The stack, never a per-CPU buffer: a probe's
// program can be preempted, and another thread's can then run on the same CPU.
const (
	stackCookie    = -8
	stackScratch   = -16
	stackGoroutine = -24
	stackTime      = -32
	stackGather    = -32 // the body's fixed part lies below
)

// maxProgram is how many instructions one program may have: jumps reach 32767.
const maxProgram = 24000

// traceProgram generates the program for some plans.
type traceProgram struct {
	ins asm.Instructions
	// record and g are the offsets of the target's registers.
	record, g int16
	// ring and lost are the maps' descriptors: lost counts hits without an event.
	ring, lost int
	maxString  int
	// sleepable programs may fault the target's pages in.
	sleepable bool
	cookie    *uint64 // known when there is a program for each site
	pids      *pidNamespace
	ownPIDs   *kernelTypes     // nil unless events are to have them
	filter    asm.Instructions // who is not let in
	numbers   int              // how often process was generated
	patterns  int              // the map of conditions' patterns
	next      string           // label of the next instruction
	labels    int              // how many unique ones there are
}

// piece is what a program does at the sites of one cookie.
type piece struct {
	plan  *Plan
	where *Where // nil for all hits
}

// newProgram returns what all programs have in common. patterns may be nil.
func newProgram(patterns *ebpf.Map, o Options) (a traceProgram, err error) {
	if a.record, a.g, err = goRegisters(Machine(runtime.GOARCH)); err != nil {
		return a, err
	}
	if patterns != nil {
		a.patterns = patterns.FD()
	}
	a.filter = o.Watch.filter()
	a.pids, err = ownPIDNamespace()
	return a, err
}

func (a *traceProgram) emit(ins ...asm.Instruction) {
	for _, in := range ins {
		if a.next != "" {
			in = in.WithSymbol(a.next)
			a.next = ""
		}
		a.ins = append(a.ins, in)
	}
}

// label names the instruction that is emitted next.
func (a *traceProgram) label(format string, args ...any) {
	name := fmt.Sprintf(format, args...)
	if a.next != "" {
		a.emit(asm.Ja.Label(name)) // one name an instruction
	}
	a.next = name
}

// assemble returns the program. An attach cookie is the index in pieces in its upper half and
// the site in its lower.
func (a *traceProgram) assemble(pieces []piece) asm.Instructions {
	a.ins, a.next, a.labels = nil, "trace", 0
	a.emit(asm.Mov.Reg(asm.R6, asm.R1))
	a.emit(a.filter...)
	a.emit(asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, stackTime, asm.R0, asm.DWord))
	a.emit(loadCookie(asm.R6, a.cookie)...)
	a.emit(asm.StoreMem(asm.RFP, stackCookie, asm.R0, asm.DWord))
	a.emit(asm.Mov.Reg(asm.R8, asm.R0), asm.RSh.Imm(asm.R8, 32))
	a.dispatch(0, len(pieces))
	filtered := false
	for i, p := range pieces {
		a.label("plan%d", i)
		a.where(p.where, "filtered")
		a.plan(i, p.plan)
		filtered = filtered || p.where != nil
	}
	a.tail()
	if filtered {
		a.label("filtered")
		a.emit(asm.StoreImm(asm.RFP, stackScratch, missedFiltered, asm.Word))
		a.emit(increment(a.lost, stackScratch, "out2")...)
	}
	return a.ins
}

// loadCookie leaves the cookie in R0.
func loadCookie(ctx asm.Register, known *uint64) asm.Instructions {
	if known != nil {
		return asm.Instructions{asm.LoadImm(asm.R0, int64(*known), asm.DWord)}
	}
	return asm.Instructions{asm.Mov.Reg(asm.R1, ctx), asm.FnGetAttachCookie.Call()}
}

// dispatch jumps to the plan that R8 says, by halves.
func (a *traceProgram) dispatch(lo, hi int) {
	if hi-lo <= 1 {
		a.emit(asm.Ja.Label(fmt.Sprintf("plan%d", lo)))
		return
	}
	mid := (lo + hi) / 2
	upper := fmt.Sprintf("from%d_%d", mid, hi)
	a.emit(asm.JGE.Imm(asm.R8, int32(mid), upper))
	a.dispatch(lo, mid)
	a.label("%s", upper)
	a.dispatch(mid, hi)
}

// plan gathers first and reserves then: while an event is reserved the ring stands still for
// everybody, so nothing that may wait happens in between.
func (a *traceProgram) plan(n int, p *Plan) {
	a.emit(asm.Mov.Imm(asm.R8, 0))
	a.goroutine(p)
	gather := int16(stackGather - p.bodySize())
	if p.Record > 0 {
		a.emit(asm.LoadMem(asm.R3, asm.R6, a.record, asm.DWord))
		a.read(gather, p.Record)
		a.failed(failedRecord)
	}
	for i, v := range p.Values {
		switch v.Kind {
		case FromMemory:
			a.address(v)
			a.read(gather+int16(8*i), int(v.Size))
			a.failed(i)
		case Computed:
			a.number(v, func() { a.failed(i) })
			a.emit(asm.StoreMem(asm.RFP, gather+int16(8*i), asm.R0, asm.DWord))
		}
	}
	if p.strings() == 0 {
		a.reserve(offBody + p.bodySize())
		a.emit(asm.StoreImm(asm.R7, offSlot, 0, asm.Word))
	} else {
		a.reserveStrings(n, p, gather)
	}
	a.copyBody(p, gather)
	for i := range p.strings() {
		a.text(n, i, p, gather)
	}
	a.emit(asm.Ja.Label("tail"))
}

func (a *traceProgram) goroutine(p *Plan) {
	a.zero(asm.RFP, stackGoroutine)
	if p.Goid >= 0 {
		a.emit(asm.LoadMem(asm.R3, asm.R6, a.g, asm.DWord), asm.Add.Imm(asm.R3, int32(p.Goid)))
		a.read(stackGoroutine, 8) // unreadable leaves 0: not known
	}
}

// address leaves the address of a value in R3.
func (a *traceProgram) address(v Value) {
	if fitsImmediate(v.Disp) {
		a.emit(asm.Mov.Imm(asm.R3, int32(v.Disp)))
	} else {
		a.emit(asm.LoadImm(asm.R3, v.Disp, asm.DWord))
	}
	if v.Base != noRegister {
		a.emit(asm.LoadMem(asm.R1, asm.R6, v.Base, asm.DWord), asm.Add.Reg(asm.R3, asm.R1))
	}
	if v.Index != noRegister {
		a.emit(asm.LoadMem(asm.R1, asm.R6, v.Index, asm.DWord))
		switch v.Extend {
		case sdt.ZeroExtend:
			a.emit(asm.LSh.Imm(asm.R1, 32), asm.RSh.Imm(asm.R1, 32))
		case sdt.SignExtend:
			a.emit(asm.LSh.Imm(asm.R1, 32), asm.ArSh.Imm(asm.R1, 32))
		}
		a.emit(asm.Mul.Imm(asm.R1, int32(v.Scale)), asm.Add.Reg(asm.R3, asm.R1))
	}
}

// read copies size bytes of the target at R3 to the stack; R0 is negative when they cannot be
// read, and the bytes zero.
func (a *traceProgram) read(to int16, size int) {
	a.emit(asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(to)), asm.Mov.Imm(asm.R2, int32(size)), a.copier().Call())
}

// copier is the function that copies what R3 points to in the target.
func (a *traceProgram) copier() asm.BuiltinFunc {
	if a.sleepable {
		return asm.FnCopyFromUser
	}
	return asm.FnProbeReadUser
}

// failed sets a bit of R8 when R0 is negative, without a branch: branches multiply the states
// that the verifier walks.
func (a *traceProgram) failed(bit int) {
	a.emit(asm.RSh.Imm(asm.R0, 63))
	if bit > 0 {
		a.emit(asm.LSh.Imm(asm.R0, int32(bit)))
	}
	a.emit(asm.Or.Reg(asm.R8, asm.R0))
}

func (a *traceProgram) reserve(size int) {
	a.emit(asm.LoadMapPtr(asm.R1, a.ring), asm.Mov.Imm(asm.R2, int32(size)), asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(), asm.JEq.Imm(asm.R0, 0, "lost"), asm.Mov.Reg(asm.R7, asm.R0))
}

// copyBody moves what was gathered into the event, and registers straight from where they are.
func (a *traceProgram) copyBody(p *Plan, gather int16) {
	if p.Record > 0 {
		for at := 0; at < p.Record; {
			size := wordAt(p.Record - at)
			a.move(offBody+int16(at), asm.RFP, gather+int16(at), size)
			at += size.Sizeof()
		}
		return
	}
	for i, v := range p.Values {
		to := offBody + int16(8*i)
		switch v.Kind {
		case Nothing:
			a.zero(asm.R7, to)
		case FromRegister:
			a.move(to, asm.R6, v.Base, asm.DWord)
		case Computed:
			a.move(to, asm.RFP, gather+int16(8*i), asm.DWord)
		case FromMemory:
			// Only Size bytes of the stack slot were written: load those, store all eight.
			a.emit(asm.LoadMem(asm.R1, asm.RFP, gather+int16(8*i), wordAt(int(v.Size))),
				asm.StoreMem(asm.R7, to, asm.R1, asm.DWord))
		}
	}
}

func (a *traceProgram) move(to int16, from asm.Register, at int16, size asm.Size) {
	a.emit(asm.LoadMem(asm.R1, from, at, size), asm.StoreMem(asm.R7, to, asm.R1, size))
}

// zero clears 8 bytes, by way of R1.
func (a *traceProgram) zero(at asm.Register, offset int16) {
	a.emit(asm.Mov.Imm(asm.R1, 0), asm.StoreMem(at, offset, asm.R1, asm.DWord))
}

// wordAt is the widest access within n bytes.
func wordAt(n int) asm.Size {
	switch {
	case n >= 8:
		return asm.DWord
	case n >= 4:
		return asm.Word
	case n >= 2:
		return asm.Half
	}
	return asm.Byte
}
