package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Registers of a program with a key: R6 the saved registers of the target, R8 the failed
// parts; R7 and R9 are for what is done with the key. The stack, below traceProgram's scratch:
const (
	stackPair = -48 // a string's pointer and length
	stackKey  = -48 // the key lies below
)

// keyProgram generates programs that make a key and do something with it.
type keyProgram struct {
	traceProgram
	layout keyLayout
}

// key is where the key lies on the stack.
func (a *keyProgram) key() int16 { return stackKey - int16(a.layout.size) }

// makeKey fills in the parts of the key. Its head, the first 8 bytes, is the caller's.
func (a *keyProgram) makeKey(k Key) {
	a.emit(asm.Mov.Imm(asm.R8, 0))
	for at := offKeyParts; at < a.layout.size; at += 8 {
		a.emit(asm.StoreMem(asm.RFP, a.key()+int16(at), asm.R8, asm.DWord))
	}
	for i := range k {
		a.part(i, &k[i], a.key()+a.layout.at[i])
	}
}

// part stores part i at the stack's to.
func (a *keyProgram) part(i int, p *Part, to int16) {
	switch p.Kind {
	case PartAbsent:
		return
	case PartText:
		a.address(p.Value)
		a.read(stackPair, 16)
		a.failed(i)
		a.keyText(i, to)
		return
	case PartPointed:
		a.keyPointed(i, &p.Text, to)
		return
	case PartComm:
		a.emit(asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(to)), asm.Mov.Imm(asm.R2, commSize),
			asm.FnGetCurrentComm.Call())
		return
	case PartConstant:
		a.emit(asm.LoadImm(asm.R0, int64(p.Constant), asm.DWord))
	case PartValue:
		a.number(i, p)
	case PartPID:
		a.process()
		a.emit(asm.RSh.Imm(asm.R0, 32))
	case PartTID:
		a.process()
		a.emit(asm.LSh.Imm(asm.R0, 32), asm.RSh.Imm(asm.R0, 32))
	case PartCPU:
		a.emit(asm.FnGetSmpProcessorId.Call())
	case PartGoroutine:
		a.emit(asm.LoadMem(asm.R3, asm.R6, a.g, asm.DWord), asm.Add.Imm(asm.R3, int32(p.Goid)))
		a.read(stackScratch, 8)
		a.failed(i)
		a.emit(asm.LoadMem(asm.R0, asm.RFP, stackScratch, asm.DWord))
	}
	a.emit(asm.StoreMem(asm.RFP, to, asm.R0, asm.DWord))
}

// number leaves a value in R0, extended to 64 bits: sites may hold the same number in
// different sizes.
func (a *keyProgram) number(i int, p *Part) {
	v := p.Value
	size := int(v.Size)
	if v.Kind == FromRegister {
		a.emit(asm.LoadMem(asm.R0, asm.R6, v.Base, asm.DWord))
		if p.Shift > 0 {
			a.emit(asm.RSh.Imm(asm.R0, int32(p.Shift)))
		}
	} else {
		a.address(v)
		a.read(stackScratch, size)
		a.failed(i)
		a.emit(asm.LoadMem(asm.R0, asm.RFP, stackScratch, wordAt(size)))
	}
	if unused := int32(64 - 8*size); unused > 0 {
		right := asm.RSh
		if p.Signed {
			right = asm.ArSh
		}
		a.emit(asm.LSh.Imm(asm.R0, unused), right.Imm(asm.R0, unused))
	}
}

// keyPointed stores text that an operand points to.
func (a *keyProgram) keyPointed(i int, t *Text, to int16) {
	a.traceProgram.number(t.Pointer, "") // what cannot be read points nowhere
	a.emit(asm.StoreMem(asm.RFP, stackPair, asm.R0, asm.DWord))
	if !t.terminated() {
		a.traceProgram.number(t.Length, "")
		a.emit(asm.StoreMem(asm.RFP, stackPair+8, asm.R0, asm.DWord))
		a.keyText(i, to)
		return
	}
	a.readText(stackPair, to+8, KeyText, fmt.Sprintf("text%d", i))
	// Without the NUL it is a byte shorter, unless the NUL is one that the limit put there.
	a.emit(asm.Mov.Reg(asm.R1, asm.R0), asm.RSh.Imm(asm.R1, 6), asm.And.Imm(asm.R1, 1),
		asm.Add.Reg(asm.R1, asm.R0), asm.Sub.Imm(asm.R1, 1), asm.StoreMem(asm.RFP, to, asm.R1, asm.DWord))
	a.failed(i)
}

// keyText stores the length and the first bytes of the string whose pointer and length are on the stack.
func (a *keyProgram) keyText(i int, to int16) {
	a.emit(asm.LoadMem(asm.R2, asm.RFP, stackPair+8, asm.DWord), asm.StoreMem(asm.RFP, to, asm.R2, asm.DWord))
	fits := fmt.Sprintf("fits%d", i)
	a.emit(asm.JLE.Imm(asm.R2, KeyText, fits), asm.Mov.Imm(asm.R2, KeyText))
	a.label("%s", fits)
	a.emit(asm.LoadMem(asm.R3, asm.RFP, stackPair, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(to)+8), a.copier().Call())
	a.failed(i)
}

// absent returns the bits of the parts that a site does not have.
func (k Key) absent() (bits int64) {
	for i := range k {
		if k[i].Kind == PartAbsent {
			bits |= 1 << i
		}
	}
	return bits
}

// mayFault reports whether making the key reads memory that need not be present: what a
// program has just written is, text of a literal or a variable of the program need not be.
func (k Key) mayFault() bool {
	for i := range k {
		if k[i].Kind == PartText || k[i].Kind == PartPointed || k[i].Kind == PartValue && k[i].Value.Kind == FromMemory {
			return true
		}
	}
	return false
}

// keyArg points a register to the key.
func (a *keyProgram) keyArg(r asm.Register) {
	a.emit(asm.Mov.Reg(r, asm.RFP), asm.Add.Imm(r, int32(a.key())))
}

// keyUnits groups the sites by their keys, each group with a program of its own.
func keyUnits(files []File, name string, assemble func(s *Site, m Mode, cookie *uint64) asm.Instructions) []unit {
	var units []unit
	known := map[string]int{}
	for i := range files {
		for j := range files[i].Sites {
			s := &files[i].Sites[j]
			same := fmt.Sprint(s.End, s.Key) + s.Where.key()
			u, ok := known[same]
			if !ok {
				u = len(units)
				known[same] = u
				units = append(units, unit{name: name, sleepable: s.Key.mayFault() || s.Where != nil,
					assemble: func(m Mode, cookie *uint64) asm.Instructions { return assemble(s, m, cookie) }})
			}
			units[u].sites = append(units[u].sites, place(files, i, j, uint64(s.Index)))
		}
	}
	return units
}

// newKeyProgram returns what programs for the sites' keys have in common.
// patterns may be nil.
func newKeyProgram(files []File, patterns *ebpf.Map, o Options) (keyProgram, error) {
	var keys []Key
	for i := range files {
		for j := range files[i].Sites {
			keys = append(keys, files[i].Sites[j].Key)
		}
	}
	layout, err := layoutOf(keys)
	if err != nil {
		return keyProgram{}, err
	}
	base, err := newProgram(patterns, o)
	return keyProgram{base, layout}, err
}

// begin returns a program that starts with R6 and R8 as they are documented, for hits that count;
// those of which the condition does not hold go elsewhere.
func (a keyProgram) begin(s *Site, m Mode, otherwise string) *keyProgram {
	a.ins, a.next = nil, ""
	a.sleepable = m == Multi && (s.Key.mayFault() || s.Where != nil)
	a.emit(asm.Mov.Reg(asm.R6, asm.R1))
	a.emit(a.filter...)
	a.where(s.Where, otherwise)
	return &a
}
