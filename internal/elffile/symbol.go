package elffile

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
)

// maxSymbolBytes bounds a symbol table, and also its strings.
const maxSymbolBytes = 512 << 20

// Symbol is one symbol.
type Symbol struct {
	Value, Size uint64
	Type        elf.SymType
	Section     elf.SectionIndex
	name        uint32
	names       []byte
}

// Defined reports whether the file defines the symbol. If not, it needs it from another file.
func (s *Symbol) Defined() bool { return s.Section != elf.SHN_UNDEF }

// Name returns at most limit bytes of the symbol's name.
func (s *Symbol) Name(limit int) []byte {
	if uint64(s.name) >= uint64(len(s.names)) {
		return nil
	}
	name := s.names[s.name:]
	name = name[:min(len(name), limit)]
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	return name
}

// Symbols calls visit for each symbol of the table of type SHT_SYMTAB or SHT_DYNSYM. The gABI
// allows one table of each type. A file without the table has no symbols.
func (im *Image) Symbols(t elf.SectionType, visit func(*Symbol)) error {
	s := im.First(t)
	if s == nil {
		return nil
	}
	if err := im.symbols(s, visit); err != nil {
		return fmt.Errorf("reading the symbol table at %#x: %w", s.Offset, err)
	}
	return nil
}

func (im *Image) symbols(s *Section, visit func(*Symbol)) error {
	if s.Link >= uint32(len(im.Sections)) || im.Sections[s.Link].Type != elf.SHT_STRTAB {
		return errors.New("no string table belongs to it")
	}
	if s.Flags&elf.SHF_COMPRESSED != 0 || s.Size > maxSymbolBytes {
		return fmt.Errorf("compressed, or more than %d bytes", maxSymbolBytes)
	}
	names, err := im.Data(&im.Sections[s.Link], maxSymbolBytes)
	if err != nil {
		return err
	}
	entry := uint64(24)
	if im.Class == elf.ELFCLASS32 {
		entry = 16
	}
	const chunk = 4096 // symbols are not kept
	for at := uint64(0); at+entry <= s.Size; at += chunk * entry {
		data, err := im.read("symbols", s.Offset+at, min(chunk*entry, (s.Size-at)/entry*entry))
		if err != nil {
			return err
		}
		for ; len(data) > 0; data = data[entry:] {
			symbol := im.decodeSymbol(data)
			symbol.names = names
			visit(&symbol)
		}
	}
	return nil
}

func (im *Image) decodeSymbol(b []byte) (s Symbol) {
	f := fields{b, im.Order, im.Class}
	s.name = f.word()
	if im.Class == elf.ELFCLASS32 {
		s.Value, s.Size = f.addr(), f.addr()
	}
	s.Type = elf.ST_TYPE(f.b[0])
	f.b = f.b[2:]
	s.Section = elf.SectionIndex(f.half())
	if im.Class == elf.ELFCLASS64 {
		s.Value, s.Size = f.addr(), f.addr()
	}
	return s
}
