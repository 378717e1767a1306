// Package debuginfo opens the DWARF of an ELF file or of its separate debug file, and finds units,
// lines, scopes and the frame's address for a tracer.
//
// Files are treated as hostile. debug/dwarf is documented as not hardened, so it is called only
// under Guard, which turns a panic into an error. No loop relies on it to terminate. Sections come
// from an elffile.Image, which bounds the memory used.
package debuginfo

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/waymark-trace/waymark/internal/elffile"
)

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

	program  *elffile.Image // code and unwind tables
	debug    *elffile.Image // debugging information
	opened   bool           // Open opened program
	sections map[string][]byte
	spans    []span // of all units, ascending
	abbrevs  *abbreviations

	ehFrame, debugFrame *frameTable // nil until they are asked for
}

// Open opens the file at path, which is shown in messages and beside which debug files may lie.
// r is the file or an image of it, and must stay open until Close.
func Open(r io.ReaderAt, path string) (f *File, err error) {
	im, err := elffile.Of(r, path)
	if err == nil {
		f = &File{Machine: im.Machine, program: im, debug: im, opened: r != io.ReaderAt(im), sections: map[string][]byte{}}
		if err = Guard(f.open); err != nil {
			f.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the debugging information of %s: %w", path, err)
	}
	return f, nil
}

// Close closes what Open opened besides r. Nothing may be looked up any more: sections are gone.
func (f *File) Close() error {
	f.program.Forget()
	f.debug.Forget()
	if f.opened {
		return f.program.Close()
	}
	return nil
}

// Release takes what was read of files out of the memory of this process. The kernel has it still,
// most often, when it is looked at again.
func (f *File) Release() {
	f.program.Release()
	f.debug.Release()
}

// Guard calls do and returns its panic as an error, also that of reading what a file had when it
// was mapped. All that reads a File is called below it.
func Guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("what it says is not valid: %v", r)
		}
	}()
	return do()
}

func (f *File) open() (err error) {
	if !hasInfo(f.program) {
		if f.debug, err = f.program.Debug(hasInfo); err != nil {
			f.debug = f.program
			return notTrusted(err)
		}
		f.From = f.debug.Path()
	}
	if err := f.read(); err != nil {
		return err
	}
	f.Units, err = units(f.sections["info"])
	return err
}

// notTrusted returns ErrNone, with the reason why an existing debug file is not used.
func notTrusted(err error) error {
	if text, ok := strings.CutPrefix(err.Error(), elffile.ErrNoDebug.Error()); ok && text != "" {
		return fmt.Errorf("%w%s", ErrNone, text)
	}
	return ErrNone
}

// Read reads the debugging information that a file has itself, without Units.
func Read(im *elffile.Image) (f *File, err error) {
	f = &File{Machine: im.Machine, program: im, debug: im, sections: map[string][]byte{}}
	err = Guard(func() error {
		if !hasInfo(im) {
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

func hasInfo(im *elffile.Image) bool {
	s := findSection(im, "info")
	return s != nil && s.Type != elf.SHT_NOBITS && s.Size > 0
}

// findSection returns the section .debug_NAME. Relocatable files have more than one of a name: types have sections
// of their own, in groups of which the linker keeps one.
func findSection(im *elffile.Image, name string) *elffile.Section {
	if im.Type == elf.ET_REL {
		for i := range im.Sections {
			if s := &im.Sections[i]; s.Flags&elf.SHF_GROUP == 0 && im.HasName(s, ".debug_"+name) {
				return s
			}
		}
	}
	if s := im.Section(".debug_" + name); s != nil {
		return s
	}
	return im.Section(".zdebug_" + name)
}

// Section returns the bytes of the section .debug_NAME, uncompressed and relocated, nil when there is none.
func (f *File) Section(name string) ([]byte, error) {
	if data, ok := f.sections[name]; ok {
		return data, nil
	}
	s := findSection(f.debug, name)
	if s == nil {
		return nil, nil
	}
	data, err := f.debug.Relocated(s)
	if err != nil {
		return nil, err
	}
	f.sections[name] = data
	return data, nil
}

// Code returns up to n bytes of the program at an address, in an executable segment.
func (f *File) Code(address uint64, n int) ([]byte, error) {
	s := f.program.SegmentAt(address)
	if s == nil || s.Flags&elf.PF_X == 0 {
		return nil, notCode(address)
	}
	return f.bytesAt(s, address, n)
}

// bytesAt returns up to n bytes of a segment at an address.
func (f *File) bytesAt(s *elffile.Segment, address uint64, n int) ([]byte, error) {
	at, ok := s.FileOffset(address, 1)
	if !ok {
		return nil, notCode(address)
	}
	b := make([]byte, min(uint64(n), s.FileSize-(address-s.Addr)))
	if _, err := f.program.ReadAt(b, int64(at)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

func notCode(address uint64) error {
	return fmt.Errorf("address %#x is in no code of the file", address)
}

// Offset returns where in the file the instruction at an address is.
func (f *File) Offset(address uint64) (uint64, error) {
	at, err := f.program.CodeOffset(address)
	if err != nil {
		return 0, notCode(address)
	}
	return at, nil
}

// Constants returns up to n bytes that lie at an address in a segment that is not code and is
// not written, nil for none.
func (f *File) Constants(address uint64, n int) []byte {
	s := f.program.SegmentAt(address)
	if s == nil || s.Flags&(elf.PF_X|elf.PF_W) != 0 {
		return nil
	}
	b, err := f.bytesAt(s, address, n)
	if err != nil {
		return nil
	}
	return b
}
