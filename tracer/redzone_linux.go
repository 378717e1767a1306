package tracer

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/waymark-trace/waymark/internal/feature"
	"github.com/waymark-trace/waymark/sdt"
)

// keepRedZone is true but in tests of what else the kernel makes of such sites.
var keepRedZone = true

// checkRedZone says of a site that a probe does harm there. Linux 6.18 to 7.1 replace a probed nop
// of five bytes by a call of a trampoline that pushes registers (ba2bfc97b462, "uprobes/x86: Add
// support to optimize uprobes"): 32 bytes below the stack pointer, which the System V ABI
// (AMD64 supplement, 3.2.2) leaves to functions that call no others. 554ba38456da ("uprobes/x86: Move
// optimized uprobe from nop5 to nop10") is the correction. Go has no red zone, and what linked
// Go programs probe is a stub that is called.
func checkRedZone(m *Marker, site int, file io.ReaderAt) error {
	if !keepRedZone || m.goCode || site < len(m.records) && m.records[site] != nil {
		return nil
	}
	code, harm := redZone(&m.Sites[site], file)
	if !harm {
		return nil
	}
	return redZoneError(code)
}

// redZone reports whether a probe does that harm, and returns the instruction.
func redZone(s *sdt.Site, file io.ReaderAt) (code []byte, harm bool) {
	if g, err := feature.UprobeGeneration(); err != nil || g != feature.Nop5 {
		return nil, false
	}
	const page = 4096
	if uint64(s.Address)%page > page-nop5Size {
		return nil, false // can_optimize leaves those that cross a page alone
	}
	code = make([]byte, maxInstruction)
	n, _ := file.ReadAt(code, int64(s.Offset))
	if nopLength(code[:n]) != nop5Size {
		return nil, false
	}
	return code[:nop5Size], true
}

func redZoneError(code []byte) error {
	return fmt.Errorf("%w: the instruction is a nop of 5 bytes (% x), for which this kernel, as all from Linux 6.18 to 7.1, writes below the stack pointer", ErrRedZone, code)
}

const (
	nop5Size       = 5
	maxInstruction = 15
)

// nopLength returns how long an x86-64 instruction is that does nothing, 0 for others. It
// takes for one what insn_is_nop of the kernel's arch/x86/lib/insn.c does, and a LEA that may
// do something.
func nopLength(code []byte) int {
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
