package bpf

import (
	"fmt"
	"slices"

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
		a.readText(stackPair, to+8, KeyText, fmt.Sprintf("text%d", i))
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
		if k[i].Source == Absent {
			bits |= 1 << i
		}
	}
	return bits
}

func (k Key) mayFault() bool {
	return slices.ContainsFunc(k, func(p Part) bool { return p.mayFault() })
}

// keyArg points a register to the key.
func (a *keyProgram) keyArg(r asm.Register) {
	a.emit(asm.Mov.Reg(r, asm.RFP), asm.Add.Imm(r, int32(a.key())))
}

// keyUnits groups the sites by their keys, each group with a program of its own.
func keyUnits(files []File, name string, assemble func(s *Site, m Mode, cookie *uint64) asm.Instructions) []unit {
	g := unitsBy{name: name}
	for i := range files {
		for j := range files[i].Sites {
			s := &files[i].Sites[j]
			g.add(place(files, i, j, uint64(s.Index)), fmt.Sprint(s.End, s.Key)+s.Where.key(), s.mayFault(),
				func(m Mode, cookie *uint64) asm.Instructions { return assemble(s, m, cookie) })
		}
	}
	return g.units
}

// mayFault reports whether a program with a key reads memory that need not be present.
func (s *Site) mayFault() bool { return s.Key.mayFault() || s.Where != nil }

// keyMap is a map whose keys have a layout.
type keyMap struct {
	*ebpf.Map
	layout keyLayout
	reader mapReader
}

// keyMap returns the first known map that the keys of all sites fit into, or else a new one.
func (c *collection) keyMap(known []*keyMap, files []File, spec *ebpf.MapSpec) (*keyMap, error) {
	var keys []Key
	for i := range files {
		for j := range files[i].Sites {
			keys = append(keys, files[i].Sites[j].Key)
		}
	}
	layout, err := layoutOf(keys)
	if err != nil {
		return nil, err
	}
	for _, m := range known {
		if m.layout.holds(layout) {
			return m, nil
		}
	}
	spec.KeySize = uint32(layout.size)
	m, err := c.newMap(fmt.Sprintf("a table of %d keys of %d bytes", spec.MaxEntries, layout.size), spec)
	return &keyMap{Map: m, layout: layout}, err
}

// keep adds a map unless it is known.
func keep(known []*keyMap, m *keyMap) []*keyMap {
	if slices.Contains(known, m) {
		return known
	}
	return append(known, m)
}

// withKey returns a program that starts with R6 and R8 as they are documented, for hits that count;
// those of which the condition does not hold go elsewhere.
func (base traceProgram) withKey(keys *keyMap, s *Site, m Mode, otherwise string) *keyProgram {
	a := keyProgram{base, keys.layout}
	a.sleepable = m == Multi && s.mayFault()
	a.emit(asm.Mov.Reg(asm.R6, asm.R1))
	a.emit(a.filter...)
	a.where(s.Where, otherwise)
	return &a
}
