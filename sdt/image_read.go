package sdt

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math"
)

type section struct {
	name         uint32
	kind         elf.SectionType
	flags        elf.SectionFlag
	addr         uint64
	offset, size uint64
	link         uint32
}

// firstOf returns the first section of a kind.
func (im *image) firstOf(kind elf.SectionType) (section, bool) {
	for i := uint32(0); ; i++ {
		if s, ok := im.section(i); !ok || s.kind == kind {
			return s, ok
		}
	}
}

// section returns the section of an index; false past the last.
func (im *image) section(i uint32) (section, bool) {
	_, _, each := im.headerSizes()
	at := uint64(i) * each
	if at >= uint64(len(im.sections)) {
		return section{}, false
	}
	s, _ := im.decodeSection(im.sections[at:])
	return s, true
}

func (im *image) hasName(s section, name string) bool {
	if uint64(s.name) >= uint64(len(im.names)) {
		return false
	}
	rest, ok := bytes.CutPrefix(im.names[s.name:], []byte(name))
	return ok && len(rest) > 0 && rest[0] == 0
}

// sectionData reads a section of at most limit bytes.
func (im *image) sectionData(s section, limit uint64) ([]byte, error) {
	switch {
	case s.kind == elf.SHT_NOBITS:
		return nil, errors.New("section without bytes in the file")
	case s.flags&elf.SHF_COMPRESSED != 0:
		return nil, errors.New("compressed section, not supported")
	case s.size > limit:
		return nil, fmt.Errorf("section of %d bytes: more than %d", s.size, limit)
	}
	return im.read(s.offset, s.size)
}

// read returns size bytes at offset. The callers bound size; still no more memory is taken
// than the file turns out to hold, within a chunk.
func (im *image) read(offset, size uint64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	if end := offset + size; end >= offset && end <= uint64(len(im.head)) {
		return im.head[offset:end:end], nil
	}
	if offset > math.MaxInt64 || size > math.MaxInt64-offset {
		return nil, fmt.Errorf("%#x bytes at offset %#x: beyond any file", size, offset)
	}
	const chunk = 1 << 20
	var data []byte
	for size > 0 {
		n := int(min(size, max(chunk, uint64(len(data))))) // doubles
		part := append(data, make([]byte, n)...)
		got, err := im.r.ReadAt(part[len(data):], int64(offset))
		if got < n {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		data, offset, size = part, offset+uint64(n), size-uint64(n)
	}
	return data, nil
}
