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
	targets map[int]bool // offsets that one of its own jumps goes to
}

// decodeFunction decodes all of a function, nil when one instruction is not known: then
// nobody can tell where the others begin and where jumps go.
func decodeFunction(entry uint64, text []byte) *function {
	f := &function{entry: entry, text: text, index: make(map[int]int), targets: make(map[int]bool)}
	for at := 0; at < len(text); {
		in := instruction{at: at}
		if n := vexLength(text[at:]); n > 0 {
			in.Len, in.opaque = n, true
		} else {
			var err error
			if in.Inst, err = x86asm.Decode(text[at:], 64); err != nil || in.Len == 0 {
				return nil
			}
		}
		if in.end() > len(text) {
			return nil
		}
		f.index[at] = len(f.insts)
		f.insts = append(f.insts, in)
		at = in.end()
		if rel, ok := in.Args[0].(x86asm.Rel); ok && in.Op != x86asm.CALL {
			f.targets[at+int(rel)] = true
		}
	}
	return f
}

// vexLength returns the length of an instruction with a VEX prefix, which x86asm does not know,
// 0 for others. (Intel SDM volume 2, 2.3: VEX, opcode, ModRM, SIB, displacement, immediate.)
func vexLength(b []byte) int {
	var n int // of prefix and opcode
	var opcodes byte
	switch {
	case len(b) >= 3 && b[0] == 0xc5:
		n, opcodes = 3, 1
	case len(b) >= 4 && b[0] == 0xc4:
		n, opcodes = 4, b[1]&0x1f
	default:
		return 0
	}
	opcode := b[n-1]
	if opcodes < 1 || opcodes > 3 || len(b) <= n {
		return 0
	}
	if opcodes == 1 && opcode == 0x77 { // VZEROUPPER has no operands
		return n
	}
	modrm := b[n]
	n++
	mod, rm := modrm>>6, modrm&7
	if mod != 3 {
		if rm == 4 {
			if len(b) <= n {
				return 0
			}
			if sib := b[n]; mod == 0 && sib&7 == 5 {
				n += 4
			}
			n++
		} else if mod == 0 && rm == 5 {
			n += 4
		}
		switch mod {
		case 1:
			n++
		case 2:
			n += 4
		}
	}
	if opcodes == 3 || opcodes == 1 && (opcode >= 0x70 && opcode <= 0x73 || opcode == 0xc2 || opcode >= 0xc4 && opcode <= 0xc6) {
		n++
	}
	return n
}
