package sdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/elffile"
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

// The same file in the other byte order has the same probes.
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

func readSection(path, name string, limit uint64) ([]byte, error) {
	im, err := elffile.Open(path)
	if err != nil {
		return nil, err
	}
	defer im.Close()
	return im.Named(name, limit)
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
	if data, err := readSection(path, ".note.stapsdt", 1000); err != nil || !bytes.Equal(data, appendAll(t, testNotes[0])) {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := readSection(path, ".note.stapsdt", 10); err == nil || !strings.Contains(err.Error(), "more than 10") {
		t.Errorf("over the limit: %v", err)
	}
	for _, name := range []string{".none", ".note", "", "note.stapsdt.x"} {
		if _, err := readSection(path, name, 10); name != "" && !errors.Is(err, elffile.ErrNoSection) {
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
		if _, err := readSection(path, ".x", 1); !errors.Is(err, ErrNotELF) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
