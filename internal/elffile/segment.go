package elffile

import (
	"debug/elf"
	"errors"
	"math"
)

// Segment is one program header.
type Segment struct {
	Type             elf.ProgType
	Flags            elf.ProgFlag
	Offset, FileSize uint64
	Addr, MemSize    uint64
	Align            uint64
}

// SegmentAt returns the first loaded segment that contains an address, or nil. The kernel and
// libbpf search in the same order.
func (im *Image) SegmentAt(addr uint64) *Segment {
	for i := range im.Segments {
		if s := &im.Segments[i]; s.Type == elf.PT_LOAD && addr >= s.Addr && addr-s.Addr < s.MemSize {
			return s
		}
	}
	return nil
}

// FileOffset returns the file offset of an address in the segment. It returns false unless all size
// bytes are in the file.
func (s *Segment) FileOffset(addr, size uint64) (uint64, bool) {
	within := addr - s.Addr
	if within >= s.FileSize || s.FileSize-within < size {
		return 0, false
	}
	off := s.Offset + within
	if off < within || off > math.MaxInt64-size {
		return 0, false
	}
	return off, true
}

// CodeOffset returns the file offset of an instruction, which must be in an executable segment.
func (im *Image) CodeOffset(addr uint64) (uint64, error) {
	s := im.SegmentAt(addr)
	switch {
	case s == nil:
		return 0, errors.New("in no segment")
	case s.Flags&elf.PF_X == 0:
		return 0, errors.New("in a segment that is not executable")
	}
	off, ok := s.FileOffset(addr, 1)
	if !ok {
		return 0, errors.New("not in the file")
	}
	return off, nil
}
