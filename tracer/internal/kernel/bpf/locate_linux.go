package bpf

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// measured is how much of a string that a NUL ends is read to see how long it is: enough to tell
// the sizes of slots from each other that most strings need.
const measured = 64

// locate puts the pointers and lengths of texts where pair says.
func (a *traceProgram) locate(n int, p *Plan, gather int16) {
	for i := range p.Texts {
		t, at := &p.Texts[i], p.pair(i, gather)
		a.number(t.Pointer, nil)
		a.emit(asm.StoreMem(asm.RFP, at, asm.R0, asm.DWord))
		if !t.terminated() {
			a.number(t.Length, nil)
			a.emit(asm.StoreMem(asm.RFP, at+8, asm.R0, asm.DWord))
			continue
		}
		done := fmt.Sprintf("measured%d_%d", n, i)
		buffer := p.pair(len(p.Texts)-1, gather) - measured
		a.readText(at, buffer, measured, done)
		// What is longer, or cannot be read, gets the largest slot. No branch: see failed.
		a.emit(asm.Mov.Reg(asm.R1, asm.R0), asm.RSh.Imm(asm.R1, 6), asm.LSh.Imm(asm.R1, 13),
			asm.Or.Reg(asm.R0, asm.R1), asm.StoreMem(asm.RFP, at+8, asm.R0, asm.DWord))
	}
}

// readText reads a string that a NUL ends, and whose address is at the stack's pointer, into the
// stack's buffer. R0 is then its length with the NUL, size when that did not fit, or negative.
func (a *traceProgram) readText(pointer, buffer int16, size int, done string) {
	read := func() {
		a.emit(asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(buffer)), asm.Mov.Imm(asm.R2, int32(size)),
			asm.LoadMem(asm.R3, asm.RFP, pointer, asm.DWord), asm.FnProbeReadUserStr.Call())
	}
	read()
	if !a.sleepable {
		return
	}
	// No function waits for the memory of a string of unknown length. One that reads a byte
	// does, of the first page and, where the string may run on there, of the next one.
	a.emit(asm.JSGT.Imm(asm.R0, 0, done))
	a.emit(asm.LoadMem(asm.R3, asm.RFP, pointer, asm.DWord))
	a.read(stackScratch, 1)
	a.emit(asm.LoadMem(asm.R3, asm.RFP, pointer, asm.DWord), asm.Add.Imm(asm.R3, int32(size-1)))
	a.read(stackScratch, 1)
	read()
	a.label("%s", done)
}

// load leaves a part that is a number in R0, and calls check as number does.
func (a *traceProgram) load(p *Part, check func()) {
	switch p.Source {
	case FromValue:
		a.number(p.Value, check)
	case FromPID, FromTID:
		a.process()
		if p.Source == FromTID {
			a.emit(asm.LSh.Imm(asm.R0, 32))
		}
		a.emit(asm.RSh.Imm(asm.R0, 32))
	case FromCPU:
		a.emit(asm.FnGetSmpProcessorId.Call())
	case FromGoroutine:
		a.emit(asm.LoadMem(asm.R3, asm.R6, a.g, asm.DWord), asm.Add.Imm(asm.R3, int32(p.Goid)))
		a.read(stackScratch, 8)
		check()
		a.emit(asm.LoadMem(asm.R0, asm.RFP, stackScratch, asm.DWord))
	default:
		a.emit(asm.Mov.Imm(asm.R0, 0))
	}
}

// number leaves a value in R0, extended to 64 bits: sites may hold the same number in different
// sizes. check, which may be nil, generates what is done after memory was read, when R0 is zero if it
// could be; the value is zero if not.
func (a *traceProgram) number(v Value, check func()) {
	size := int(v.Size)
	switch v.Kind {
	case FromRegister:
		a.emit(asm.LoadMem(asm.R0, asm.R6, v.Base, asm.DWord))
		if v.Shift > 0 {
			a.emit(asm.RSh.Imm(asm.R0, int32(v.Shift)))
		}
	case FromMemory:
		a.address(v)
		a.read(stackScratch, size)
		if check != nil {
			check()
		}
		a.emit(asm.LoadMem(asm.R0, asm.RFP, stackScratch, wordAt(size)))
		if !v.Signed {
			return
		}
	case Computed:
		a.compute(*v.Steps, check)
	default:
		a.emit(asm.LoadImm(asm.R0, v.Disp, asm.DWord))
		return
	}
	if unused := int32(64 - 8*size); unused > 0 {
		right := asm.RSh
		if v.Signed {
			right = asm.ArSh
		}
		a.emit(asm.LSh.Imm(asm.R0, unused), right.Imm(asm.R0, unused))
	}
}
