package ccode

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// search looks for all marks at once.
type search struct {
	f     *debuginfo.File
	marks []Mark
	found []Found
	files map[string]bool // of the marks, cleaned
	// outline says that only scopes are asked for: all candidates become refusals.
	outline bool
}

func newSearch(f *debuginfo.File, marks []Mark, found []Found) *search {
	s := &search{f: f, marks: marks, found: found, files: map[string]bool{}}
	for _, m := range marks {
		s.files[filepath.Clean(m.File)] = true
	}
	return s
}

func (s *search) all() error {
	if err := s.given(); err != nil {
		return err
	}
	return s.byLines()
}

// candidate is an address that may be a mark's place.
type candidate struct {
	mark    *Mark
	out     *Found
	file    string // the mark's, cleaned
	address uint64
	size    int
	row     bool // known by the line table only
}

func (s *search) candidate(i int, address uint64) candidate {
	return candidate{mark: &s.marks[i], out: &s.found[i], file: filepath.Clean(s.marks[i].File), address: address}
}

// given looks at the addresses that the marks come with.
func (s *search) given() error {
	at := map[uint64][]candidate{}
	var addresses []uint64
	for i := range s.marks {
		for _, a := range s.marks[i].At {
			if len(addresses) == maxAddresses {
				return fmt.Errorf("more than %d addresses of markers", maxAddresses)
			}
			c := s.candidate(i, a.Address)
			c.size = a.Size
			if at[a.Address] == nil {
				addresses = append(addresses, a.Address)
			}
			at[a.Address] = append(at[a.Address], c)
		}
	}
	err := s.f.UnitsAt(addresses, func(u *debuginfo.Unit, e *dwarf.Entry, mine []uint64) error {
		var candidates []candidate
		for _, a := range mine {
			candidates = append(candidates, at[a]...)
			delete(at, a)
		}
		var lines *debuginfo.Lines // of no use for places that are proven
		if slices.ContainsFunc(candidates, func(c candidate) bool { return !c.mark.Proven }) {
			var err error
			if lines, err = s.lines(e); err != nil {
				return err
			}
		}
		return s.unit(u, e, lines, candidates)
	})
	if err != nil {
		return err
	}
	for _, rest := range at {
		for _, c := range rest {
			c.out.Refused = append(c.out.Refused, Refusal{Address: c.address, Err: errors.New("the debugging information knows no function there")})
		}
	}
	return nil
}

func (s *search) lines(e *dwarf.Entry) (*debuginfo.Lines, error) {
	return s.f.Lines(e, func(path string) (string, bool) { return path, s.files[path] })
}

// byLines looks for the rows of the marks that come without addresses.
func (s *search) byLines() error {
	type line struct {
		file string
		line int
	}
	wanted := map[line][]int{}
	for i, m := range s.marks {
		if m.At == nil && !m.Proven {
			l := line{filepath.Clean(m.File), m.Line}
			wanted[l] = append(wanted[l], i)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	seen := map[uint64]bool{}
	for i := range s.f.Units {
		u := &s.f.Units[i]
		e, err := s.f.Entry(u)
		if err != nil {
			return err
		}
		if e.Tag != dwarf.TagCompileUnit {
			continue
		}
		lines, err := s.lines(e)
		if err != nil {
			return err
		}
		if lines == nil {
			continue
		}
		marksOf := func(r *debuginfo.Row) []int { return wanted[line{lines.Names[r.File], int(r.Line)}] }
		if err := lines.Read(func(r debuginfo.Row) bool { return r.File >= 0 && r.Stmt && !r.End && marksOf(&r) != nil }); err != nil {
			return err
		}
		var candidates []candidate
		for _, r := range lines.Rows {
			if _, err := s.f.Offset(r.Address); seen[r.Address] || err != nil { // a function that the linker dropped
				continue
			}
			seen[r.Address] = true
			for _, m := range marksOf(&r) {
				c := s.candidate(m, r.Address)
				c.row = true
				candidates = append(candidates, c)
			}
			if len(candidates) > maxAddresses {
				return fmt.Errorf("more than %d addresses of markers", maxAddresses)
			}
		}
		if err := s.unit(u, e, lines, candidates); err != nil {
			return err
		}
		s.f.Release()
	}
	return nil
}

// maxCandidates bounds the addresses of one unit.
const maxCandidates = 1 << 14

// unit judges the candidates in one unit.
func (s *search) unit(u *debuginfo.Unit, e *dwarf.Entry, lines *debuginfo.Lines, candidates []candidate) error {
	if len(candidates) == 0 {
		return nil
	}
	if len(candidates) > maxCandidates {
		return fmt.Errorf("more than %d addresses of markers in a unit", maxCandidates)
	}
	addresses := make([]uint64, len(candidates))
	for i := range candidates {
		addresses[i] = candidates[i].address
	}
	functions, declared, err := s.f.Functions(u, e, addresses)
	if err != nil {
		return err
	}
	if lines != nil && !s.outline {
		if err := lines.Read(rowsOf(functions)); err != nil {
			return err
		}
	}
	known := s.declarations(u, lines, declared)
	for _, fn := range functions {
		s.function(fn, lines, known, candidates)
		fn.Forget()
	}
	for _, c := range candidates {
		if !slices.ContainsFunc(functions, func(fn *debuginfo.Scope) bool { return fn.Has(c.address) }) {
			c.out.Refused = append(c.out.Refused, Refusal{Address: c.address, Err: errors.New("the debugging information knows no function there")})
		}
	}
	return nil
}

// rowsOf returns whether a row is of some functions, or the first behind one, or ends a sequence.
func rowsOf(functions []*debuginfo.Scope) func(r debuginfo.Row) bool {
	var ranges [][2]uint64
	for _, fn := range functions {
		ranges = append(ranges, fn.Ranges...)
	}
	slices.SortFunc(ranges, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
	return func(r debuginfo.Row) bool {
		// The last that begins ahead of it: functions do not overlap, and one may begin where another ends.
		i, _ := slices.BinarySearchFunc(ranges, r.Address, func(have [2]uint64, a uint64) int { return cmp.Compare(have[0], a) })
		return r.End || i < len(ranges) && ranges[i][0] == r.Address || i > 0 && r.Address <= ranges[i-1][1]
	}
}
