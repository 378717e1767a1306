package place

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/waymark-trace/waymark/internal/debuginfo"
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
	for _, fn := range functions {
		s.function(fn, lines, declared, candidates)
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

// function judges the candidates in one function.
func (s *search) function(fn *debuginfo.Scope, table *debuginfo.Lines, declared map[debuginfo.Declared]bool, candidates []candidate) {
	lines := rows{table}
	var fl *flow
	var failed error
	for i := range candidates {
		c := &candidates[i]
		if !fn.Has(c.address) {
			continue
		}
		if s.outline {
			code := fn.At(c.address)
			c.out.Refused = append(c.out.Refused, Refusal{Address: c.address, Scope: s.scope(code, declared, table, c)})
			continue
		}
		if fl == nil && failed == nil {
			fl, failed = readFlow(s.f, fn)
		}
		p := Place{Address: c.address, Marker: c.address, Views: noViews, Code: fn.At(c.address)}
		err := failed
		switch {
		case err != nil:
		case c.mark.Proven:
			err = fl.isInstruction(c.address)
		default:
			err = (&judge{fl, fn, table, *c}).check()
			if err == nil && c.row {
				err = fl.sole(c, candidates)
			}
		}
		if err != nil {
			c.out.Refused = append(c.out.Refused, Refusal{c.address, p.Code, s.scope(p.Code, declared, table, c), err})
			continue
		}
		if !c.mark.Proven {
			p.Address = fl.cheapest(c.address)
		}
		in := fl.code[p.Address]
		p.Cost, p.Instruction = in.cost(), in.code
		if p.Scope = s.scope(p.Code, declared, table, c); p.Scope == nil {
			p.NoScope = errNoScope
		} else if !c.mark.Proven {
			if p.Views, err = lines.views(c, candidates); err != nil {
				p.Scope, p.NoScope = nil, err
			}
		}
		c.out.Places = append(c.out.Places, p)
	}
}

var errNoScope = errors.New("of the marker's function nothing is left there that would have variables")

// sole refuses rows of one marker that follow each other in a straight line: gcc has several rows
// for one statement, and a loop that is unrolled has them too.
func (fl *flow) sole(c *candidate, all []candidate) error {
	for i := range all {
		o := &all[i]
		if o.mark != c.mark || o.address == c.address {
			continue
		}
		from, to := min(o.address, c.address), max(o.address, c.address)
		straight := true
		for at := from; at != to && straight; {
			in := fl.code[at]
			if straight = in != nil && in.falls && !in.jumps && (at == from || len(fl.into[at]) == 0) && at < to; straight {
				at += uint64(in.size)
			}
		}
		if straight && len(fl.into[to]) == 0 {
			return errSeveral
		}
	}
	return nil
}

var errSeveral = errors.New("the line table has several rows of it in a straight line, which may be one copy or several: include/waymark/simple.h says where each copy is")

// scope returns the scope of the mark's variables: around the instruction, in the function that
// the mark's line is in. The instruction itself may be of a function that is called behind
// the mark, or around it, when nothing is left of the mark's function there.
func (s *search) scope(at *debuginfo.Scope, declared map[debuginfo.Declared]bool, lines *debuginfo.Lines, c *candidate) *debuginfo.Scope {
	for at != nil {
		fn := at.Function()
		if fn == nil {
			return nil
		}
		if s.isIn(fn, declared, lines, c) {
			return at
		}
		at = fn.Parent
	}
	return nil
}

func (s *search) isIn(fn *debuginfo.Scope, declared map[debuginfo.Declared]bool, lines *debuginfo.Lines, c *candidate) bool {
	if c.mark.Functions != nil {
		name := s.f.Name(fn)
		linked, _ := s.f.Origin(fn.Entry, dwarf.AttrLinkageName).(string)
		return slices.Contains(c.mark.Functions, name) || linked != "" && slices.Contains(c.mark.Functions, linked)
	}
	file, hasFile := s.f.Origin(fn.Entry, dwarf.AttrDeclFile).(int64)
	line, hasLine := s.f.Origin(fn.Entry, dwarf.AttrDeclLine).(int64)
	if !hasFile || !hasLine || lines == nil || lines.Name(int(file)) != c.file || line > int64(c.mark.Line) {
		return false
	}
	if call, ok := fn.Entry.Val(dwarf.AttrCallLine).(int64); ok && !declared[debuginfo.Declared{File: file, Line: line}] && call >= int64(c.mark.Line) {
		return false // a function within the function, called behind the mark
	}
	for d := range declared {
		if d.File == file && d.Line > line && d.Line <= int64(c.mark.Line) {
			return false // the mark is in this one, or behind it
		}
	}
	return true
}

// isInstruction reports what is wrong with an address that is said to be an instruction's.
func (fl *flow) isInstruction(address uint64) error {
	in := fl.code[address]
	if in == nil {
		return errors.New("it is within an instruction")
	}
	if in.cost() == Refused {
		return fmt.Errorf("the kernel takes no probe on an instruction with the prefix %#x", in.prefix)
	}
	return nil
}
