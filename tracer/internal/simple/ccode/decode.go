package ccode

import (
	"golang.org/x/arch/x86/x86asm"
)

// instruction is one of a function, as far as the flow of control goes.
type instruction struct {
	address uint64
	size    int
	falls   bool   // the next one may follow
	jumps   bool   // to target, or anywhere when that is 0
	target  uint64 // of a jump within the file
	loads   uint64 // an address that it computes: of a table of jumps, it may be
	prefix  byte   // one of those that the kernel takes no probe on, 0 for none
	code    []byte // of short ones
}

// decode reads the instruction at an address; size is 0 for what is none.
func decode(code []byte, address uint64) instruction {
	in, _, _ := decodeAll(code, address)
	return in
}

// decodeAll returns the operands too, unless x86asm does not know the instruction.
func decodeAll(code []byte, address uint64) (in instruction, inst x86asm.Inst, known bool) {
	in = instruction{address: address, falls: true, prefix: badPrefix(code)}
	skip := 0
	if in.prefix == 0x3e && len(code) > 1 && code[1] == 0xff {
		skip = 1 // NOTRACK, of jumps that CET lets go anywhere: x86asm does not know it
	}
	var padded [16 + 16]byte // x86asm reads on behind instructions that are cut off
	copy(padded[:16], code[skip:])
	inst, err := x86asm.Decode(padded[:], 64)
	if err != nil || skip+inst.Len > len(code) {
		in.size, _ = other(code)
		in.code = code[:in.size]
		return in, inst, false
	}
	inst.Len += skip
	in.size, in.code = inst.Len, code[:inst.Len]
	next := address + uint64(inst.Len)
	rel, isRel := inst.Args[0].(x86asm.Rel)
	switch {
	case inst.Op == x86asm.RET, inst.Op == x86asm.LRET, inst.Op == x86asm.UD1, inst.Op == x86asm.UD2, inst.Op == x86asm.HLT, inst.Op == x86asm.IRETQ:
		in.falls = false
	case inst.Op == x86asm.JMP:
		in.falls, in.jumps = false, true
		if isRel {
			in.target = next + uint64(int64(rel))
		} else if mem, ok := inst.Args[0].(x86asm.Mem); ok && mem.Base == 0 && mem.Index != 0 {
			in.loads = uint64(mem.Disp) // a table of addresses
		}
	case isRel && inst.Op != x86asm.CALL:
		in.jumps, in.target = true, next+uint64(int64(rel))
	case inst.Op == x86asm.LEA:
		if mem, ok := inst.Args[1].(x86asm.Mem); ok && mem.Base == x86asm.RIP {
			in.loads = next + uint64(mem.Disp)
		}
	}
	return in, inst, true
}

// other returns the length of an instruction that x86asm does not know, and the index of its ModRM
// byte: those with VEX and EVEX prefixes, and of the later opcodes behind 0F. None of them jumps.
// size is 0 for unknown instructions, and modrm is 0 for an instruction without that byte. Intel's
// manual, volume 2, 2.1 to 2.7 and appendix A.
func other(code []byte) (size, modrm int) {
	n := 0
	for n < len(code) && isPrefix(code[n]) {
		n++
	}
	at := func(i int) byte {
		if n+i < len(code) {
			return code[n+i]
		}
		return 0
	}
	space, opcode := 0, 0 // 1: 0F, 2: 0F 38, 3: 0F 3A
	switch {
	case at(0) == 0xc5:
		space, opcode = 1, 2
	case at(0) == 0xc4:
		space, opcode = int(at(1)&0x1f), 3
	case at(0) == 0x62:
		space, opcode = int(at(1)&0x07), 4
	case at(0) == 0x0f && at(1) == 0x38:
		space, opcode = 2, 2
	case at(0) == 0x0f && at(1) == 0x3a:
		space, opcode = 3, 2
	case at(0) == 0x0f:
		space, opcode = 1, 1
	default:
		return 0, 0
	}
	op := at(opcode)
	size = n + opcode + 1
	if space == 1 && op == 0x77 { // VZEROUPPER, EMMS
		return within(size, code), 0
	}
	modrm = size
	size += operandLength(at(opcode+1), at(opcode+2))
	if space == 3 || space == 1 && (op >= 0x70 && op <= 0x73 || op == 0xc2 || op >= 0xc4 && op <= 0xc6 || op == 0xa4 || op == 0xac || op == 0xba) {
		size++
	}
	return within(size, code), modrm
}

func within(size int, code []byte) int {
	if size > len(code) {
		return 0
	}
	return size
}

// badPrefix returns the prefix for which the kernel takes no probe on an instruction:
// is_prefix_bad, arch/x86/kernel/uprobes.c.
func badPrefix(code []byte) byte {
	for _, b := range code {
		switch {
		case b == 0xf0, b == 0x26, b == 0x2e, b == 0x36, b == 0x3e:
			return b
		case !isPrefix(b):
			return 0
		}
	}
	return 0
}

func isPrefix(b byte) bool {
	switch b {
	case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3:
		return true
	}
	return b&0xf0 == 0x40 // REX
}

// operandLength is how long ModRM, SIB and displacement are: Intel's manual, volume 2, 2.1.5.
func operandLength(modrm, sib byte) int {
	n, mod, rm := 1, modrm>>6, modrm&7
	if mod != 3 && rm == 4 {
		n++
		if mod == 0 && sib&7 == 5 {
			n += 4
		}
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && rm == 5:
		n += 4
	}
	return n
}

// Cost is what a probe on an instruction costs a hit.
type Cost uint8

const (
	Stepped  Cost = iota // executed out of line, with a trap behind it: some 9 µs
	Emulated             // done by the kernel, without executing it
	Refused              // the kernel takes no probe there
)

func (c Cost) String() string { return [...]string{"single-stepped", "emulated", "refused"}[c] }

// cost is what arch/x86/kernel/uprobes.c does with an instruction: branch_setup_xol_ops and
// push_setup_xol_ops.
func (in *instruction) cost() Cost {
	c := in.code
	switch {
	case in.prefix != 0:
		return Refused
	case len(c) == 0:
		return Stepped
	case isNop(c) && len(c) != 6 && len(c) != 7 && len(c) < 9:
		return Emulated
	case c[0]&0xf8 == 0x50, len(c) == 2 && c[0] == 0x41 && c[1]&0xf8 == 0x50: // PUSH
		return Emulated
	case c[0] == 0xeb, c[0] == 0xe9, c[0] == 0xe8, c[0]&0xf0 == 0x70, c[0] == 0x0f && len(c) > 1 && c[1]&0xf0 == 0x80:
		return Emulated
	}
	return Stepped
}

// isNop reports whether an instruction is one of those that compilers pad with.
func isNop(c []byte) bool {
	n := 0
	for n < len(c) && isPrefix(c[n]) && c[n] != 0xf3 && c[n]&0xf1 != 0x41 { // PAUSE, and XCHG with R8
		n++
	}
	return n+1 == len(c) && c[n] == 0x90 || n+2 < len(c) && c[n] == 0x0f && c[n+1] == 0x1f
}
