package sdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func hasProblem(f *File, parts ...string) bool {
	return slices.ContainsFunc(f.Problems, func(err error) bool {
		for _, p := range parts {
			if !strings.Contains(err.Error(), p) {
				return false
			}
		}
		return true
	})
}

func TestPlaces(t *testing.T) {
	tests := []struct {
		name     string
		note     Note
		offset   Offset // 0: no site
		counter  Offset
		problem  string
		dataFlag elf.ProgFlag
		base     uint64
	}{
		{name: "first byte", note: Note{Location: testCode}, offset: testCodeAt},
		{name: "last byte", note: Note{Location: testCode + testHalf - 1}, offset: testCodeAt + testHalf - 1},
		{name: "past the code", note: Note{Location: testCode + testHalf}, problem: "location in no segment"},
		{name: "before the code", note: Note{Location: testCode - 1}, problem: "location in no segment"},
		{name: "in data", note: Note{Location: testData}, problem: "location in a segment that is not executable"},
		{name: "highest address", note: Note{Location: 1<<64 - 1}, problem: "location in no segment"},
		{name: "counter", note: Note{Location: testCode, Semaphore: testData + 4}, offset: testCodeAt, counter: testDataAt + 4},
		{name: "last counter", note: Note{Location: testCode, Semaphore: testData + testHalf - 2}, offset: testCodeAt, counter: testDataAt + testHalf - 2},
		{name: "counter half in the file", note: Note{Location: testCode, Semaphore: testData + testHalf - 1}, offset: testCodeAt, problem: "not in the file (.bss)"},
		{name: "counter in .bss", note: Note{Location: testCode, Semaphore: testData + testHalf}, offset: testCodeAt, problem: "not in the file (.bss)"},
		{name: "odd counter", note: Note{Location: testCode, Semaphore: testData + 5}, offset: testCodeAt, problem: "not aligned to 2 bytes"},
		{name: "counter in code", note: Note{Location: testCode, Semaphore: testCode}, offset: testCodeAt, problem: "not writable"},
		{name: "counter nowhere", note: Note{Location: testCode, Semaphore: 4}, offset: testCodeAt, problem: "reference counter at 0x4 in no segment"},
		{name: "writable code", note: Note{Location: testCode, Semaphore: testData}, offset: testCodeAt, dataFlag: elf.PF_W | elf.PF_X, problem: "executable"},
		{name: "prelinked", note: Note{Location: testCode - 0x800, Base: 0x100, Semaphore: testData - 0x800}, base: 0x900, offset: testCodeAt, counter: testDataAt},
		{name: "prelinked down", note: Note{Location: testCode + 0x800, Base: 0x900, Semaphore: testData + 0x800}, base: 0x100, offset: testCodeAt, counter: testDataAt},
		{name: "no base in the note", note: Note{Location: testCode, Semaphore: testData}, base: 0x900, offset: testCodeAt, counter: testDataAt},
		{name: "no base in the file", note: Note{Location: testCode, Base: 0x100, Semaphore: testData}, offset: testCodeAt, counter: testDataAt},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.note.Provider, test.note.Name = "prov", "name"
			e := newELF(test.note)
			e.base = test.base
			if test.dataFlag != 0 {
				e.dataFlag = test.dataFlag
			}
			f := e.read(t)
			if test.problem == "" && len(f.Problems) > 0 ||
				test.problem != "" && (len(f.Problems) != 1 || !hasProblem(f, test.problem, "prov:name", "0x")) {
				t.Errorf("problems %v, want %q", f.Problems, test.problem)
			}
			if test.offset == 0 {
				if len(f.Sites) > 0 {
					t.Errorf("got %+v", f.Sites)
				}
				return
			}
			if len(f.Sites) != 1 {
				t.Fatalf("%d sites", len(f.Sites))
			}
			s := f.Sites[0]
			if s.Offset != test.offset || s.CounterOffset != test.counter || s.Note != test.note ||
				s.Address != testCode+Addr(test.offset-testCodeAt) {
				t.Errorf("got %+v", s)
			}
		})
	}
}

func TestSameLocation(t *testing.T) {
	note := func(name string, semaphore Addr, args string) Note {
		return Note{Provider: "p", Name: name, Location: testCode, Semaphore: semaphore, Args: args}
	}
	const a, b, bss = testData, testData + 2, testData + testHalf
	tests := []struct {
		name     string
		notes    []Note
		sites    int
		counter  Offset
		problems int
		problem  string
	}{
		{"twice the same", []Note{note("n", a, "8@%rax"), note("n", a, "8@%rax"), note("n", a, "8@%rax")}, 1, testDataAt, 0, ""},
		{"other arguments", []Note{note("n", a, "8@%rax"), note("n", a, "8@%rbx")}, 2, testDataAt, 0, ""},
		{"other name", []Note{note("n", a, ""), note("m", a, "")}, 2, testDataAt, 0, ""},
		{"other counter", []Note{note("n", a, ""), note("m", b, "")}, 2, testDataAt, 1, "p:m at 0x1000: reference counter at file offset 0x502 is not that of p:n"},
		{"only another counter", []Note{note("n", a, ""), note("n", b, "")}, 1, testDataAt, 1, "is not that of"},
		{"none and one", []Note{note("n", 0, ""), note("m", b, ""), note("o", 0, "")}, 3, testDataAt + 2, 0, ""},
		{"none and two", []Note{note("n", 0, ""), note("n", b, ""), note("o", a, "")}, 2, testDataAt + 2, 1, "p:o at 0x1000"},
		{"none in the file", []Note{note("n", bss, ""), note("m", a, "")}, 2, testDataAt, 1, "p:n at 0x1000: reference counter at 0x2100"},
	}
	for _, test := range tests {
		f := newELF(test.notes...).read(t)
		if len(f.Sites) != test.sites || len(f.Problems) != test.problems || test.problem != "" && !hasProblem(f, test.problem) {
			t.Errorf("%s: %d sites, problems %v", test.name, len(f.Sites), f.Problems)
		}
		for _, s := range f.Sites {
			if s.CounterOffset != test.counter {
				t.Errorf("%s: %s has its counter at %#x, want %#x", test.name, s.Name, s.CounterOffset, test.counter)
			}
		}
	}
}

func TestSymbols(t *testing.T) {
	obj, tls := elf.STT_OBJECT, elf.STT_TLS
	full := []testSymbol{{"one", 0x2010, obj}, {"ti", 0x2020, obj}, {"ti", 0x2030, obj}, {"same", 0x2040, obj}, {"same", 0x2040, elf.STT_NOTYPE},
		{"tls", 8, tls}, {"copied@GLIBC_2.2.5", 0x2050, obj}, {"high", 1<<64 - 16, obj}, {"onetwo", 0x2060, obj}}
	dynamic := []testSymbol{{"dyn", 0x2070, obj}, {"one", 0x2999, obj}}
	mem := func(symbol string, disp int64) Operand {
		return Operand{Kind: Memory, Size: 8, Base: PC, Disp: disp, Symbol: symbol}
	}
	const site = testCode + 4
	tests := []struct {
		args     string
		stripped bool
		want     Operand
		fail     string
	}{
		{"8@one(%rip)", false, mem("one", 0x2010-site), ""},
		{"8@24+one(%rip)", false, mem("one", 0x2010-site+24), ""},
		{"8@one-2(%rip)", false, mem("one", 0x2010-site-2), ""},
		{"8@same(%rip)", false, mem("same", 0x2040-site), ""},
		{"8@copied(%rip)", false, mem("copied", 0x2050-site), ""},
		{"8@high(%rip)", false, mem("high", -16-site), ""},
		{"8@dyn(%rip)", false, mem("dyn", 0x2070-site), ""},
		{"8@dyn(%rip)", true, mem("dyn", 0x2070-site), ""},
		{"8@one(%rip)", true, mem("one", 0x2999-site), ""},
		{"8@ti(%rip)", false, Operand{}, "symbol ti is defined at 2 addresses"},
		{"8@NBuffers(%rip)", true, Operand{}, "no symbol NBuffers: the file is stripped"},
		{"8@NBuffers(%rip)", false, Operand{}, "no symbol NBuffers"},
		{"8f@.LC1(%rip)", false, Operand{}, ".LC1 is a label of the compiler's, which no symbol table has"},
		{"8f@.LC1(%rip)", true, Operand{}, ".LC1 is a label of the compiler's, which no symbol table has"},
		{"8@on(%rip)", false, Operand{}, "no symbol on"},
		{"8@tls(%rip)", false, Operand{}, "no symbol tls"},
		{"8@one(,%rax,8)", false, Operand{}, "without a fixed one"},
	}
	for _, test := range tests {
		e := newELF(Note{Provider: "p", Name: "n", Location: site, Args: "4@%eax " + test.args + " 4@$1"})
		e.dynamic = dynamic
		if !test.stripped {
			e.symbols = full
		}
		f := e.read(t)
		if len(f.Sites) != 1 || len(f.Sites[0].Operands) != 3 || len(f.Problems) > 0 {
			t.Fatalf("%s: %+v", test.args, f)
		}
		ops := f.Sites[0].Operands
		if ops[0].Kind != Register || ops[2].Kind != Constant {
			t.Errorf("%s: the others became %v", test.args, ops)
		}
		if got := ops[1]; test.fail != "" {
			want := fmt.Sprintf("operand %q: %s", test.args, test.fail)
			if got.Kind != Unreadable || got.Size != 8 || !strings.HasPrefix(got.Err.Error(), "operand") ||
				got.Err.Error() != want && !strings.Contains(test.fail, "fixed") {
				t.Errorf("%s: got %v, want %s", test.args, got.Err, want)
			}
			continue
		}
		test.want.Text = test.args
		if ops[1] != test.want {
			t.Errorf("%s:\n got %+v\nwant %+v", test.args, ops[1], test.want)
		}
	}

	long := newELF(Note{Provider: "p", Name: "n", Location: site, Args: strings.Repeat("l", maxSymbolName+1) + "(%rip)"})
	if got := long.read(t).Sites[0].Operands[0]; got.Kind != Unreadable || !strings.Contains(got.Err.Error(), "more than 4096") {
		t.Errorf("long name: got %v", got.Err)
	}

	e := newELF(Note{Provider: "p", Name: "n", Location: site, Args: "8@8+one(,%rax,8)"})
	e.kind, e.symbols = elf.ET_EXEC, full
	want := Operand{Text: "8@8+one(,%rax,8)", Kind: Memory, Size: 8, Index: RAX, Scale: 8, Disp: 0x2018, Symbol: "one"}
	if got := e.read(t).Sites[0].Operands[0]; got != want {
		t.Errorf("absolute: got %+v, want %+v", got, want)
	}
}

func TestFileFacts(t *testing.T) {
	f := newELF().read(t)
	if f.Machine != elf.EM_X86_64 || f.Type != elf.ET_DYN || f.Class != elf.ELFCLASS64 || f.BuildID != "deadbeef" ||
		f.Sites != nil || f.Problems != nil {
		t.Errorf("got %+v", f)
	}
	object := newELF(testNotes...)
	object.kind = elf.ET_REL
	if f := object.read(t); len(f.Sites) > 0 || len(f.Problems) != 1 || !hasProblem(f, "ET_REL", "not supported") {
		t.Errorf("ET_REL: got %+v", f)
	}
	packed := newELF(testNotes...)
	packed.flags = elf.SHF_COMPRESSED
	if f := packed.read(t); len(f.Sites) > 0 || len(f.Problems) != 1 || !hasProblem(f, "compressed") {
		t.Errorf("compressed: got %+v", f)
	}
	broken := newELF(Note{Provider: "p", Name: "n", Location: testCode})
	broken.notes = append(broken.notes, 8, 0, 0, 0)
	if f := broken.read(t); len(f.Sites) != 1 || !hasProblem(f, ".note.stapsdt: note at offset 0x") {
		t.Errorf("broken note: got %+v", f)
	}
}

func TestManyProblems(t *testing.T) {
	notes := make([]Note, maxProblems+testHalf+7)
	for i := range notes {
		notes[i] = Note{Provider: "p", Name: "n", Location: Addr(i + 1)} // the last but few are in the code
	}
	f := newELF(notes...).read(t)
	more := len(notes) - len(f.Sites) - maxProblems
	if len(f.Problems) != maxProblems+1 || !hasProblem(f, fmt.Sprint(more, " more problems")) {
		t.Errorf("%d sites, %d problems, the last %v", len(f.Sites), len(f.Problems), f.Problems[len(f.Problems)-1])
	}
}

func TestManyOperands(t *testing.T) {
	const each = 200
	e := newELF()
	for i := range maxFileOperands/each + 10 {
		e.notes = append(e.notes, appendAll(t, Note{Provider: "p", Name: fmt.Sprint(i), Location: testCode, Args: strings.Repeat("$1 ", each)})...)
	}
	f := e.read(t)
	last := f.Sites[len(f.Sites)-1].Operands
	if len(last) != 1 || !errors.Is(last[0].Err, errFileOperands) {
		t.Errorf("%d sites, the last has %d operands", len(f.Sites), len(last))
	}
}

// Many addresses of one name are counted no further; a symbol table without strings says so.
func TestOddSymbolTables(t *testing.T) {
	e := newELF(Note{Provider: "p", Name: "n", Location: testCode, Args: "8@s(%rip)"})
	for i := range 50 {
		e.symbols = append(e.symbols, testSymbol{"s", uint64(i), elf.STT_OBJECT})
	}
	if got := e.read(t).Sites[0].Operands[0]; got.Err == nil || !strings.Contains(got.Err.Error(), "at 16 addresses or more") {
		t.Errorf("got %v", got.Err)
	}
	data := e.bytes(t)
	shoff := testOrder.Uint64(data[40:])
	testOrder.PutUint32(data[shoff+2*64+40:], 0) // .symtab's sh_link
	f, err := Read(bytes.NewReader(data))
	if err != nil || !strings.Contains(fmt.Sprint(f.Sites[0].Operands[0].Err), "no string table") {
		t.Errorf("got %+v, %v", f, err)
	}
}

// The same file in the other byte order says the same.
func TestBigEndian(t *testing.T) {
	be := binary.BigEndian
	e := newELF()
	e.order, e.machine = be, elf.EM_S390
	e.notes = encode(be, "stapsdt\x00", 3, append(doubles(be, testCode+8, 0, testData+2), "p\x00n\x008@%r1 4@5\x00"...))
	f := e.read(t)
	if f.Machine != elf.EM_S390 || f.BuildID != "deadbeef" || len(f.Problems) > 0 || len(f.Sites) != 1 {
		t.Fatalf("got %+v", f)
	}
	if s := f.Sites[0]; s.Offset != testCodeAt+8 || s.CounterOffset != testDataAt+2 || len(s.Operands) != 2 {
		t.Errorf("got %+v", s)
	}
}

// A file cut off anywhere is an error, or gives less; never a panic.
func TestTruncatedFile(t *testing.T) {
	e := newELF(Note{Provider: "p", Name: "n", Location: testCode, Args: "8@one(%rip)"})
	e.symbols = []testSymbol{{"one", 0x2010, elf.STT_OBJECT}}
	data := e.bytes(t)
	for cut := range data {
		f, err := Read(bytes.NewReader(data[:cut]))
		switch {
		case err == nil:
			t.Fatalf("cut at %#x: got %+v", cut, f) // the section headers come last
		case errors.Is(err, ErrNotELF) != (cut < 4):
			t.Errorf("cut at %#x: %v", cut, err)
		}
	}
}

// A reader that fails says so, whatever was being read.
func TestReaderErrors(t *testing.T) {
	want := errors.New("disk on fire")
	data := append(newELF(testNotes...).bytes(t), make([]byte, 1<<16)...)
	if _, err := Read(failingReader{bytes.NewReader(data), 0, want}); !errors.Is(err, want) {
		t.Errorf("at the header: %v", err)
	}
	copy(data[40:], doubles(testOrder, 0x8000)) // section headers behind the first page
	if _, err := Read(failingReader{bytes.NewReader(data), 4096, want}); !errors.Is(err, want) {
		t.Errorf("at the sections: %v", err)
	}
}

type failingReader struct {
	r    io.ReaderAt
	upto int64
	err  error
}

func (f failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.upto {
		return 0, f.err
	}
	return f.r.ReadAt(p, off)
}

// Sizes in a header must not be believed.
func TestHostileHeaders(t *testing.T) {
	base := newELF(testNotes...).bytes(t)
	put16 := func(at int, v uint16) func([]byte) { return func(b []byte) { testOrder.PutUint16(b[at:], v) } }
	put64 := func(at int, v uint64) func([]byte) { return func(b []byte) { testOrder.PutUint64(b[at:], v) } }
	shoff := int(testOrder.Uint64(base[40:]))
	for name, test := range map[string]struct {
		change func([]byte)
		want   string // "" for no error
	}{
		"class":             {func(b []byte) { b[4] = 7 }, "unknown class"},
		"order":             {func(b []byte) { b[5] = 7 }, "unknown byte order"},
		"segments beyond":   {put64(32, 1<<63), "beyond any file"},
		"sections beyond":   {put64(40, 1<<64-1), "beyond any file"},
		"sections past end": {put64(40, 1<<40), "EOF"},
		"segment size":      {put16(54, 9), "program headers of 9 bytes"},
		"section size":      {put16(58, 9), "section headers of 9 bytes"},
		"many segments":     {put16(56, 0xfffe), "EOF"},
		"many sections":     {put16(60, 0xfffe), "EOF"},
		"names index":       {put16(62, 0xff00), "section names in section"},
		"extended numbers":  {func(b []byte) { put16(60, 0)(b); put64(shoff+32, 1<<62)(b) }, "more than"},
		"no sections":       {func(b []byte) { put64(40, 0)(b) }, ""},
		"huge names":        {put64(shoff+64*2+32, 1<<60), "more than"},
		"huge notes":        {put64(shoff+64+32, 1<<60), ""},
		"long notes":        {put64(shoff+64+32, 1<<20), ""},
	} {
		data := slices.Clone(base)
		test.change(data)
		_, err := Read(bytes.NewReader(data))
		switch {
		case test.want != "":
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", name, err, test.want)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenAndReadSection(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "elf")
	if err := os.WriteFile(path, newELF(testNotes[:1]...).bytes(t), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Open(path); err != nil || len(f.Sites) != 1 {
		t.Errorf("got %+v, %v", f, err)
	}
	if data, err := ReadSection(path, ".note.stapsdt", 1000); err != nil || !bytes.Equal(data, appendAll(t, testNotes[0])) {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := ReadSection(path, ".note.stapsdt", 10); err == nil || !strings.Contains(err.Error(), "more than 10") {
		t.Errorf("over the limit: %v", err)
	}
	for _, name := range []string{".none", ".note", "", "note.stapsdt.x"} {
		if _, err := ReadSection(path, name, 10); name != "" && !errors.Is(err, ErrNoSection) {
			t.Errorf("%q: %v", name, err)
		}
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, dir} {
		if _, err := Open(path); !errors.Is(err, ErrNotELF) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := ReadSection(path, ".x", 1); !errors.Is(err, ErrNotELF) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
