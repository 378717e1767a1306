package ccode

import (
	"debug/dwarf"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// declaration is where a function begins in the source, in a file of the marks.
type declaration struct {
	file string
	line int64
}

// declarations are those that a unit has of functions, and the units that its functions come from: after optimization at
// link time code is in one unit, and what the source says of it in those that the compiler was called for.
type declarations struct {
	*search
	unit  *debuginfo.Unit
	lines *debuginfo.Lines // of the unit, nil for none
	set   map[declaration]bool
	// Of other units, by the entry of each: their files, nil for none of the marks.
	others map[dwarf.Offset]*debuginfo.Lines
}

func (s *search) declarations(u *debuginfo.Unit, lines *debuginfo.Lines, declared map[debuginfo.Declared]bool) *declarations {
	d := &declarations{search: s, unit: u, lines: lines, set: map[declaration]bool{}, others: map[dwarf.Offset]*debuginfo.Lines{}}
	d.add(lines, declared)
	return d
}

func (d *declarations) add(lines *debuginfo.Lines, declared map[debuginfo.Declared]bool) {
	if lines == nil {
		return
	}
	for at := range declared {
		if name := lines.Name(int(at.File)); name != "" {
			d.set[declaration{name, at.Line}] = true
		}
	}
}

// of returns where a function is declared, if in a file of the marks.
func (d *declarations) of(fn *debuginfo.Scope) (at declaration, ok bool) {
	file, hasFile := d.f.Origin(fn.Entry, dwarf.AttrDeclFile).(int64)
	line, hasLine := d.f.Origin(fn.Entry, dwarf.AttrDeclLine).(int64)
	if !hasFile || !hasLine {
		return at, false
	}
	lines := d.lines
	if u := d.f.OriginUnit(fn.Entry, dwarf.AttrDeclFile); u != nil && u.First != d.unit.First {
		lines = d.other(u)
	}
	if lines == nil {
		return at, false
	}
	at = declaration{lines.Name(int(file)), line}
	return at, at.file != ""
}

// other returns the files of another unit, and adds what that one declares.
func (d *declarations) other(u *debuginfo.Unit) *debuginfo.Lines {
	if lines, ok := d.others[u.First]; ok {
		return lines
	}
	var lines *debuginfo.Lines
	if e, err := d.f.Entry(u); err == nil && e != nil {
		if lines, err = d.search.lines(e); err == nil && lines != nil {
			if _, declared, err := d.f.Functions(u, e, nil); err == nil {
				d.add(lines, declared)
			}
		}
	}
	d.others[u.First] = lines
	return lines
}
