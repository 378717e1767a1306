package sdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// testELF builds a small 64-bit file: code at 0x1000, writable data at 0x2000
// with its second half not in the file, and sections.
type testELF struct {
	kind     elf.Type
	machine  elf.Machine
	notes    []byte
	base     uint64 // the address of .stapsdt.base, 0 for no such section
	symbols  []testSymbol
	dynamic  []testSymbol
	flags    elf.SectionFlag // of the notes
	buildID  []byte
	link     []byte // .gnu_debuglink
	dataFlag elf.ProgFlag
	order    binary.ByteOrder // of all but the notes
	err      error
}

type testSymbol struct {
	name string
	addr uint64
	kind elf.SymType
}

const (
	testCode, testCodeAt = 0x1000, 0x400
	testData, testDataAt = 0x2000, 0x500
	testHalf             = 0x100 // bytes of each in the file
)

func newELF(notes ...Note) *testELF {
	e := &testELF{kind: elf.ET_DYN, machine: elf.EM_X86_64, dataFlag: elf.PF_R | elf.PF_W, order: testOrder,
		buildID: []byte{0xde, 0xad, 0xbe, 0xef}}
	for _, n := range notes {
		if e.notes, e.err = AppendNote(e.notes, n); e.err != nil {
			return e
		}
	}
	return e
}

func (e *testELF) bytes(t testing.TB) []byte {
	t.Helper()
	if e.err != nil {
		t.Fatal(e.err)
	}
	type sect struct {
		name string
		elf.Section64
		data []byte
	}
	sections := []sect{{}}
	add := func(name string, kind elf.SectionType, data []byte) *elf.Section64 {
		sections = append(sections, sect{name, elf.Section64{Type: uint32(kind), Addralign: 1}, data})
		return &sections[len(sections)-1].Section64
	}
	if e.notes != nil {
		add(notesSection, elf.SHT_NOTE, e.notes).Flags = uint64(e.flags)
	}
	if e.base != 0 {
		add(baseSection, elf.SHT_PROGBITS, []byte{0}).Addr = e.base
	}
	if e.link != nil {
		add(".gnu_debuglink", elf.SHT_PROGBITS, e.link)
	}
	for _, table := range []struct {
		name string
		kind elf.SectionType
		list []testSymbol
	}{{".symtab", elf.SHT_SYMTAB, e.symbols}, {".dynsym", elf.SHT_DYNSYM, e.dynamic}} {
		if table.list == nil {
			continue
		}
		entries, names := make([]byte, 24), []byte{0}
		for _, s := range table.list {
			entries = e.pack(t, entries, elf.Sym64{Name: uint32(len(names)), Info: elf.ST_INFO(elf.STB_GLOBAL, s.kind), Shndx: 1, Value: s.addr})
			names = append(append(names, s.name...), 0)
		}
		strings := uint32(len(sections)) + 1
		add(table.name, table.kind, entries).Link = strings
		add(table.name+".str", elf.SHT_STRTAB, names)
	}
	names := []byte{0}
	shstrtab := add(".shstrtab", elf.SHT_STRTAB, nil)
	at := uint64(testDataAt + testHalf)
	var body []byte
	for i := range sections {
		s := &sections[i]
		if i > 0 {
			s.Name = uint32(len(names))
			names = append(append(names, s.name...), 0)
		}
		if &s.Section64 == shstrtab {
			s.data = names
		}
		s.Off, s.Size = at+uint64(len(body)), uint64(len(s.data))
		body = append(body, s.data...)
	}
	note := e.pack(t, nil, elf.Chdr32{}) // three words of header
	e.order.PutUint32(note, 4)
	e.order.PutUint32(note[4:], uint32(len(e.buildID)))
	e.order.PutUint32(note[8:], 3) // NT_GNU_BUILD_ID
	note = append(append(note, "GNU\x00"...), e.buildID...)
	progs := []elf.Prog64{
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: testCodeAt, Vaddr: testCode, Filesz: testHalf, Memsz: testHalf},
		{Type: uint32(elf.PT_LOAD), Flags: uint32(e.dataFlag), Off: testDataAt, Vaddr: testData, Filesz: testHalf, Memsz: 2 * testHalf},
		{Type: uint32(elf.PT_NOTE), Off: 0x200, Filesz: uint64(len(note)), Align: 4},
	}
	header := elf.Header64{Type: uint16(e.kind), Machine: uint16(e.machine), Phoff: 64, Shoff: at + uint64(len(body)),
		Ehsize: 64, Phentsize: 56, Phnum: uint16(len(progs)), Shentsize: 64, Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1)}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA], header.Ident[elf.EI_VERSION] = 2, 1, 1
	if e.order == binary.BigEndian {
		header.Ident[elf.EI_DATA] = 2
	}

	file := make([]byte, at)
	copy(file, e.pack(t, e.pack(t, nil, header), progs))
	copy(file[0x200:], note)
	file = append(file, body...)
	for _, s := range sections {
		file = e.pack(t, file, s.Section64)
	}
	return file
}

func openTestImage(t testing.TB, e *testELF) *elffile.Image {
	t.Helper()
	im, err := elffile.FromBytes(e.bytes(t))
	if err != nil {
		t.Fatal(err)
	}
	return im
}

func (e *testELF) pack(t testing.TB, dst []byte, v any) []byte {
	t.Helper()
	dst, err := binary.Append(dst, e.order, v)
	if err != nil {
		t.Fatal(err)
	}
	return dst
}

func (e *testELF) read(t testing.TB) *File {
	t.Helper()
	f, err := Read(bytes.NewReader(e.bytes(t)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var testOrder = binary.LittleEndian
