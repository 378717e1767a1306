package sdt

import (
	"debug/elf"
	"errors"
	"fmt"
	"math"
)

// codeOffset is the file offset of an instruction: in an executable segment, and in the file.
func (im *image) codeOffset(a Addr) (Offset, error) {
	s, ok := im.segmentAt(a)
	switch {
	case !ok:
		return 0, errors.New("in no segment")
	case s.flags&elf.PF_X == 0:
		return 0, errors.New("in a segment that is not executable")
	}
	off, ok := s.fileOffset(a, 1)
	if !ok {
		return 0, errors.New("not in the file")
	}
	return off, nil
}

// counterOffset is the file offset of a reference counter. The kernel raises it in the private
// writable mapping of the file that holds the offset (valid_ref_ctr_vma, kernel/events/uprobes.c)
// and refuses an odd one.
func (im *image) counterOffset(a Addr) (Offset, error) {
	s, ok := im.segmentAt(a)
	switch {
	case !ok:
		return 0, errors.New("in no segment")
	case s.flags&elf.PF_W == 0:
		return 0, errors.New("in a segment that is not writable")
	case s.flags&elf.PF_X != 0:
		return 0, errors.New("in a segment that is executable")
	}
	off, ok := s.fileOffset(a, 2)
	switch {
	case !ok:
		return 0, errors.New("not in the file (.bss), where the kernel cannot count")
	case off%2 != 0:
		return 0, fmt.Errorf("not aligned to 2 bytes, at file offset %#x", uint64(off))
	}
	return off, nil
}

// segmentAt is the first loaded segment that holds the address, as the kernel and libbpf look.
func (im *image) segmentAt(a Addr) (segment, bool) {
	for _, s := range im.segments {
		if s.kind == elf.PT_LOAD && uint64(a) >= s.addr && uint64(a)-s.addr < s.memSize {
			return s, true
		}
	}
	return segment{}, false
}

// fileOffset converts an address within the segment; false unless all of size bytes are in the file.
func (s segment) fileOffset(a Addr, size uint64) (Offset, bool) {
	within := uint64(a) - s.addr
	if within >= s.fileSize || s.fileSize-within < size {
		return 0, false
	}
	off := s.offset + within
	if off < within || off > math.MaxInt64-size {
		return 0, false
	}
	return Offset(off), true
}

// rebase moves a link-time address along with .stapsdt.base: prelink moves sections but not
// notes, and that section's new address tells how far (SystemTap wiki,
// UserSpaceProbeImplementation; libbpf usdt.c, collect_usdt_targets).
func (im *image) rebase(a Addr, n Note, base Addr, hasBase bool) Addr {
	if !hasBase || n.Base == 0 {
		return a
	}
	a += base - n.Base
	if im.class == elf.ELFCLASS32 {
		a &= math.MaxUint32
	}
	return a
}
