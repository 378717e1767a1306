package ccode

import "encoding/binary"

// NopLength returns how long an x86-64 instruction is that does nothing, 0 for others. It
// takes for one what insn_is_nop of the kernel's arch/x86/lib/insn.c does, and what clears the upper half of
// a register besides (LEA and MOV of 32 bits), which compilers do not pad with.
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
	rex := byte(0) // 1: B, 2: X, 4: R
	if n > 0 && code[n-1]&0xf0 == 0x40 {
		rex = code[n-1]
	}
	switch {
	case at(0) == 0x90 && rex&1 == 0: // else XCHG with R8
		return n + 1
	case at(0) == 0x0f && at(1) == 0x1f:
		return n + 2 + operandLength(at(2), at(3))
	case at(0) == 0x8d && sameAddress(code[n+1:], rex):
		return n + 1 + operandLength(at(1), at(2))
	case at(0) == 0x89 && at(1)>>6 == 3 && at(1)>>3&7 == at(1)&7 && rex>>2&1 == rex&1: // MOV of a register to itself
		return n + 2
	case at(0) == 0xeb && at(1) == 0: // JMP to what follows
		return n + 2
	case at(0) == 0xe9 && n+5 <= len(code) && binary.LittleEndian.Uint32(code[n+1:]) == 0:
		return n + 5
	}
	return 0
}

// sameAddress reports whether a LEA, of which these are the operands, loads a register with what it has: that
// register is the base, without an index, and nothing is added. Most of those with five bytes do not.
func sameAddress(operands []byte, rex byte) bool {
	var o [6]byte
	if n := copy(o[:], operands); n == 0 || n < operandLength(o[0], o[1]) {
		return false
	}
	mod, base, displacement := o[0]>>6, o[0]&7, o[1:operandLength(o[0], o[1])]
	if base == 4 && mod != 3 {
		if base = o[1] & 7; o[1]>>3&7 != 4 || rex&2 != 0 {
			return false
		}
		displacement = displacement[1:]
	}
	for _, b := range displacement {
		if b != 0 {
			return false
		}
	}
	return mod != 3 && (mod != 0 || base != 5) && base == o[0]>>3&7 && rex>>2&1 == rex&1
}
