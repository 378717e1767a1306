package sdt

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
)

// File is what an ELF file says about its probes.
type File struct {
	Machine elf.Machine
	Type    elf.Type
	Class   elf.Class
	BuildID string // hexadecimal, "" for none
	Sites   []Site // in the order of the notes
	// Problems are what cost a note, a site or its reference counter. Unreadable operands are
	// not among them.
	Problems []error
}

// ErrNoSection is wrapped by ReadSection's error for a section that the file does not have.
var ErrNoSection = errors.New("no such section")

const (
	notesSection = ".note.stapsdt"
	baseSection  = ".stapsdt.base"
)

// Open reads the probes of a file, and its symbols from a separate debug file as ReadWithDebug
// does. A file without any is no error.
func Open(path string) (*File, error) {
	var f *File
	err := withFile(path, func(r io.ReaderAt) (err error) {
		f, err = ReadWithDebug(r, path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the probes of %s: %w", path, err)
	}
	return f, nil
}

// Read reads the probes of an ELF file. It keeps nothing of r.
func Read(r io.ReaderAt) (*File, error) { return ReadWithDebug(r, "") }

// ReadWithDebug reads like Read. When operands name symbols and the file is stripped, it looks for
// the file's separate debug file: by build id below /usr/lib/debug, and by the name in the section
// .gnu_debuglink where gdb looks for a program at path.
func ReadWithDebug(r io.ReaderAt, path string) (*File, error) {
	im, err := openImage(r)
	if err != nil {
		return nil, err
	}
	im.path = path
	f := &File{Machine: im.machine, Type: im.kind, Class: im.class, BuildID: im.buildID()}
	var base Addr
	var hasBase bool
	var found []section
	for i := uint32(0); ; i++ {
		s, ok := im.section(i)
		switch {
		case !ok:
			f.readSites(im, found, base, hasBase)
			return f, nil
		case s.kind == elf.SHT_NOTE && im.hasName(s, notesSection):
			found = append(found, s)
		case !hasBase && im.hasName(s, baseSection):
			base, hasBase = Addr(s.addr), true
		}
	}
}

// ReadSection returns the bytes of the file's first section of a name, at most limit of them:
// a longer section is an error.
func ReadSection(path, name string, limit int64) ([]byte, error) {
	var data []byte
	err := withFile(path, func(r io.ReaderAt) error {
		im, err := openImage(r)
		if err != nil {
			return err
		}
		for i := uint32(0); ; i++ {
			s, ok := im.section(i)
			if !ok {
				return ErrNoSection
			}
			if im.hasName(s, name) {
				data, err = im.sectionData(s, uint64(max(limit, 0)))
				return err
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("reading section %s of %s: %w", name, path, err)
	}
	return data, nil
}

func withFile(path string, read func(io.ReaderAt) error) error {
	// Opening a FIFO would wait for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %v", ErrNotELF, info.Mode().Type())
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return read(file)
}
