package place

import "encoding/binary"

// NopLength returns how long an x86-64 instruction is that does nothing, 0 for others. It
// takes for one what insn_is_nop of the kernel's arch/x86/lib/insn.c does, and a LEA that may
// do something.
func NopLength(code []byte) int {
	n := 0
	for n < len(code) && isPrefix(code[n]) {
		n++
	}
	at := func(i int) byte {
		if n+i < len(code) {
			return code[n+i]
		}
		return 0xcc
	}
	switch {
	case at(0) == 0x90:
		return n + 1
	case at(0) == 0x0f && at(1) == 0x1f:
		return n + 2 + operandLength(at(2), at(3))
	case at(0) == 0x8d: // LEA
		return n + 1 + operandLength(at(1), at(2))
	case at(0) == 0x89 && at(1)>>6 == 3 && at(1)>>3&7 == at(1)&7: // MOV of a register to itself
		return n + 2
	case at(0) == 0xeb && at(1) == 0: // JMP to what follows
		return n + 2
	case at(0) == 0xe9 && n+5 <= len(code) && binary.LittleEndian.Uint32(code[n+1:]) == 0:
		return n + 5
	}
	return 0
}
