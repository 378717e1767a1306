// Package debuginfo opens the DWARF of an ELF file, its own or that of its separate debug file,
// and answers what a tracer asks of it: units, lines, scopes and the frame's address.
//
// Files are hostile. debug/elf and debug/dwarf are not hardened, by their own words: what they
// do here they do below Guard, which turns a panic into an error, and no loop trusts them to end.
package debuginfo

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
)

// maxDebug bounds the debugging information that is read of one file, uncompressed, in bytes.
const maxDebug = 2 << 30

// ErrNone is the error of a file without debugging information, here or in a separate file.
var ErrNone = errors.New("it has no debugging information (DWARF), and no debug file of it was found")

// File is an ELF file with its debugging information. Its methods are for one goroutine at a time.
type File struct {
	Machine elf.Machine
	// Data is read lazily by debug/dwarf from sections that are in memory.
	Data *dwarf.Data
	// From is the file with the debugging information, "" when it is the file itself.
	From string
	// Units are the compilation units in their order.
	Units []Unit

	program  *elf.File // code and unwind tables
	debug    *elf.File // debugging information
	closers  []io.Closer
	sections map[string][]byte
	opened   map[*elf.File]*os.File // those that can be mapped
	files    []mapping              // sections that are in a file
	inflated []mapping              // and those that were compressed
	used     uint64
	spans    []span // of all units, ascending
	abbrevs  *abbreviations

	ehFrame, debugFrame *frameTable // nil until they are asked for
}

// Open opens the file at path, which is shown in messages and beside which debug files may lie.
// r is the file, which has to stay open until Close.
func Open(r io.ReaderAt, path string) (f *File, err error) {
	f = &File{sections: map[string][]byte{}, opened: map[*elf.File]*os.File{}}
	err = Guard(func() error { return f.open(r, path) })
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("reading the debugging information of %s: %w", path, err)
	}
	return f, nil
}

// Close closes what Open opened besides r. Nothing may be looked up any more: sections are gone.
func (f *File) Close() error {
	var errs []error
	for _, m := range slices.Concat(f.files, f.inflated) {
		errs = append(errs, m.unmap())
	}
	f.files, f.inflated = nil, nil
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	f.closers = nil
	return errors.Join(errs...)
}

// Release takes what was read of files out of the memory of this process. The kernel has it still, most
// often, when it is looked at again.
func (f *File) Release() {
	for _, m := range f.files {
		m.release()
	}
}

// Guard calls do and returns its panic as an error, also that of reading what a file had when it was
// mapped. All that reads a File is called below it.
func Guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("what it says is not valid: %v", r)
		}
	}()
	return do()
}

func (f *File) open(r io.ReaderAt, path string) (err error) {
	if f.program, err = elf.NewFile(r); err != nil {
		return err
	}
	f.debug, f.Machine = f.program, f.program.Machine
	if file, ok := r.(*os.File); ok {
		f.opened[f.program] = file
	}
	if !hasInfo(f.program) {
		if err := f.separate(path); err != nil {
			return err
		}
	}
	if err := f.read(); err != nil {
		return err
	}
	f.Units, err = units(f.sections["info"])
	return err
}

// Read reads the debugging information that a file has itself, without Units.
func Read(e *elf.File) (f *File, err error) {
	f = &File{Machine: e.Machine, program: e, debug: e, sections: map[string][]byte{}}
	err = Guard(func() error {
		if !hasInfo(e) {
			return ErrNone
		}
		return f.read()
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// read reads the sections that Data needs.
func (f *File) read() (err error) {
	need := func(name string) []byte {
		var data []byte
		if err == nil {
			data, err = f.Section(name)
		}
		return data
	}
	abbrev, info, str := need("abbrev"), need("info"), need("str")
	line, ranges := need("line"), need("ranges")
	more := map[string][]byte{}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		more[name] = need(name)
	}
	if err != nil {
		return err
	}
	if f.Data, err = dwarf.New(abbrev, nil, nil, info, line, nil, ranges, str); err != nil {
		return err
	}
	for name, data := range more {
		if err := f.Data.AddSection(".debug_"+name, data); err != nil {
			return err
		}
	}
	return nil
}

func hasInfo(f *elf.File) bool {
	s := findSection(f, "info")
	return s != nil && s.Type != elf.SHT_NOBITS && s.Size > 0
}

func findSection(f *elf.File, name string) *elf.Section {
	if s := f.Section(".debug_" + name); s != nil {
		return s
	}
	return f.Section(".zdebug_" + name)
}

// Section returns the bytes of the section .debug_NAME, uncompressed, nil when there is none.
func (f *File) Section(name string) ([]byte, error) {
	if data, ok := f.sections[name]; ok {
		return data, nil
	}
	data, err := f.load(f.debug, findSection(f.debug, name))
	if err != nil {
		return nil, fmt.Errorf("section .debug_%s: %w", name, err)
	}
	f.sections[name] = data
	return data, nil
}

// load reads a section within the bounds of all; one that is not compressed stays in its file. What
// is uncompressed is outside of the collector's heap, which would take as much again beside it.
func (f *File) load(in *elf.File, s *elf.Section) ([]byte, error) {
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	size := s.Size // of a compressed section what it says it has when it is not
	if len(s.Name) > 1 && s.Name[1] == 'z' {
		var err error
		if size, err = oldSize(s); err != nil {
			return nil, err
		}
	}
	if size > maxDebug || f.used+size > maxDebug {
		return nil, fmt.Errorf("with it there are more than %d bytes", int64(maxDebug))
	}
	f.used += size
	old, compressed := s.Name[1] == 'z', s.Flags&elf.SHF_COMPRESSED != 0
	if file := f.opened[in]; file != nil && !old && !compressed {
		if data, m, err := mapped(file, int64(s.Offset), int64(size)); err == nil {
			f.files = append(f.files, m)
			return data, nil
		}
	}
	if !old && !compressed {
		return s.Data()
	}
	r, err := io.Reader(s.Open()), error(nil)
	if old {
		if r, err = oldReader(s); err != nil {
			return nil, err
		}
	}
	return f.inflate(r, size)
}

// inflate reads size bytes into memory of their own, of which there is as much as there is to read.
func (f *File) inflate(r io.Reader, size uint64) (data []byte, err error) {
	if size == 0 {
		return nil, nil
	}
	m, err := anonymous(int64(size))
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		data, err = io.ReadAll(io.LimitReader(r, int64(size)))
	case err == nil:
		f.inflated, data = append(f.inflated, m), m
		var n int
		n, err = io.ReadFull(r, data)
		data = data[:n]
	}
	var more [1]byte
	if n, _ := io.ReadFull(r, more[:]); err == nil && (uint64(len(data)) < size || n > 0) {
		err = fmt.Errorf("it has not the %d bytes that its head says", size)
	}
	return data, err
}

// Code returns up to n bytes of the program at an address, in an executable segment.
func (f *File) Code(address uint64, n int) ([]byte, error) {
	for _, p := range f.program.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || address < p.Vaddr || address-p.Vaddr >= p.Filesz {
			continue
		}
		b := make([]byte, min(uint64(n), p.Filesz-(address-p.Vaddr)))
		if _, err := p.ReadAt(b, int64(address-p.Vaddr)); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return b, nil
	}
	return nil, fmt.Errorf("address %#x is in no code of the file", address)
}

// Offset returns where in the file the instruction at an address is.
func (f *File) Offset(address uint64) (uint64, error) {
	for _, p := range f.program.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && address >= p.Vaddr && address-p.Vaddr < p.Filesz {
			return p.Off + (address - p.Vaddr), nil
		}
	}
	return 0, fmt.Errorf("address %#x is in no code of the file", address)
}

// open opens a debug file as a regular file.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path) // opening a FIFO would wait for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return os.Open(path)
}

// Constants returns up to n bytes that lie at an address in a segment that is not code and is
// not written, nil for none.
func (f *File) Constants(address uint64, n int) []byte {
	for _, p := range f.program.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&(elf.PF_X|elf.PF_W) != 0 || address < p.Vaddr || address-p.Vaddr >= p.Filesz {
			continue
		}
		b := make([]byte, min(uint64(n), p.Filesz-(address-p.Vaddr)))
		if _, err := p.ReadAt(b, int64(address-p.Vaddr)); err != nil && !errors.Is(err, io.EOF) {
			return nil
		}
		return b
	}
	return nil
}
