package enclosing

import (
	"debug/dwarf"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// sources returns the sources among the files of a compilation unit, nil when there are none.
func (f *Functions) sources(e *dwarf.Entry) ([]*source, error) {
	lines, err := f.info.Lines(e, func(path string) (string, bool) { return path, f.files[path] != nil })
	if err != nil || lines == nil {
		return nil, err
	}
	err = lines.Read(func(r debuginfo.Row) bool {
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
