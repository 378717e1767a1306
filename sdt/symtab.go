package sdt

import (
	"bytes"
	"debug/elf"
	"slices"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// load searches .symtab, the file's own or else that of its debug file, and .dynsym for the rest.
// .dynsym comes last: an exported variable can have the name of a static one, which only the full
// table shows.
func (t *symbolTable) load(im *elffile.Image, withDebug bool) {
	hasTable := func(im *elffile.Image) bool { return im.First(elf.SHT_SYMTAB) != nil }
	if t.hasFull = hasTable(im); t.hasFull {
		t.err = t.loadFrom(im, elf.SHT_SYMTAB)
	} else if withDebug {
		t.looked = true
		if debug, err := im.Debug(hasTable); err == nil {
			t.hasFull, t.err = true, t.loadFrom(debug, elf.SHT_SYMTAB)
		} else {
			t.none = err
		}
	}
	if err := t.loadFrom(im, elf.SHT_DYNSYM); t.err == nil {
		t.err = err
	}
}

// maxSameName bounds the addresses kept of one name.
const maxSameName = 16

// loadFrom reads the symbol table of a kind.
func (t *symbolTable) loadFrom(im *elffile.Image, kind elf.SectionType) error {
	found := map[string][]Addr{}
	err := im.Symbols(kind, func(s *elffile.Symbol) {
		name := t.nameOf(s)
		if name == nil {
			return
		}
		if known, wanted := t.wanted[string(name)]; !wanted || len(known) > 0 {
			return
		}
		if list := found[string(name)]; len(list) < maxSameName && !slices.Contains(list, Addr(s.Value)) {
			found[string(name)] = append(list, Addr(s.Value))
		}
	})
	if err != nil {
		return err
	}
	for name, addrs := range found {
		t.wanted[name] = addrs
	}
	return nil
}

// nameOf returns the name of a defined symbol without its version. It returns nil if the symbol is
// not a location in memory, or if its name is longer than any wanted one.
func (t *symbolTable) nameOf(s *elffile.Symbol) []byte {
	switch s.Type {
	case elf.STT_NOTYPE, elf.STT_OBJECT, elf.STT_FUNC, elf.STT_COMMON:
	default: // sections, files, offsets in thread-local storage
		return nil
	}
	if !s.Defined() {
		return nil
	}
	// A version follows @ where the linker copied a shared library's variable.
	name := s.Name(t.longest + 1)
	if at := bytes.IndexByte(name, '@'); at >= 0 {
		name = name[:at]
	}
	if len(name) == 0 || len(name) > t.longest {
		return nil
	}
	return name
}
