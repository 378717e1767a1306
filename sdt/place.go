package sdt

import (
	"debug/elf"
	"errors"
	"fmt"
	"math"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// counterOffset is the file offset of a reference counter. The kernel raises it in the private
// writable mapping of the file that holds the offset (valid_ref_ctr_vma, kernel/events/uprobes.c)
// and refuses an odd one.
func counterOffset(im *elffile.Image, a Addr) (Offset, error) {
	s := im.SegmentAt(uint64(a))
	switch {
	case s == nil:
		return 0, errors.New("in no segment")
	case s.Flags&elf.PF_W == 0:
		return 0, errors.New("in a segment that is not writable")
	case s.Flags&elf.PF_X != 0:
		return 0, errors.New("in a segment that is executable")
	}
	off, ok := s.FileOffset(uint64(a), 2)
	switch {
	case !ok:
		return 0, errors.New("not in the file (.bss), where the kernel cannot count")
	case off%2 != 0:
		return 0, fmt.Errorf("not aligned to 2 bytes, at file offset %#x", off)
	}
	return Offset(off), nil
}

// rebase moves a link-time address along with .stapsdt.base: prelink moves sections but not
// notes, and that section's new address shows how far (SystemTap wiki,
// UserSpaceProbeImplementation; libbpf usdt.c, collect_usdt_targets).
func (r *siteReader) rebase(a Addr, n Note) Addr {
	if !r.hasBase || n.Base == 0 {
		return a
	}
	a += r.base - n.Base
	if r.im.Class == elf.ELFCLASS32 {
		a &= math.MaxUint32
	}
	return a
}
