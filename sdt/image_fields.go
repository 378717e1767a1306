package sdt

import (
	"debug/elf"
	"encoding/binary"
)

// The layouts are those of the gABI, chapters 4 (sections) and 5 (program headers); class 32 has
// a segment's flags in another place.

func (im *image) decodeSegment(b []byte) (s segment) {
	f := fields{b, im.order, im.class}
	s.kind = elf.ProgType(f.word())
	if im.class == elf.ELFCLASS64 {
		s.flags = elf.ProgFlag(f.word())
	}
	s.offset, s.addr, _, s.fileSize, s.memSize = f.addr(), f.addr(), f.addr(), f.addr(), f.addr()
	if im.class == elf.ELFCLASS32 {
		s.flags = elf.ProgFlag(f.word())
	}
	s.align = f.addr()
	return s
}

func (im *image) decodeSection(b []byte) (s section, info uint32) {
	f := fields{b, im.order, im.class}
	s.name, s.kind, s.flags = f.word(), elf.SectionType(f.word()), elf.SectionFlag(f.addr())
	s.addr, s.offset, s.size, s.link = f.addr(), f.addr(), f.addr(), f.word()
	return s, f.word()
}

// fields takes one field after the other off a header that is long enough.
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
