package introspect

import (
	"debug/macho"
	"debug/pe"
	"fmt"
	"io"
	"strings"
)

func openMachO(r io.ReaderAt) (*object, error) {
	f, err := macho.NewFile(r)
	if err != nil {
		return nil, err
	}
	o := &object{}
	if f.Symtab == nil {
		return o, nil
	}
	prefix := "" // a C linker has put _ before every name
	for _, s := range f.Symtab.Syms {
		if s.Name == "_"+ownPath+".landmark" {
			prefix = "_"
		}
	}
	for _, s := range f.Symtab.Syms {
		if s.Sect > 0 {
			o.symbols = append(o.symbols, symbol{name: strings.TrimPrefix(s.Name, prefix), value: s.Value})
		}
	}
	return o, nil
}

func openPE(r io.ReaderAt) (*object, error) {
	f, err := pe.NewFile(r)
	if err != nil {
		return nil, err
	}
	var base uint64
	switch h := f.OptionalHeader.(type) {
	case *pe.OptionalHeader32:
		base = uint64(h.ImageBase)
	case *pe.OptionalHeader64:
		base = h.ImageBase
	default:
		return nil, fmt.Errorf("it has no optional header")
	}
	o := &object{}
	for _, s := range f.Symbols {
		if n := int(s.SectionNumber); n > 0 && n <= len(f.Sections) {
			address := base + uint64(f.Sections[n-1].VirtualAddress) + uint64(s.Value)
			o.symbols = append(o.symbols, symbol{name: s.Name, value: address})
		}
	}
	return o, nil
}
