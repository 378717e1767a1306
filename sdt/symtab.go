package sdt

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
)

// load looks in .symtab, the file's own or else that of its debug file, and in .dynsym for what
// that did not have. It comes last: the name of a variable that is exported can be that of a
// static one as well, which only the full table shows.
func (t *symbolTable) load(im *image) {
	if _, t.hasFull = im.firstOf(elf.SHT_SYMTAB); t.hasFull {
		t.err = t.loadFrom(im, elf.SHT_SYMTAB)
	} else if im.path != "" {
		t.looked = true
		t.hasFull, t.err = im.withDebugFile(func(debug *image) error {
			return t.loadFrom(debug, elf.SHT_SYMTAB)
		})
	}
	if err := t.loadFrom(im, elf.SHT_DYNSYM); t.err == nil {
		t.err = err
	}
}

// loadFrom reads the symbol table of a kind: the gABI allows one of each.
func (t *symbolTable) loadFrom(im *image, kind elf.SectionType) error {
	s, ok := im.firstOf(kind)
	if !ok {
		return nil
	}
	if err := t.loadTable(im, s); err != nil {
		return fmt.Errorf("reading the symbol table at %#x: %w", s.offset, err)
	}
	return nil
}

// maxSameName bounds the addresses kept of one name.
const maxSameName = 16

func (t *symbolTable) loadTable(im *image, s section) error {
	link, ok := im.section(s.link)
	if !ok || link.kind != elf.SHT_STRTAB {
		return errors.New("no string table belongs to it")
	}
	if s.flags&elf.SHF_COMPRESSED != 0 || s.size > maxSymbolBytes {
		return fmt.Errorf("compressed, or more than %d bytes", maxSymbolBytes)
	}
	names, err := im.sectionData(link, maxSymbolBytes)
	if err != nil {
		return err
	}
	entry := uint64(24)
	if im.class == elf.ELFCLASS32 {
		entry = 16
	}
	found := map[string][]Addr{}
	chunk := entry * 4096
	for at := uint64(0); at+entry <= s.size; at += chunk {
		data, err := im.read(s.offset+at, min(chunk, (s.size-at)/entry*entry))
		if err != nil {
			return err
		}
		for ; len(data) > 0; data = data[entry:] {
			name, addr, ok := im.decodeSymbol(data, names, t.longest)
			if !ok {
				continue
			}
			if known, wanted := t.wanted[string(name)]; !wanted || len(known) > 0 {
				continue
			}
			if list := found[string(name)]; len(list) < maxSameName && !slices.Contains(list, addr) {
				found[string(name)] = append(list, addr)
			}
		}
	}
	for name, addrs := range found {
		t.wanted[name] = addrs
	}
	return nil
}

// decodeSymbol returns a defined symbol's name, without its version, and address; false for one
// that is not a place in memory or whose name is longer than any wanted.
func (im *image) decodeSymbol(b, names []byte, longest int) (name []byte, addr Addr, ok bool) {
	f := fields{b, im.order, im.class}
	at := f.word()
	if im.class == elf.ELFCLASS32 {
		addr = Addr(f.word())
		f.word()
	}
	info := f.b[0]
	f.b = f.b[2:]
	defined := elf.SectionIndex(f.half()) != elf.SHN_UNDEF
	if im.class == elf.ELFCLASS64 {
		addr = Addr(f.addr())
	}
	switch elf.ST_TYPE(info) {
	case elf.STT_NOTYPE, elf.STT_OBJECT, elf.STT_FUNC, elf.STT_COMMON:
	default: // sections, files, offsets in thread-local storage
		return nil, 0, false
	}
	if !defined || uint64(at) >= uint64(len(names)) {
		return nil, 0, false
	}
	// A version follows @ where the linker copied a shared library's variable.
	name = names[at:]
	name = name[:min(len(name), longest+1)]
	end := bytes.IndexAny(name, "\x00@")
	if end < 1 {
		return nil, 0, false
	}
	return name[:end], addr, true
}
