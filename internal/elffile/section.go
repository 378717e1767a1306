package elffile

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math"
)

// Section is one section header.
type Section struct {
	Type         elf.SectionType
	Flags        elf.SectionFlag
	Addr         uint64
	Offset, Size uint64
	Link         uint32
	info, name   uint32
}

// maxName is the length of the longest section name that Name returns, in bytes.
const maxName = 256

// Name returns the name of a section, or "" if it has none or one of more than 256 bytes.
func (im *Image) Name(s *Section) string {
	if uint64(s.name) >= uint64(len(im.names)) {
		return ""
	}
	name := im.names[s.name:]
	if end := bytes.IndexByte(name[:min(len(name), maxName)], 0); end > 0 {
		return string(name[:end])
	}
	return ""
}

// HasName reports whether a section has the given name.
func (im *Image) HasName(s *Section, name string) bool {
	rest, ok := im.cutName(s, name)
	return ok && len(rest) > 0 && rest[0] == 0
}

// HasPrefix reports whether the name of a section begins with the prefix.
func (im *Image) HasPrefix(s *Section, prefix string) bool {
	_, ok := im.cutName(s, prefix)
	return ok
}

func (im *Image) cutName(s *Section, prefix string) (rest []byte, ok bool) {
	if uint64(s.name) >= uint64(len(im.names)) {
		return nil, false
	}
	return bytes.CutPrefix(im.names[s.name:], []byte(prefix))
}

// Section returns the first section with the name, or nil.
func (im *Image) Section(name string) *Section {
	for i := range im.Sections {
		if s := &im.Sections[i]; im.HasName(s, name) {
			return s
		}
	}
	return nil
}

// First returns the first section of a type, or nil.
func (im *Image) First(t elf.SectionType) *Section {
	for i := range im.Sections {
		if s := &im.Sections[i]; s.Type == t {
			return s
		}
	}
	return nil
}

// ErrNoSection is wrapped by the error of Named if the file has no such section.
var ErrNoSection = errors.New("no such section")

// Named reads the first section with the name, which must have at most limit bytes.
func (im *Image) Named(name string, limit uint64) ([]byte, error) {
	err := ErrNoSection
	if s := im.Section(name); s != nil {
		var data []byte
		if data, err = im.Data(s, limit); err == nil {
			return data, nil
		}
	}
	return nil, fmt.Errorf("reading section %s: %w", name, err)
}

// Data reads an uncompressed section of at most limit bytes.
func (im *Image) Data(s *Section, limit uint64) ([]byte, error) {
	switch {
	case s.Type == elf.SHT_NOBITS:
		return nil, errors.New("section without bytes in the file")
	case s.Flags&elf.SHF_COMPRESSED != 0:
		return nil, errors.New("compressed section, not supported")
	case s.Size > limit:
		return nil, fmt.Errorf("section of %d bytes: more than %d", s.Size, limit)
	}
	return im.read("a section", s.Offset, s.Size)
}

// Bytes reads size bytes at an offset of the file.
func (im *Image) Bytes(offset, size uint64) ([]byte, error) {
	return im.read("a part of the file", offset, size)
}

// read returns size bytes at offset, within the budget. Callers bound size. Even so, read allocates
// no more than one chunk beyond the bytes that it finds in the file.
func (im *Image) read(what string, offset, size uint64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	if offset > math.MaxInt64 || size > math.MaxInt64-offset {
		return nil, fmt.Errorf("%#x bytes at offset %#x: beyond any file", size, offset)
	}
	end := offset + size
	switch {
	case end <= uint64(len(im.head)):
		return im.head[offset:end:end], nil
	case end > im.size:
		return nil, io.ErrUnexpectedEOF
	case im.memory != nil:
		return im.memory[offset:end:end], nil
	}
	if err := im.budget.take(what, size); err != nil {
		return nil, err
	}
	first := uint64(1 << 20)
	if im.size != math.MaxInt64 {
		first = size // it is there
	}
	var data []byte
	for size > 0 {
		n := int(min(size, max(first, uint64(len(data))))) // doubles
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
