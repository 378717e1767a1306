package enclosing

import (
	"debug/dwarf"
	"errors"
	"io"
	"path/filepath"

	"github.com/waymark-trace/waymark/internal/debuginfo"
)

// unit returns the sources among the files of a compilation unit, nil when there are none.
func (f *Functions) unit(data *dwarf.Data, e *dwarf.Entry) ([]*source, error) {
	lines, err := debuginfo.LineReader(data, f.lines, e)
	if err != nil || lines == nil {
		return nil, err
	}
	dir, _ := e.Val(dwarf.AttrCompDir).(string)
	var sources []*source
	named := make(map[string]*source)
	for i, file := range lines.Files() {
		if file == nil {
			continue
		}
		s := f.files[filepath.Clean(file.Name)]
		if rel, err := filepath.Rel(dir, file.Name); s == nil && err == nil {
			s = f.files[rel]
		}
		if s != nil {
			sources = append(sources, make([]*source, i+1-len(sources))...)
			sources[i], named[file.Name] = s, s
		}
	}
	if sources == nil {
		return sources, nil
	}
	for {
		var row dwarf.LineEntry
		if err := lines.Next(&row); errors.Is(err, io.EOF) {
			return sources, nil
		} else if err != nil {
			return nil, err
		}
		if s := named[row.File.Name]; s != nil && !row.EndSequence && (len(s.rows) == 0 || s.rows[len(s.rows)-1] != row.Line) {
			s.rows = append(s.rows, row.Line)
		}
	}
}

// function notes where a function is declared. The definition of a member function may leave
// what its class said to the class.
func (f *Functions) function(data *dwarf.Data, e *dwarf.Entry, sources []*source) {
	if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); declared {
		return
	}
	file, hasFile := e.Val(dwarf.AttrDeclFile).(int64)
	line, hasLine := e.Val(dwarf.AttrDeclLine).(int64)
	name, hasName := e.Val(dwarf.AttrName).(string)
	at, isMember := e.Val(dwarf.AttrSpecification).(dwarf.Offset)
	if isMember {
		r := data.Reader()
		r.Seek(at)
		class, err := r.Next()
		if err != nil || class == nil {
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
