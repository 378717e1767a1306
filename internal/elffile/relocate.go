package elffile

import (
	"debug/elf"
	"errors"
	"fmt"
	"math"
)

// Relocated returns the uncompressed bytes of a section of a relocatable file (.o, .ko), with the
// section's relocations applied. Of other files it returns Contents: a linker has applied theirs.
//
// Every section of a relocatable file is at address 0. So Relocated places the sections that a program
// would load one after the other, from an address other than 0, as gdb does: then no two functions have the
// same address.
func (im *Image) Relocated(s *Section) ([]byte, error) {
	data, err := im.Contents(s)
	if err != nil || im.Type != elf.ET_REL || len(data) == 0 {
		return data, err
	}
	if data, ok := im.relocated[s]; ok {
		return data, nil
	}
	if data, err = im.relocate(s, data); err != nil {
		return nil, fmt.Errorf("relocating section %s: %w", im.Name(s), err)
	}
	if im.relocated == nil {
		im.relocated = map[*Section][]byte{}
	}
	im.relocated[s] = data
	return data, nil
}

// relocate returns the relocated copy of a section's bytes, or the bytes if there are no relocations.
func (im *Image) relocate(s *Section, data []byte) ([]byte, error) {
	r, err := im.relocationsOf(s)
	if err != nil || r == nil {
		return data, err
	}
	kindOf, err := im.relocationKinds(r)
	if err != nil {
		return nil, err
	}
	values, err := im.symbolValues(r.Link)
	if err != nil {
		return nil, err
	}
	table, err := im.Contents(r)
	if err != nil {
		return nil, err
	}
	if data, err = im.copyOf(data); err != nil {
		return nil, err
	}
	const entry = 24
	for ; len(table) >= entry; table = table[entry:] {
		f := fields{table, im.Order, im.Class}
		at, info, addend := f.addr(), f.addr(), f.addr()
		symbol := info >> 32
		if symbol >= uint64(len(values)) {
			return nil, fmt.Errorf("the relocation at offset %#x refers to symbol %d of %d", at, symbol, len(values))
		}
		if err := im.apply(data, at, kindOf(uint32(info)), values[symbol], addend, uint32(info)); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// relocationsOf returns the section with the relocations of a section, or nil.
func (im *Image) relocationsOf(s *Section) (found *Section, err error) {
	for i := range im.Sections {
		r := &im.Sections[i]
		if r.Type != elf.SHT_RELA && r.Type != elf.SHT_REL || r.Size == 0 || r.info >= uint32(len(im.Sections)) || &im.Sections[r.info] != s {
			continue
		}
		if found != nil {
			return nil, errors.New("more than one section has relocations of it")
		}
		found = r
	}
	return found, nil
}

// relocationKind is what a type of relocation computes: S+A, or S+A-P; and how many bytes of it.
type relocationKind struct {
	size     uint8 // 0 for types that are not known
	relative bool
	tls      bool // the offset in the thread's memory
	ignored  bool
}

// relocationKinds returns the kinds of the relocations that debugging information has on a machine.
func (im *Image) relocationKinds(r *Section) (func(t uint32) relocationKind, error) {
	if im.Class == elf.ELFCLASS64 && r.Type == elf.SHT_RELA {
		switch im.Machine {
		case elf.EM_X86_64:
			return relocationX86, nil
		case elf.EM_AARCH64:
			return relocationARM64, nil
		}
	}
	return nil, fmt.Errorf("relocations of %v (%v) are not supported", im.Machine, r.Type)
}

// relocationX86 has the types of the System V ABI, AMD64 supplement, 4.4.
func relocationX86(t uint32) relocationKind {
	switch elf.R_X86_64(t) {
	case elf.R_X86_64_NONE:
		return relocationKind{ignored: true}
	case elf.R_X86_64_64:
		return relocationKind{size: 8}
	case elf.R_X86_64_32, elf.R_X86_64_32S:
		return relocationKind{size: 4}
	case elf.R_X86_64_16:
		return relocationKind{size: 2}
	case elf.R_X86_64_8:
		return relocationKind{size: 1}
	case elf.R_X86_64_PC64:
		return relocationKind{size: 8, relative: true}
	case elf.R_X86_64_PC32, elf.R_X86_64_PLT32:
		return relocationKind{size: 4, relative: true}
	case elf.R_X86_64_DTPOFF64:
		return relocationKind{size: 8, tls: true}
	case elf.R_X86_64_DTPOFF32:
		return relocationKind{size: 4, tls: true}
	}
	return relocationKind{}
}

// relocationARM64 has the types of "ELF for the Arm 64-bit Architecture", 5.7.
func relocationARM64(t uint32) relocationKind {
	const none = 256 // beside 0
	switch elf.R_AARCH64(t) {
	case elf.R_AARCH64_NONE, none:
		return relocationKind{ignored: true}
	case elf.R_AARCH64_ABS64:
		return relocationKind{size: 8}
	case elf.R_AARCH64_ABS32:
		return relocationKind{size: 4}
	case elf.R_AARCH64_ABS16:
		return relocationKind{size: 2}
	case elf.R_AARCH64_PREL64:
		return relocationKind{size: 8, relative: true}
	case elf.R_AARCH64_PREL32:
		return relocationKind{size: 4, relative: true}
	case elf.R_AARCH64_PREL16:
		return relocationKind{size: 2, relative: true}
	case elf.R_AARCH64_TLS_DTPREL64:
		return relocationKind{size: 8, tls: true}
	}
	return relocationKind{}
}

// symbolValue is the address of a symbol, and of the section that it is in.
type symbolValue struct{ address, section uint64 }

const valueSize = 16

func (im *Image) apply(data []byte, at uint64, k relocationKind, s symbolValue, addend uint64, t uint32) error {
	switch {
	case k.ignored:
		return nil
	case k.size == 0:
		return fmt.Errorf("the relocation at offset %#x is of type %d of %v, which is not supported", at, t, im.Machine)
	case at > uint64(len(data)) || uint64(k.size) > uint64(len(data))-at:
		return fmt.Errorf("the relocation at offset %#x is outside of the section of %d bytes", at, len(data))
	}
	v := s.address + addend
	if k.relative {
		v -= at // sections of debugging information are at 0
	}
	if k.tls {
		v -= s.section
	}
	switch b := data[at:]; k.size {
	case 8:
		im.Order.PutUint64(b, v)
	case 4:
		im.Order.PutUint32(b, uint32(v))
	case 2:
		im.Order.PutUint16(b, uint16(v))
	case 1:
		b[0] = byte(v)
	}
	return nil
}

// copyOf copies bytes to memory that Forget frees.
func (im *Image) copyOf(data []byte) ([]byte, error) {
	size := uint64(len(data))
	if err := im.budget.take("the relocated copy of a section", size); err != nil {
		return nil, err
	}
	memory, err := anonymous(int64(size))
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return append([]byte(nil), data...), nil
	case err != nil:
		im.budget.give(size)
		return nil, err
	}
	im.mappings = append(im.mappings, mapping{memory, size, false})
	copy(memory, data)
	return memory, nil
}

// symbolValues returns the addresses of the symbols of a table.
func (im *Image) symbolValues(index uint32) ([]symbolValue, error) {
	if im.values != nil && im.valuesOf == index {
		return im.values, nil
	}
	im.budget.give(valueSize * uint64(len(im.values)))
	im.values = nil
	if index >= uint32(len(im.Sections)) || im.Sections[index].Type != elf.SHT_SYMTAB {
		return nil, errors.New("no symbol table belongs to the relocations")
	}
	table := &im.Sections[index]
	places := im.places()
	wide, err := im.wideIndexes(index)
	if err != nil {
		return nil, err
	}
	var values []symbolValue
	err = im.symbols(table, func(s *Symbol) {
		v := symbolValue{address: s.Value}
		section := uint64(s.Section)
		if s.Section == elf.SHN_XINDEX && len(values) < len(wide)/4 {
			section = uint64(im.Order.Uint32(wide[4*len(values):]))
		} else if s.Section >= elf.SHN_LORESERVE {
			section = 0
		}
		if section < uint64(len(places)) {
			v.section = places[section]
			v.address += v.section
		}
		values = append(values, v)
	})
	if err == nil {
		err = im.budget.take("the addresses of symbols", valueSize*uint64(len(values)))
	}
	if err != nil {
		return nil, err
	}
	im.values, im.valuesOf = values, index
	return values, nil
}

// wideIndexes returns the section SHT_SYMTAB_SHNDX of a symbol table, or nil.
func (im *Image) wideIndexes(table uint32) ([]byte, error) {
	for i := range im.Sections {
		if s := &im.Sections[i]; s.Type == elf.SHT_SYMTAB_SHNDX && s.Link == table {
			return im.Contents(s)
		}
	}
	return nil, nil
}

// firstPlace is the address of the first section that is placed.
const firstPlace = 1 << 16

// places returns an address for each section of a relocatable file.
func (im *Image) places() []uint64 {
	const align = 1 << 12
	places := make([]uint64, len(im.Sections))
	next := uint64(firstPlace)
	for i := range im.Sections {
		s := &im.Sections[i]
		if s.Flags&elf.SHF_ALLOC == 0 || s.Size > math.MaxUint32 {
			continue
		}
		places[i] = next
		next += (s.Size + align) &^ (align - 1)
	}
	return places
}
