// Package enclosing tells which function a line of source is in, by the DWARF of an ELF file.
package enclosing

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/waymark-trace/waymark/internal/debuginfo"
)

// maxDebug bounds the debugging information that is read, uncompressed, in bytes.
const maxDebug uint64 = 2 << 30

// Functions are the functions of some source files.
type Functions struct {
	files map[string]*source
	// Definitions of member functions, and the declarations that are within functions: clang
	// defines a lambda's outside, but a line in it is in the function around.
	members []member
	local   map[dwarf.Offset]bool
	lines   debuginfo.LineSections
}

type member struct {
	function
	declaration dwarf.Offset
}

type function struct {
	in   *source
	line int
	name string
}

// source is a file as one or several compilation units know it.
type source struct {
	functions map[int]string // by the line of their declaration
	starts    []int          // these lines, sorted
	rows      []int          // the lines that have code, sorted
}

// Read reads what an ELF file knows about the named source files. A name is taken as the
// compiler was given it: relative to the directory in which that ran. A file without
// debugging information knows nothing, and that is no error.
func Read(path string, files []string) (*Functions, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := read(r, files)
	if err != nil {
		return nil, fmt.Errorf("reading the debugging information of %s: %w", path, err)
	}
	return f, nil
}

func read(at io.ReaderAt, files []string) (f *Functions, err error) {
	defer func() { // debug/elf and debug/dwarf are not hardened, by their own words
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("%v", r)
		}
	}()
	file, err := elf.NewFile(at)
	if err != nil {
		return nil, err
	}
	size := uint64(0)
	for _, s := range file.Sections {
		if s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_ALLOC == 0 {
			if size += s.Size; s.Size > maxDebug || size > maxDebug {
				return nil, fmt.Errorf("more than %d bytes", maxDebug)
			}
		}
	}
	info := file.Section(".debug_info")
	if info == nil {
		return &Functions{}, nil
	}
	data, err := file.DWARF()
	if err != nil {
		return nil, err
	}
	lines, err := debuginfo.ReadLineSections(file)
	if err != nil {
		return nil, err
	}
	return In(data, lines, info.Size, files)
}

// In reads what debugging information that is open knows about the named source files. size is
// that of .debug_info, in bytes. It panics where package dwarf does.
func In(data *dwarf.Data, lines debuginfo.LineSections, size uint64, files []string) (*Functions, error) {
	f := &Functions{files: make(map[string]*source), local: make(map[dwarf.Offset]bool), lines: lines}
	for _, name := range files {
		f.files[filepath.Clean(name)] = &source{functions: make(map[int]string)}
	}
	if err := f.read(data, size); err != nil {
		return nil, err
	}
	for _, m := range f.members {
		if !f.local[m.declaration] {
			m.in.functions[m.line] = m.name
		}
	}
	for _, s := range f.files {
		for line := range s.functions {
			s.starts = append(s.starts, line)
		}
		slices.Sort(s.starts)
		slices.Sort(s.rows)
		s.rows = slices.Compact(s.rows)
	}
	return f, nil
}

// Of returns the function around a line, "" when it is not known, or no code is left of it.
func (f *Functions) Of(file string, line int) string {
	s := f.files[filepath.Clean(file)]
	if s == nil {
		return ""
	}
	i, found := slices.BinarySearch(s.starts, line)
	if !found {
		i--
	}
	if i < 0 {
		return ""
	}
	// A function that the compiler dropped has no entry. Nor has it code: not to take a line
	// in it for one of the function before, code must follow ahead of the next.
	row, _ := slices.BinarySearch(s.rows, line)
	if row == len(s.rows) || i+1 < len(s.starts) && s.rows[row] >= s.starts[i+1] {
		return ""
	}
	return s.functions[s.starts[i]]
}

// read goes through all entries. It skips none: Reader.SkipChildren calls itself for every
// level, and hostile entries nest as deep as the file is long. Nor does it trust the reader to
// come to an end, which fuzzing showed that it does not always (Go 1.26.8): size is how many
// bytes of entries there are, and each has one at least.
func (f *Functions) read(data *dwarf.Data, size uint64) error {
	tables := make(map[int64][]*source) // each is read once, however many units share it
	r := data.Reader()
	var sources []*source // of the current unit, by its numbers of files
	depth, outer := 0, -1 // outer is the depth of the function that surrounds this entry
	for range size + 1 {
		e, err := r.Next()
		if err != nil || e == nil {
			return err
		}
		switch {
		case e.Tag == 0:
			if depth--; depth <= outer {
				outer = -1
			}
			continue
		case e.Tag == dwarf.TagCompileUnit:
			at, _ := e.Val(dwarf.AttrStmtList).(int64)
			known := false
			if sources, known = tables[at]; !known {
				if sources, err = f.unit(data, e); err != nil {
					return err
				}
				tables[at] = sources
			}
			depth, outer = 0, -1
		case e.Tag == dwarf.TagSubprogram && outer >= 0 && sources != nil:
			f.local[e.Offset] = true
		case e.Tag == dwarf.TagSubprogram && sources != nil:
			f.function(data, e, sources)
			if e.Children {
				outer = depth
			}
		}
		next, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset)
		if ok && outer < 0 && e.Children && (e.Tag == dwarf.TagStructType || e.Tag == dwarf.TagClassType) && next > e.Offset && uint64(next) < size {
			r.Seek(next) // half of what a C++ program has: member functions are defined outside
			continue
		}
		if e.Children {
			depth++
		}
	}
	return errors.New("its entries have no end")
}
