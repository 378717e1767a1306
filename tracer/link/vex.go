package link

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
