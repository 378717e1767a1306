package link

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

const sectionHeaderSize = 64

// header is one Elf64_Shdr as it stands in the file. (ELF-64 Object File Format, section 4)
type header [sectionHeaderSize]byte

func (h *header) typ() elf.SectionType { return elf.SectionType(le.Uint32(h[4:])) }
func (h *header) addr() uint64         { return le.Uint64(h[16:]) }
func (h *header) offset() uint64       { return le.Uint64(h[24:]) }
func (h *header) size() uint64         { return le.Uint64(h[32:]) }
func (h *header) link() uint32         { return le.Uint32(h[40:]) }

func (h *header) setType(t elf.SectionType) { le.PutUint32(h[4:], uint32(t)) }

func (h header) with(t elf.SectionType, f elf.SectionFlag, addr, off, size, align uint64) header {
	le.PutUint32(h[4:], uint32(t))
	le.PutUint64(h[8:], uint64(f))
	le.PutUint64(h[16:], addr)
	le.PutUint64(h[24:], off)
	le.PutUint64(h[32:], size)
	le.PutUint64(h[48:], align)
	return h
}

// table is the section header table. Sections keep their index, because symbols and other
// sections refer to them by it: new ones go to the end, and those of an earlier link are
// written over.
type table struct {
	headers []header
	names   []string
	strings int    // index of the section that holds the names
	offset  uint64 // of the old table in the file
}

// Offsets in Elf64_Ehdr.
const (
	ehdrShoff    = 40
	ehdrShentsz  = 58
	ehdrShnum    = 60
	ehdrShstrndx = 62
	ehdrSize     = 64
)

func (img *image) readSections() (*table, error) {
	d := img.data
	if len(d) < ehdrSize {
		return nil, ErrNotELF
	}
	t := &table{offset: le.Uint64(d[ehdrShoff:]), strings: int(le.Uint16(d[ehdrShstrndx:]))}
	n := int(le.Uint16(d[ehdrShnum:]))
	switch {
	case n == 0 || t.offset == 0:
		return nil, fmt.Errorf("%w: it has no section headers (sstrip, or more than 65 279 sections)", ErrLayout)
	case n+8 >= int(elf.SHN_LORESERVE):
		return nil, fmt.Errorf("%w: it has %d sections", ErrLayout, n)
	case le.Uint16(d[ehdrShentsz:]) != sectionHeaderSize || t.offset > uint64(len(d)) ||
		uint64(n*sectionHeaderSize) > uint64(len(d))-t.offset:
		return nil, fmt.Errorf("%w: its section headers reach past the end of the file", ErrLayout)
	case t.strings == 0 || t.strings >= n:
		return nil, fmt.Errorf("%w: its sections have no names", ErrLayout)
	}
	for i := range n {
		h := header(d[t.offset+uint64(i)*sectionHeaderSize:][:sectionHeaderSize])
		if h.typ() != elf.SHT_NOBITS && h.typ() != elf.SHT_NULL && (h.offset() > uint64(len(d)) || h.size() > uint64(len(d))-h.offset()) {
			return nil, fmt.Errorf("%w: section %d reaches past the end of the file", ErrLayout, i)
		}
		if int(h.link()) == t.strings {
			return nil, fmt.Errorf("%w: section %d keeps its names in the table of section names", ErrLayout, i)
		}
		t.headers = append(t.headers, h)
	}
	text := t.contents(d, t.strings)
	for i := range t.headers {
		name := le.Uint32(t.headers[i][:])
		if uint64(name) >= uint64(len(text)) {
			return nil, fmt.Errorf("%w: the name of section %d is not in its table", ErrLayout, i)
		}
		s, _, ok := strings.Cut(string(text[name:min(len(text), int(name)+256)]), "\x00")
		if !ok {
			return nil, fmt.Errorf("%w: the name of section %d has no end", ErrLayout, i)
		}
		t.names = append(t.names, s)
	}
	return t, nil
}

// contents returns a section's bytes.
func (t *table) contents(file []byte, i int) []byte {
	h := &t.headers[i]
	if h.typ() == elf.SHT_NOBITS {
		return nil
	}
	return file[h.offset() : h.offset()+h.size()]
}

// index returns the last section of a name, -1 for none.
func (t *table) index(name string) int {
	for i, n := range slices.Backward(t.names) {
		if n == name {
			return i
		}
	}
	return -1
}

// added reports whether section i is link's own rather than C code's: only those are empty.
func (t *table) added(i int) bool { return t.headers[i].size() == 0 }

// sectionStart returns the address of the section that holds addr, addr itself for none.
func (t *table) sectionStart(addr uint64) uint64 {
	for i := range t.headers {
		h := &t.headers[i]
		if h.addr() != 0 && h.typ() == elf.SHT_PROGBITS && addr >= h.addr() && addr-h.addr() < h.size() {
			return h.addr()
		}
	}
	return addr
}

// set writes the header of the named section over an earlier one, or adds it.
func (t *table) set(name string, h header) {
	if i := t.index(name); i >= 0 {
		t.headers[i] = h
		return
	}
	t.headers = append(t.headers, h)
	t.names = append(t.names, name)
}

// appendData appends the contents of a section that is not loaded.
func (t *table) appendData(out []byte, name string, typ elf.SectionType, data []byte) []byte {
	out = alignTo(out, 8)
	t.set(name, header{}.with(typ, 0, 0, uint64(len(out)), uint64(len(data)), 4))
	return append(out, data...)
}

// finish appends the names and the headers of all sections, and points the ELF header there.
func (t *table) finish(out []byte) ([]byte, error) {
	var names []byte
	at := make(map[string]uint32)
	for i, n := range t.names {
		off, ok := at[n]
		if !ok {
			off = uint32(len(names))
			at[n] = off
			names = append(append(names, n...), 0)
		}
		le.PutUint32(t.headers[i][:], off)
	}
	h := &t.headers[t.strings]
	le.PutUint64(h[24:], uint64(len(out)))
	le.PutUint64(h[32:], uint64(len(names)))
	out = alignTo(append(out, names...), 8)
	le.PutUint64(out[ehdrShoff:], uint64(len(out)))
	le.PutUint16(out[ehdrShnum:], uint16(len(t.headers)))
	for i := range t.headers {
		out = append(out, t.headers[i][:]...)
	}
	return out, nil
}

func alignTo(b []byte, n int) []byte {
	for len(b)%n != 0 {
		b = append(b, 0)
	}
	return b
}
