package link

import "golang.org/x/arch/x86/x86asm"

// instruction is one decoded instruction of a function.
type instruction struct {
	x86asm.Inst
	at int // offset in the function

	// opaque is an instruction of which only the length is known: one of the VEX forms, of
	// which none jumps. It may read and write anything.
	opaque bool
}

func (i *instruction) end() int { return i.at + i.Len }

// function is a function decoded from its first byte to its last.
type function struct {
	entry   uint64
	text    []byte
	insts   []instruction
	index   map[int]int  // offset → index in insts
	targets map[int]bool // offsets that one of its own jumps goes to, or a pointer that it makes

	// byHand tells functions written in assembly from those that the compiler made: they keep
	// to no convention about what survives a call.
	byHand func(addr uint64) bool
}

// decodeFunction decodes all of a function, nil when one instruction is not known: then
// nobody can tell where the others begin and where jumps go.
func decodeFunction(entry uint64, text []byte) *function {
	f := &function{entry: entry, text: text, index: make(map[int]int), targets: make(map[int]bool)}
	f.byHand = func(uint64) bool { return true }
	for at := 0; at < len(text); {
		in, ok := decode(text[at:])
		in.at = at
		if !ok || in.end() > len(text) {
			return nil
		}
		f.index[at] = len(f.insts)
		f.insts = append(f.insts, in)
		at = in.end()
		if rel, ok := in.Args[0].(x86asm.Rel); ok {
			f.targets[at+int(rel)] = true
		}
		if to, ok := pcRelative(&in.Inst, entry+uint64(in.at)); ok && in.Op == x86asm.LEA && to-entry < uint64(len(text)) {
			f.targets[int(to-entry)] = true
		}
	}
	return f
}

// decode decodes one instruction, if all that matters of it is known: its length, and where it
// may go on.
func decode(b []byte) (in instruction, ok bool) {
	switch b[0] {
	case 0xc4, 0xc5:
		in.Len, in.opaque = vexLength(b), true
		return in, in.Len > 0
	case 0x62: // EVEX, of which x86asm knows some
		return in, false
	}
	var err error
	// A prefix with nothing that it knows behind is an instruction without a name to x86asm.
	if in.Inst, err = x86asm.Decode(b, 64); err != nil || in.Len == 0 || in.Op == 0 || strange[in.Op] {
		return in, false
	}
	_, jump := in.Args[0].(x86asm.Rel)
	for _, p := range in.Prefix {
		switch byte(p) {
		case 0xc4, 0xc5, 0x62: // behind another prefix
			return in, false
		case 0x66: // a distance of 16 bits to AMD, of 32 to Intel
			if jump {
				return in, false
			}
		}
	}
	return in, true
}

// strange are instructions that go on elsewhere in ways of their own. No compiler makes them.
var strange = ops(
	x86asm.LCALL, x86asm.LJMP, x86asm.LRET, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.INTO, x86asm.ICEBP, x86asm.RSM,
	x86asm.SYSEXIT, x86asm.SYSRET, x86asm.SYSENTER, x86asm.XBEGIN, x86asm.XEND, x86asm.XABORT,
)
