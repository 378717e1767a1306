package prog

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/waymark-trace/waymark/internal/filter"
)

// maxProgram is how many instructions one program may have: jumps reach 32767.
const maxProgram = 24000

// Why a hit has no event: indices of MissedCounters.
const (
	MissedLost     = iota // the ring was full
	MissedFiltered        // its condition does not hold
	MissedReasons         // the number of reasons
)

// Events are the maps and the limits of programs that write events.
type Events struct {
	Ring      int    // descriptor of the ring of events
	Missed    int    // descriptor of the counters of hits without an event: see MissedCounters
	MaxString int    // bytes of a string that an event carries, at least 1
	OwnPIDs   *Types // nil unless events carry PIDs in the namespace of their process, too
}

// MissedCounters returns the map that counts hits without an event, by the reasons above.
func MissedCounters() *ebpf.MapSpec { return Counters("waymark_lost", MissedReasons) }

// piece is the code for the sites of one cookie.
type piece struct {
	plan  *Plan
	where *Where // nil for all hits
}

// Packer packs the code of sites into programs that write events: equal code once, and no more in
// a program than its jumps can reach and the kernel verifies.
type Packer struct {
	base     program
	programs [][]piece
	size     int // instructions of the last program
	known    map[string][2]int
}

// NewPacker returns a Packer without sites.
func NewPacker(b Base, e Events) *Packer {
	return &Packer{base: program{Base: b, Events: e}, known: map[string][2]int{}}
}

// Add adds a site, and returns the index of its program and the upper half of its cookie there.
// The lower half is the site's index in events.
func (p *Packer) Add(s *Site) (program int, piece uint32) {
	key := s.Plan.key() + "\x00" + s.Where.key()
	at, ok := p.known[key]
	if !ok {
		at = p.pack(s)
		p.known[key] = at
	}
	return at[0], uint32(at[1])
}

func (p *Packer) pack(s *Site) [2]int {
	one := piece{s.Plan, s.Where}
	size := p.measure(one)
	if len(p.programs) == 0 || p.size+size > maxProgram {
		p.programs, p.size = append(p.programs, nil), 0
	}
	p.size += size
	last := len(p.programs) - 1
	p.programs[last] = append(p.programs[last], one)
	return [2]int{last, len(p.programs[last]) - 1}
}

// Assemble returns a program, for the sites that were added so far.
func (p *Packer) Assemble(program int, m Means) asm.Instructions {
	a := p.base
	a.Means = m
	return a.assemble(p.programs[program])
}

const (
	// loopSize is how many instructions a byte of a text takes to compare.
	loopSize = 20
	// verified is how many the verifier may walk for each that a program has.
	verified = 24
)

// dispatchSize is how many instructions a plan takes of the dispatch, at most.
const dispatchSize = 3

// measure returns how many instructions a piece takes at most, dispatch included. The verifier
// walks each byte of a text, up to a million instructions a program; for that loops count more.
func (p *Packer) measure(one piece) int {
	a := p.base
	a.Sleepable = true // the longer form
	a.where(one.where, "filtered")
	a.plan(0, one.plan)
	size := dispatchSize + one.where.texts()*(filter.MaxText*loopSize/verified)
	for i := range a.ins {
		size += int(a.ins[i].Width())
	}
	return size
}

// assemble returns the program. An attach cookie is the index in pieces in its upper half and
// the site in its lower.
func (a *program) assemble(pieces []piece) asm.Instructions {
	a.next = "trace"
	a.emit(asm.Mov.Reg(asm.R6, asm.R1))
	a.emit(a.Switch.on()...)
	a.emit(a.Admit...)
	a.emit(asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, stackTime, asm.R0, asm.DWord))
	a.emit(loadCookie(asm.R6, a.Cookie)...)
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
		a.emit(asm.StoreImm(asm.RFP, stackScratch, MissedFiltered, asm.Word))
		a.emit(increment(a.Missed, stackScratch, "out2")...)
	}
	return a.ins
}

// dispatch jumps to the plan that R8 says, by halves.
func (a *program) dispatch(lo, hi int) {
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
// all CPUs, so nothing that may wait happens in between.
func (a *program) plan(n int, p *Plan) {
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

func (a *program) goroutine(p *Plan) {
	a.zero(asm.RFP, stackGoroutine)
	if p.Goid >= 0 {
		a.emit(asm.LoadMem(asm.R3, asm.R6, a.g, asm.DWord), asm.Add.Imm(asm.R3, int32(p.Goid)))
		a.read(stackGoroutine, 8) // unreadable leaves 0: not known
	}
}

func (a *program) reserve(size int) {
	a.emit(asm.LoadMapPtr(asm.R1, a.Ring), asm.Mov.Imm(asm.R2, int32(size)), asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(), asm.JEq.Imm(asm.R0, 0, "lost"), asm.Mov.Reg(asm.R7, asm.R0))
}

// copyBody moves what was gathered into the event, and registers straight from where they are.
func (a *program) copyBody(p *Plan, gather int16) {
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

// tail fills the header and submits; lost counts what found the ring full.
func (a *program) tail() {
	a.label("tail")
	a.move2(offTime, stackTime)
	a.process()
	a.emit(asm.StoreMem(asm.R7, offProcess, asm.R0, asm.DWord))
	a.own()
	a.move2(offGoroutine, stackGoroutine)
	a.emit(asm.StoreMem(asm.R7, offFailed, asm.R8, asm.DWord))
	a.emit(asm.LoadMem(asm.R1, asm.RFP, stackCookie, asm.DWord), asm.StoreMem(asm.R7, offSite, asm.R1, asm.Word))
	a.emit(asm.FnGetSmpProcessorId.Call(), asm.StoreMem(asm.R7, offCPU, asm.R0, asm.Word))
	a.emit(asm.StoreImm(asm.R7, offPad, 0, asm.Word))
	a.emit(asm.Mov.Reg(asm.R1, asm.R7), asm.Add.Imm(asm.R1, offComm), asm.Mov.Imm(asm.R2, commSize),
		asm.FnGetCurrentComm.Call())
	a.emit(asm.Mov.Reg(asm.R1, asm.R7), asm.Mov.Imm(asm.R2, 0), asm.FnRingbufSubmit.Call())
	a.emit(asm.Mov.Imm(asm.R0, 0), asm.Return())
	a.label("lost")
	a.emit(asm.StoreImm(asm.RFP, stackScratch, MissedLost, asm.Word))
	a.emit(increment(a.Missed, stackScratch, "out")...)
}

// own stores process and thread as a namespace below this process's counts them.
func (a *program) own() {
	a.zero(asm.R7, offOwn)
	if a.OwnPIDs == nil {
		return
	}
	for i, process := range []bool{false, true} {
		a.emit(a.OwnPIDs.ownNumber(process, a.PIDs.Level, "noOwn")...)
		a.emit(asm.StoreMem(asm.R7, offOwn+int16(4*i), asm.R0, asm.Word)) // of a little-endian machine
	}
	a.label("noOwn")
}

func (a *program) move(to int16, from asm.Register, at int16, size asm.Size) {
	a.emit(asm.LoadMem(asm.R1, from, at, size), asm.StoreMem(asm.R7, to, asm.R1, size))
}

func (a *program) move2(to, from int16) { a.move(to, asm.RFP, from, asm.DWord) }
