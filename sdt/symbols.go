package sdt

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
)

// symbolTable holds the addresses of the symbols that operands name, and of no others.
type symbolTable struct {
	wanted  map[string][]Addr // the different addresses of each
	hasFull bool              // the file has a .symtab
	longest int
	err     error // reading was not possible
}

// resolve turns the symbols that the operands of the sites name into addresses. A name with
// several addresses (static variables of several C files) is refused: the note does not say
// which is meant (libbpf/usdt issue 13).
func (im *image) resolve(sites []Site) {
	t := symbolTable{wanted: map[string][]Addr{}}
	for i := range sites {
		for _, o := range sites[i].Operands {
			if o.Kind == Memory && o.Symbol != "" && len(o.Symbol) <= maxSymbolName {
				t.wanted[o.Symbol] = nil
				t.longest = max(t.longest, len(o.Symbol))
			}
		}
	}
	if len(t.wanted) > 0 {
		t.load(im)
	}
	for i := range sites {
		for j := range sites[i].Operands {
			o := &sites[i].Operands[j]
			if o.Kind != Memory || o.Symbol == "" {
				continue
			}
			addr, err := t.lookup(o.Symbol)
			switch {
			case err != nil:
				o.fail(err)
			case o.Base == PC:
				o.Disp += int64(addr - sites[i].Address)
			case im.kind == elf.ET_EXEC: // sym(,%rax,8) is absolute
				o.Disp += int64(addr)
			default:
				o.fail(fmt.Errorf("the absolute address of %s in a file without a fixed one", clip(o.Symbol)))
			}
		}
	}
}

func (t *symbolTable) lookup(name string) (Addr, error) {
	addrs := t.wanted[name]
	switch {
	case len(addrs) == 1:
		return addrs[0], nil
	case len(name) > maxSymbolName:
		return 0, fmt.Errorf("a symbol name of %d bytes: more than %d", len(name), maxSymbolName)
	case t.err != nil:
		return 0, t.err
	case len(addrs) == maxSameName:
		return 0, fmt.Errorf("symbol %s is defined at %d addresses or more", clip(name), len(addrs))
	case len(addrs) > 1:
		return 0, fmt.Errorf("symbol %s is defined at %d addresses", clip(name), len(addrs))
	case !t.hasFull:
		return 0, fmt.Errorf("no symbol %s: the file is stripped", clip(name))
	}
	return 0, fmt.Errorf("no symbol %s", clip(name))
}

// load looks in .symtab, then in .dynsym for what that did not have.
func (t *symbolTable) load(im *image) {
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for i := uint32(0); ; i++ {
			s, ok := im.section(i)
			if !ok {
				break
			}
			if s.kind != kind {
				continue
			}
			t.hasFull = t.hasFull || kind == elf.SHT_SYMTAB
			if err := t.loadTable(im, s); err != nil {
				t.err = fmt.Errorf("reading the symbol table at %#x: %w", s.offset, err)
				return
			}
			break // the gABI allows one of each kind
		}
	}
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
