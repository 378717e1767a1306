package place

import (
	"debug/dwarf"
	"errors"

	"github.com/waymark-trace/waymark/internal/debuginfo"
)

// instances are the copies of functions that are inlined into one, by the addresses behind their code.
type instances map[uint64][]*debuginfo.Scope

func instancesOf(fn *debuginfo.Scope) instances {
	all := instances{}
	for work := []*debuginfo.Scope{fn}; len(work) > 0; {
		s := work[len(work)-1]
		work = append(work[:len(work)-1], s.Children...)
		if s.Entry.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		for _, r := range s.Ranges {
			all[r[1]] = append(all[r[1]], s)
		}
	}
	return all
}

// other reports whether another copy of a function ends at an address that one of its copies has: a
// marker without an instruction may be the last of that, and of the end of a copy nothing is told but its code.
// view is that of the marker: gcc numbers where a copy is entered, too.
func (all instances) other(f *debuginfo.File, own *debuginfo.Scope, address uint64, view int) bool {
	if entry, n := entryOf(own); view != NoView && entry == address && n <= view {
		return false
	}
	var function dwarf.Offset
	for _, s := range all[address] {
		if s == own {
			continue
		}
		if function == 0 {
			function = originOf(f, own)
		}
		if originOf(f, s) == function {
			return true
		}
	}
	return false
}

// originOf returns the entry of the function that a scope is a copy of, or is.
func originOf(f *debuginfo.File, s *debuginfo.Scope) dwarf.Offset {
	e, err := f.EntryAt(s.Entry.Offset) // scopes have all of it only where somebody asked
	if err != nil {
		return s.Entry.Offset
	}
	if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		return origin
	}
	return e.Offset
}

var errInstance = errors.New("one copy of its function ends there, and another goes on: which of them it is in is not known")
