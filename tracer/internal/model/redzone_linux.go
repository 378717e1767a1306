package model

import (
	"fmt"
	"io"

	"github.com/waymark-trace/waymark/internal/feature"
	"github.com/waymark-trace/waymark/internal/place"
	"github.com/waymark-trace/waymark/sdt"
)

// KeepRedZone is true but in tests of what else the kernel makes of such sites.
var KeepRedZone = true

// CheckRedZone says of a site that a probe does harm there. Linux 6.18 to 7.1 replace a probed nop
// of five bytes by a call of a trampoline that pushes registers (ba2bfc97b462, "uprobes/x86: Add
// support to optimize uprobes"): 32 bytes below the stack pointer, which the System V ABI
// (AMD64 supplement, 3.2.2) leaves to functions that call no others. 554ba38456da ("uprobes/x86: Move
// optimized uprobe from nop5 to nop10") is the correction. Go has no red zone, and what linked
// Go programs probe is a stub that is called.
func CheckRedZone(m *Marker, site int, file io.ReaderAt) error {
	if !KeepRedZone || m.goCode || site < len(m.records) && m.records[site] != nil {
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
	if place.NopLength(code[:n]) != nop5Size {
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
