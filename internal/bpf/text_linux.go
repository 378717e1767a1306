package bpf

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// slots returns the sizes of string slots that events come in. The kernel reserves constant
// sizes only, so an event takes the first slot that holds its longest string.
func slots(maxString int) []int {
	sizes := []int{}
	for _, size := range []int{32, 256} {
		if size < maxString {
			sizes = append(sizes, size)
		}
	}
	return append(sizes, (maxString+7)&^7)
}

// reserveStrings reserves an event with the smallest slots that hold all its strings, and
// leaves the size of one in R9. gather is where the record is on the stack.
func (a *traceProgram) reserveStrings(n int, p *Plan, gather int16) {
	sizes := slots(a.maxString)
	if a.sleepable {
		for i, at := range p.Strings {
			a.touch(fmt.Sprintf("touched%d_%d", n, i), gather+int16(at), sizes[len(sizes)-1])
		}
	}
	// The lengths or'ed are below a power of two if and only if each of them is.
	a.emit(asm.Mov.Imm(asm.R9, 0))
	for _, at := range p.Strings {
		a.emit(asm.LoadMem(asm.R1, asm.RFP, gather+int16(at)+8, asm.DWord), asm.Or.Reg(asm.R9, asm.R1))
	}
	for _, size := range sizes[:len(sizes)-1] {
		a.emit(asm.JLT.Imm(asm.R9, int32(size), fmt.Sprintf("slot%d_%d", n, size)))
	}
	for i := len(sizes) - 1; i >= 0; i-- {
		if i < len(sizes)-1 {
			a.label("slot%d_%d", n, sizes[i])
		}
		a.emit(asm.Mov.Imm(asm.R9, int32(sizes[i])))
		a.reserve(offBody + p.bodySize() + len(p.Strings)*sizes[i])
		a.emit(asm.Ja.Label(fmt.Sprintf("fill%d", n)))
	}
	a.label("fill%d", n)
	a.emit(asm.StoreMem(asm.R7, offSlot, asm.R9, asm.Word))
}

// touch faults in the pages of the first limit bytes of a string, two at most. Text that the
// program itself has not read yet, as that of a literal, need not be in memory.
func (a *traceProgram) touch(done string, at int16, limit int) {
	a.emit(asm.LoadMem(asm.R1, asm.RFP, at+8, asm.DWord), asm.JEq.Imm(asm.R1, 0, done))
	a.emit(asm.LoadMem(asm.R3, asm.RFP, at, asm.DWord))
	a.read(stackScratch, 1)
	a.emit(asm.LoadMem(asm.R1, asm.RFP, at+8, asm.DWord),
		asm.JLE.Imm(asm.R1, int32(limit), done+"_cut"),
		asm.Mov.Imm(asm.R1, int32(limit)))
	a.label("%s_cut", done)
	a.emit(asm.LoadMem(asm.R2, asm.RFP, at, asm.DWord),
		asm.Mov.Reg(asm.R3, asm.R2), asm.Add.Reg(asm.R3, asm.R1), asm.Sub.Imm(asm.R3, 1),
		asm.Xor.Reg(asm.R2, asm.R3), asm.RSh.Imm(asm.R2, 12), // one page of the smallest size?
		asm.JEq.Imm(asm.R2, 0, done))
	a.read(stackScratch, 1)
	a.label("%s", done)
}

// text copies string i, whose pointer and length are at the stack's at, into its slot.
func (a *traceProgram) text(n, i int, p *Plan, at int16) {
	fits := fmt.Sprintf("fits%d_%d", n, i)
	a.emit(asm.LoadMem(asm.R2, asm.RFP, at+8, asm.DWord),
		asm.JLE.Reg(asm.R2, asm.R9, fits),
		asm.Mov.Reg(asm.R2, asm.R9))
	a.label("%s", fits)
	// R9 is a constant on every path here, so the verifier knows where the slot lies.
	a.emit(asm.Mov.Reg(asm.R3, asm.R9), asm.Mul.Imm(asm.R3, int32(i)),
		asm.Mov.Reg(asm.R1, asm.R7), asm.Add.Reg(asm.R1, asm.R3), asm.Add.Imm(asm.R1, int32(offBody+p.bodySize())),
		asm.LoadMem(asm.R3, asm.RFP, at, asm.DWord),
		asm.FnProbeReadUser.Call())
	a.failed(i)
}
