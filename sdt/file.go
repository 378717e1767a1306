package sdt

import (
	"debug/elf"
	"fmt"
	"io"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// File has the probes of an ELF file.
type File struct {
	Machine elf.Machine
	Type    elf.Type
	Class   elf.Class
	BuildID string // hexadecimal, "" for none
	Sites   []Site // in the order of the notes
	// Problems are the errors that cost a note, a site or its reference counter. Unreadable
	// operands are not among them.
	Problems []error
}

// ErrNotELF is wrapped by the error for a file that is not an ELF file at all.
var ErrNotELF = elffile.ErrNotELF

const (
	notesSection = ".note.stapsdt"
	baseSection  = ".stapsdt.base"
)

// Open reads the probes of a file, and its symbols from a separate debug file as ReadWithDebug
// does. A file without any is no error.
func Open(path string) (*File, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the probes of %s: %w", path, err)
	}
	return f, nil
}

func openFile(path string) (*File, error) {
	im, err := elffile.Open(path)
	if err != nil {
		return nil, err
	}
	defer im.Close()
	return read(im, true), nil
}

// Read reads the probes of an ELF file. It keeps nothing of r.
func Read(r io.ReaderAt) (*File, error) { return ReadWithDebug(r, "") }

// ReadWithDebug reads like Read. When operands name symbols and the file is stripped, it looks for
// the file's separate debug file: by build id below /usr/lib/debug, and by the name in the section
// .gnu_debuglink where gdb looks for a program at path. A debug file is used only if it belongs to
// root or to the owner of the program.
func ReadWithDebug(r io.ReaderAt, path string) (*File, error) {
	im, err := elffile.Of(r, path)
	if err != nil {
		return nil, err
	}
	if r != io.ReaderAt(im) {
		defer im.Close()
	}
	return read(im, path != ""), nil
}

func read(im *elffile.Image, withDebug bool) *File {
	f := &File{Machine: im.Machine, Type: im.Type, Class: im.Class, BuildID: im.BuildID()}
	r := &siteReader{f: f, im: im, withDebug: withDebug, seen: map[siteKey]int{}, counters: map[Addr]counter{}}
	var found []*elffile.Section
	for i := range im.Sections {
		switch s := &im.Sections[i]; {
		case s.Type == elf.SHT_NOTE && im.HasName(s, notesSection):
			found = append(found, s)
		case !r.hasBase && im.HasName(s, baseSection):
			r.base, r.hasBase = Addr(s.Addr), true
		}
	}
	r.readSites(found)
	return f
}
