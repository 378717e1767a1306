package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"slices"
)

// span is a range of addresses of a unit.
type span struct {
	from, to uint64
	unit     *Unit
	entry    *dwarf.Entry
}

// UnitsAt calls visit for each unit that has code at one of the addresses, with these.
func (f *File) UnitsAt(addresses []uint64, visit func(u *Unit, e *dwarf.Entry, mine []uint64) error) error {
	if len(addresses) == 0 {
		return nil
	}
	if err := f.readSpans(); err != nil {
		return err
	}
	mine := map[*Unit][]uint64{}
	entries := map[*Unit]*dwarf.Entry{}
	var order []*Unit
	for _, a := range addresses {
		// The last that begins at or before it: units do not overlap.
		i, found := slices.BinarySearchFunc(f.spans, a, func(s span, a uint64) int { return cmp.Compare(s.from, a) })
		if !found {
			i--
		}
		if i < 0 || a >= f.spans[i].to {
			continue
		}
		s := &f.spans[i]
		if mine[s.unit] == nil {
			order = append(order, s.unit)
		}
		mine[s.unit], entries[s.unit] = append(mine[s.unit], a), s.entry
	}
	read := 0
	for _, u := range order {
		if err := visit(u, entries[u], mine[u]); err != nil {
			return err
		}
		if read += int(u.End - u.header); read > maxKept {
			read = 0
			f.Release()
		}
	}
	return nil
}

// maxKept is how much is read of entries before they are let go, in bytes.
const maxKept = 8 << 20

// maxSpans bounds the ranges of all units: functions in sections of their own have one each.
const maxSpans = 8 << 20

func (f *File) readSpans() error {
	if f.spans != nil {
		return nil
	}
	for i := range f.Units {
		u := &f.Units[i]
		e, err := f.Entry(u)
		if err != nil {
			return err
		}
		if e.Tag != dwarf.TagCompileUnit {
			continue
		}
		ranges, err := f.Data.Ranges(e)
		if err != nil {
			return err
		}
		for _, r := range ranges {
			if r[0] < r[1] && len(f.spans) < maxSpans {
				f.spans = append(f.spans, span{r[0], r[1], u, e})
			}
		}
	}
	slices.SortFunc(f.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return nil
}
