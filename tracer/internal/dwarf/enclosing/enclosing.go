// Package enclosing finds the function that contains a source line, by the DWARF of an ELF file.
package enclosing

import (
	"debug/dwarf"
	"path/filepath"
	"slices"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// Functions are the functions of some source files.
type Functions struct {
	files map[string]*source
	// Definitions of member functions, and the declarations that are within functions: clang
	// defines a lambda's outside, but a line in it is in the function around.
	members []member
	local   map[dwarf.Offset]bool
	info    *debuginfo.File
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

// In reads what debugging information that is open knows about the named source files. Their units are
// gone over, entry by entry, and no others. A name is taken as the compiler was given it: relative to the
// directory in which that ran.
func In(info *debuginfo.File, files []string) (f *Functions, err error) {
	err = debuginfo.Guard(func() error {
		f, err = in(info, files)
		return err
	})
	return f, err
}

func in(info *debuginfo.File, files []string) (*Functions, error) {
	f := &Functions{files: make(map[string]*source), local: make(map[dwarf.Offset]bool), info: info}
	for _, name := range files {
		f.files[filepath.Clean(name)] = &source{functions: make(map[int]string)}
	}
	if err := f.read(); err != nil {
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

// read goes over the units that know the files.
func (f *Functions) read() error {
	tables := make(map[int64][]*source) // each is read once, however many units share it
	for i := range f.info.Units {
		u := &f.info.Units[i]
		e, err := f.info.Entry(u)
		if err != nil {
			return err
		}
		at, ok := e.Val(dwarf.AttrStmtList).(int64)
		if e.Tag != dwarf.TagCompileUnit || !ok {
			continue
		}
		sources, known := tables[at]
		if !known {
			if sources, err = f.sources(e); err != nil {
				return err
			}
			tables[at] = sources
		}
		if sources == nil {
			continue
		}
		if err := f.unit(u, sources); err != nil {
			return err
		}
		f.info.Release()
	}
	return nil
}

// unit notes the functions of a unit.
func (f *Functions) unit(u *debuginfo.Unit, sources []*source) error {
	outer := 0 // the depth of the function around, 0 for none
	return f.info.Walk(u, func(n *debuginfo.Node, depth int) error {
		if depth <= outer {
			outer = 0
		}
		n.Within = outer > 0 // what a lambda is
		if n.Tag != dwarf.TagSubprogram {
			return nil
		}
		if outer > 0 {
			f.local[n.Offset] = true
			return nil
		}
		if n.Children {
			outer = depth
		}
		if d := n.Declared; n.HasDeclared && (d.File < 0 || d.File >= int64(len(sources)) || sources[d.File] == nil) {
			return nil
		}
		e, err := f.info.EntryAt(n.Offset)
		if err == nil {
			f.function(e, sources)
		}
		return err
	})
}
