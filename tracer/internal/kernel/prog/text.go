package prog

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

// pair is where on the stack the pointer and the length of string i are: in the record, or
// below all values where locate puts them.
func (p *Plan) pair(i int, gather int16) int16 {
	if p.Record > 0 {
		return gather + int16(p.Strings[i])
	}
	return gather - int16(16*(i+1))
}

// reserveStrings reserves an event with the smallest slots that hold all its strings, and
// leaves the size of one in R9. gather is where the record or the values are on the stack.
func (a *program) reserveStrings(n int, p *Plan, gather int16) {
	limit := a.MaxString
	if len(p.Texts) > 0 {
		limit += 2 // one byte tells that there is more, and a NUL follows it
	}
	sizes := slots(limit)
	a.locate(n, p, gather)
	if a.Sleepable {
		for i := range p.strings() {
			a.touch(fmt.Sprintf("touched%d_%d", n, i), p.pair(i, gather), sizes[len(sizes)-1])
		}
	}
	// The lengths or'ed are below a power of two if and only if each of them is.
	a.emit(asm.Mov.Imm(asm.R9, 0))
	for i := range p.strings() {
		a.emit(asm.LoadMem(asm.R1, asm.RFP, p.pair(i, gather)+8, asm.DWord), asm.Or.Reg(asm.R9, asm.R1))
	}
	for _, size := range sizes[:len(sizes)-1] {
		a.emit(asm.JLT.Imm(asm.R9, int32(size), fmt.Sprintf("slot%d_%d", n, size)))
	}
	for i := len(sizes) - 1; i >= 0; i-- {
		if i < len(sizes)-1 {
			a.label("slot%d_%d", n, sizes[i])
		}
		a.emit(asm.Mov.Imm(asm.R9, int32(sizes[i])))
		a.reserve(offBody + p.bodySize() + p.strings()*sizes[i])
		a.emit(asm.Ja.Label(fmt.Sprintf("fill%d", n)))
	}
	a.label("fill%d", n)
	a.emit(asm.StoreMem(asm.R7, offSlot, asm.R9, asm.Word))
}

// measured is how much of a string that a NUL ends is read to see how long it is: enough to tell
// the sizes of slots from each other that most strings need.
const measured = 64

// locate puts the pointers and lengths of texts where pair says.
func (a *program) locate(n int, p *Plan, gather int16) {
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
func (a *program) readText(pointer, buffer int16, size int, done string) {
	read := func() {
		a.emit(asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(buffer)), asm.Mov.Imm(asm.R2, int32(size)),
			asm.LoadMem(asm.R3, asm.RFP, pointer, asm.DWord), asm.FnProbeReadUserStr.Call())
	}
	read()
	if !a.Sleepable {
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

// touch faults in the pages of the first limit bytes of a string, two at most. Text that the
// program itself has not read yet, as that of a literal, need not be in memory.
func (a *program) touch(done string, at int16, limit int) {
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

// text copies string i into its slot.
func (a *program) text(n, i int, p *Plan, gather int16) {
	at, read := p.pair(i, gather), asm.FnProbeReadUser
	if len(p.Texts) > 0 && p.Texts[i].terminated() {
		read = asm.FnProbeReadUserStr
	}
	fits := fmt.Sprintf("fits%d_%d", n, i)
	if read == asm.FnProbeReadUserStr {
		a.emit(asm.Mov.Reg(asm.R2, asm.R9)) // it ends at the NUL, wherever that is by now
	} else {
		a.emit(asm.LoadMem(asm.R2, asm.RFP, at+8, asm.DWord),
			asm.JLE.Reg(asm.R2, asm.R9, fits),
			asm.Mov.Reg(asm.R2, asm.R9))
		a.label("%s", fits)
	}
	// R9 is a constant on every path here, so the verifier knows where the slot lies.
	a.emit(asm.Mov.Reg(asm.R3, asm.R9), asm.Mul.Imm(asm.R3, int32(i)),
		asm.Mov.Reg(asm.R1, asm.R7), asm.Add.Reg(asm.R1, asm.R3), asm.Add.Imm(asm.R1, int32(offBody+p.bodySize())),
		asm.LoadMem(asm.R3, asm.RFP, at, asm.DWord),
		read.Call())
	a.failed(p.textBit(i))
}
