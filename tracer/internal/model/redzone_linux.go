package model

import (
	"fmt"
	"io"

	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/feature"
	"github.com/waymark-trace/waymark/tracer/internal/simple/ccode"
)

// KeepRedZone makes RedZone refuse sites. Only tests of the kernel's behavior at such sites clear it.
var KeepRedZone = true

// RedZone checks the sites of one open file. Linux 6.18 to 7.1 replace a probed nop of five bytes by a call
// of a trampoline that pushes registers (ba2bfc97b462, "uprobes/x86: Add support to optimize uprobes"): they
// write 32 bytes below the stack pointer, which may be in use: see ccode.RedZones. 554ba38456da
// ("uprobes/x86: Move optimized uprobe from nop5 to nop10") is the correction. Go has no red zone, and the
// probe of a linked Go program is on a stub that is called.
type RedZone struct {
	file      io.ReaderAt
	functions *ccode.RedZones // nil until a site needs them
}

// NewRedZone returns the check of a file, which must stay open until Close.
func NewRedZone(file io.ReaderAt) *RedZone { return &RedZone{file: file} }

// Close frees what was read of the file.
func (z *RedZone) Close() {
	if z.functions != nil {
		z.functions.Close()
	}
}

// Check returns an ErrRedZone if a probe on a site of m may overwrite variables.
func (z *RedZone) Check(m *Marker, site int) error {
	if m.goCode || site < len(m.records) && m.records[site] != nil {
		return nil
	}
	return z.check(&m.Sites[site])
}

func (z *RedZone) check(s *sdt.Site) error {
	if !KeepRedZone {
		return nil
	}
	if g, err := feature.UprobeGeneration(); err != nil || g != feature.Nop5 {
		return nil
	}
	const page = 4096
	if uint64(s.Address)%page > page-nop5Size {
		return nil // can_optimize leaves those that cross a page alone
	}
	code := make([]byte, maxInstruction)
	n, _ := z.file.ReadAt(code, int64(s.Offset))
	if ccode.NopLength(code[:n]) != nop5Size {
		return nil
	}
	if z.functions == nil {
		z.functions = ccode.NewRedZones(z.file)
	}
	if err := z.functions.Check(uint64(s.Address)); err != nil {
		return fmt.Errorf("%w: at the nop of 5 bytes (% x), Linux 6.18 to 7.1 write below the stack pointer, and %w", ErrRedZone, code[:nop5Size], err)
	}
	return nil
}

const (
	nop5Size       = 5
	maxInstruction = 15
)
