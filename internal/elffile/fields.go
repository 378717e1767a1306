package elffile

import (
	"debug/elf"
	"encoding/binary"
)

// The layouts are those of the gABI, chapters 4 (sections) and 5 (program headers). The two classes
// differ in the position of a segment's flags.

func (im *Image) decodeSegment(b []byte) (s Segment) {
	f := fields{b, im.Order, im.Class}
	s.Type = elf.ProgType(f.word())
	if im.Class == elf.ELFCLASS64 {
		s.Flags = elf.ProgFlag(f.word())
	}
	s.Offset, s.Addr, _, s.FileSize, s.MemSize = f.addr(), f.addr(), f.addr(), f.addr(), f.addr()
	if im.Class == elf.ELFCLASS32 {
		s.Flags = elf.ProgFlag(f.word())
	}
	s.Align = f.addr()
	return s
}

func (im *Image) decodeSection(b []byte) (s Section) {
	f := fields{b, im.Order, im.Class}
	s.name, s.Type, s.Flags = f.word(), elf.SectionType(f.word()), elf.SectionFlag(f.addr())
	s.Addr, s.Offset, s.Size, s.Link, s.info = f.addr(), f.addr(), f.addr(), f.word(), f.word()
	return s
}

// fields decodes a header field by field. The header must be long enough.
type fields struct {
	b     []byte
	order binary.ByteOrder
	class elf.Class
}

func (f *fields) half() uint16 {
	v := f.order.Uint16(f.b)
	f.b = f.b[2:]
	return v
}

func (f *fields) word() uint32 {
	v := f.order.Uint32(f.b)
	f.b = f.b[4:]
	return v
}

// addr is an address, an offset or a size: a word as wide as the class.
func (f *fields) addr() uint64 {
	if f.class == elf.ELFCLASS32 {
		return uint64(f.word())
	}
	v := f.order.Uint64(f.b)
	f.b = f.b[8:]
	return v
}
