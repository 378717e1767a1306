package ccode

import (
	"errors"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// rows is a line table, nil for none.
type rows struct{ *debuginfo.Lines }

// maxLooks bounds how many rows are looked at for the markers of a unit.
const maxLooks = 1 << 32

// tooMany reports whether so many rows for each of so many candidates are more than are looked at.
func tooMany(rows, candidates int) bool { return uint64(rows)*uint64(candidates) > maxLooks }

var errCopies = errors.New("several passes of the marker share this instruction, and it is not known which is which")

// views returns which of the statements at its address a candidate is one of: a line has a row for
// itself there, or several that follow each other. The copies of a marker at one address are in the
// order of these.
func (t rows) views(c *candidate, all []candidate) ([2]int, error) {
	copies, mine := 0, 0
	for i := range all {
		if o := &all[i]; o.mark == c.mark && o.address == c.address {
			if o == c {
				mine = copies
			}
			copies++
		}
	}
	if t.Lines == nil || tooMany(len(t.Rows), len(all)) {
		return alone(copies)
	}
	var groups [][2]int // the views that each begins and ends with
	view, last, before := 0, false, false
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.End {
			last, before = false, false
			continue
		}
		// A row that begins no statement is of an instruction, wherever that was moved.
		is := r.Stmt && r.File >= 0 && t.Names[r.File] == c.file && int(r.Line) == c.mark.Line
		if r.Address != c.address {
			if before = is && r.Address < c.address; r.Address < c.address {
				last, view = false, 0
			}
			continue
		}
		switch {
		case is && last:
			groups[len(groups)-1][1] = view
		case is:
			groups = append(groups, [2]int{view, view})
		}
		last = is
		view++
		if view == 1 && !is && before {
			before = false
			groups = append(groups, [2]int{-1, -1}) // it began further up, and ends here
		}
	}
	switch {
	case len(groups) == copies:
		return groups[mine], nil
	case copies == 1 && len(groups) > 0:
		return [2]int{groups[0][0], groups[len(groups)-1][1]}, nil
	}
	return alone(copies)
}

// alone is the view of a marker of which the line table has no row: not known, and no copy among
// several has variables of its own.
func alone(copies int) ([2]int, error) {
	if copies > 1 {
		return debuginfo.NoViews, errCopies
	}
	return debuginfo.NoViews, nil
}
