package debuginfo

import (
	"debug/dwarf"
	"path/filepath"
	"slices"
)

// Functions are the functions of some source files, by the lines of their declarations.
type Functions struct {
	files map[string]*source
	// Definitions of member functions, and the declarations that are within functions: clang
	// defines a lambda's outside, but a line in it is in the function around.
	members []member
	local   map[dwarf.Offset]bool
	info    *File
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

// FunctionsIn finds the functions of source files. It reads the units of these files only. A name is the
// one given to the compiler, relative to the directory where the compiler ran.
func (f *File) FunctionsIn(files []string) (functions *Functions, err error) {
	err = Guard(func() error {
		functions, err = newFunctions(f, files)
		return err
	})
	return functions, err
}

func newFunctions(info *File, files []string) (*Functions, error) {
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
	// A function that the compiler dropped has no entry, and no code. So that its lines do not count as
	// lines of the previous function, there must be code between the line and the next function.
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
func (f *Functions) unit(u *Unit, sources []*source) error {
	outer := 0 // the depth of the function around, 0 for none
	return f.info.Walk(u, func(n *Node, depth int) error {
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

// sources returns the sources among the files of a compilation unit, nil when there are none.
func (f *Functions) sources(e *dwarf.Entry) ([]*source, error) {
	lines, err := f.info.Lines(e, func(path string) (string, bool) { return path, f.files[path] != nil })
	if err != nil || lines == nil {
		return nil, err
	}
	err = lines.Read(func(r Row) bool {
		if r.File >= 0 && !r.End {
			s := f.files[lines.Names[r.File]]
			if len(s.rows) == 0 || s.rows[len(s.rows)-1] != int(r.Line) {
				s.rows = append(s.rows, int(r.Line))
			}
		}
		return false
	})
	var sources []*source
	for number, name := range lines.Numbers() {
		sources = append(sources, make([]*source, max(0, number+1-len(sources)))...)
		sources[number] = f.files[name]
	}
	return sources, err
}

// function notes where a function is declared. The definition of a member function may leave
// what its class said to the class.
func (f *Functions) function(e *dwarf.Entry, sources []*source) {
	if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); declared {
		return
	}
	file, hasFile := e.Val(dwarf.AttrDeclFile).(int64)
	line, hasLine := e.Val(dwarf.AttrDeclLine).(int64)
	name, hasName := e.Val(dwarf.AttrName).(string)
	at, isMember := e.Val(dwarf.AttrSpecification).(dwarf.Offset)
	if isMember {
		class, err := f.info.EntryAt(at)
		if err != nil {
			return
		}
		if !hasFile {
			file, hasFile = class.Val(dwarf.AttrDeclFile).(int64)
		}
		if !hasLine {
			line, hasLine = class.Val(dwarf.AttrDeclLine).(int64)
		}
		if !hasName {
			name, hasName = class.Val(dwarf.AttrName).(string)
		}
	}
	if !hasFile || !hasLine || !hasName || file < 0 || file >= int64(len(sources)) || sources[file] == nil {
		return
	}
	fn := function{sources[file], int(line), name}
	if isMember {
		f.members = append(f.members, member{fn, at})
	} else {
		fn.in.functions[fn.line] = fn.name
	}
}
