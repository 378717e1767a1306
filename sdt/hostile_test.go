package sdt

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

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

// An error of the reader is returned at every read.
func TestReaderErrors(t *testing.T) {
	want := errors.New("disk on fire")
	data := append(newELF(testNotes...).bytes(t), make([]byte, 1<<16)...)
	if _, err := Read(failingReader{bytes.NewReader(data), 0, want}); !errors.Is(err, want) {
		t.Errorf("at the header: %v", err)
	}
	copy(data[40:], doubles(testOrder, 0x8000)) // section headers after the first page
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
