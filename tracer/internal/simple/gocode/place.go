package gocode

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/simple/gosource"
	"github.com/waymark-trace/waymark/tracer/internal/simple/section"
)

// Source is a source file of the program.
type Source struct {
	Name    string // as the debugging information has it
	Package string // what symbols of its package begin with, "main", "example.org/a/b"
	*gosource.File
}

// Found is a marker that is in the program.
type Found struct {
	*Source
	*gosource.Marker
	Place section.Place
}

// Program is the code to search.
type Program struct {
	Units *Units
	Text  func(addr, n uint64) []byte // nil for what is not in the file
	// Pointers calls found with all that could be a pointer from low up to high: jumps by a table,
	// as a large switch has, lead there.
	Pointers func(low, high uint64, found func(to uint64))
	Decode   Decoder
}

// finder is a search.
type finder struct {
	*Program
	*program
	rows map[lineOf][]span
}

// Result is what a search comes to.
type Result struct {
	Found   []*Found
	Dropped []*Found // of functions of which no code is in the program
	Refused []Refusal
}

// Refusal is why a source file is not looked at: it is not what the program was built from.
type Refusal struct {
	Name string
	Err  error
}

// Find finds the markers of source files.
func (p *Program) Find(sources []*Source) (*Result, error) {
	wanted := make(map[lineOf]bool)
	for _, s := range sources {
		for _, m := range s.Markers {
			want := func(first, last int) {
				for line := first; line <= last && line < first+maxLines; line++ {
					wanted[lineOf{s.Name, line}] = true
				}
			}
			want(m.Line, m.Last)
			for next := &m.Follow; next != nil; next = next.Then {
				want(next.First, next.Last)
			}
			for _, line := range m.Follow.Before {
				wanted[lineOf{s.Name, line}] = true
			}
		}
	}
	f := &finder{Program: p}
	var err error
	if f.rows, err = p.Units.rows(wanted); err != nil {
		return nil, err
	}
	if f.program, err = p.Units.read(f.rows); err != nil {
		return nil, err
	}
	result := new(Result)
	for _, s := range sources {
		if err := f.compare(s); err != nil {
			result.Refused = append(result.Refused, Refusal{s.Name, err})
			continue
		}
		for _, m := range s.Markers {
			functions := f.functionsOf(s, m)
			if m.Function != nil && functions == nil {
				result.Dropped = append(result.Dropped, &Found{s, m, nowhere("no code of its function is in the program")})
				continue
			}
			place := f.place(s, m)
			place.Functions = functions
			result.Found = append(result.Found, &Found{s, m, place})
		}
	}
	return result, nil
}

// maxLines bounds how many lines one statement may have.
const maxLines = 1000

// symbol returns what symbols call a function of a file.
func (s *Source) symbol(f *gosource.Function) string {
	if f.Name == "" {
		return s.Package + "."
	}
	return s.Package + "." + f.Name
}

// originsOf returns the functions of the program that a function of a file became, by their
// symbols. A literal is called after the function that it is in, and that after the one that it
// is inlined into; the body of a range over a function is a function of its own.
func (f *finder) originsOf(s *Source, fn *gosource.Function) map[string][]*origin {
	found := make(map[string][]*origin)
	name := s.symbol(fn)
	if !fn.Literal && f.origins[name] != nil {
		found[name] = f.origins[name]
	}
	for n, all := range f.origins {
		switch {
		case strings.HasPrefix(n, name+"-range"):
		case fn.Literal && (fn.Name == "" && strings.HasPrefix(n, name) || strings.Contains(n+".", "."+fn.Name+".")) &&
			slices.ContainsFunc(all, func(o *origin) bool { return o.line == fn.Line && (o.file == "" || o.file == s.Name) }):
		default:
			continue
		}
		found[n] = all
	}
	return found
}

// functionsOf returns the symbols of the functions that a marker is in, nil for none.
func (f *finder) functionsOf(s *Source, m *gosource.Marker) []string {
	if m.Function == nil {
		return nil
	}
	var names []string
	for _, all := range f.originsOf(s, m.Function) {
		for _, o := range all {
			names = append(names, o.symbol)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// nowhere returns a place that is none.
func nowhere(format string, args ...any) section.Place {
	return section.Place{Rule: section.Nowhere, Reason: fmt.Sprintf(format, args...)}
}

// place finds what stands for a marker.
func (f *finder) place(s *Source, m *gosource.Marker) section.Place {
	if !m.Alone {
		return nowhere("it shares its line with another statement")
	}
	own, err := f.copies(s, m.Line, m.Last)
	if err != nil {
		return nowhere("%v", err)
	}
	calls := make(map[*body]uint64) // of the marker itself: it is not inlined there
	for _, c := range own {
		for _, i := range c.insts {
			if in := &c.code.insts[i]; in.Kind == Call && strings.HasPrefix(f.callee(in), gosource.Path+".") {
				calls[c.body] = in.Addr
			}
		}
	}
	switch {
	case m.Anchored:
		return f.anchored(s, m, own, calls)
	case len(calls) > 0 && f.everywhere(s, m, calls):
		return somewhere(section.Call, s, m.Line, slices.Collect(maps.Values(calls)))
	case len(calls) > 0:
		return nowhere("it is called in some copies of its function and inlined in others")
	}
	place := f.following(s, m, &m.Follow)
	for next := m.Follow.Then; next != nil && place.Rule == section.Nowhere; next = next.Then {
		place = f.following(s, m, next)
	}
	return place
}

func somewhere(rule section.Rule, s *Source, line int, addresses []uint64) section.Place {
	slices.Sort(addresses)
	return section.Place{Rule: rule, File: s.Name, Line: line, Addresses: slices.Compact(addresses)}
}

// everywhere reports whether all there is of a marker's function are bodies that call it. Of
// the body of a range over a function only itself is meant.
func (f *finder) everywhere(s *Source, m *gosource.Marker, calls map[*body]uint64) bool {
	callers := make(map[string]bool)
	for b := range calls {
		callers[b.origin.name] = true
	}
	for name, all := range f.originsOf(s, m.Function) {
		if !callers[name] {
			continue
		}
		if slices.ContainsFunc(all, func(o *origin) bool { return o.inlined }) {
			return false
		}
		for _, fn := range f.functions {
			if _, ok := calls[&fn.body]; !ok && slices.Contains(all, fn.origin) {
				return false
			}
		}
	}
	return true
}

// anchored finds what an anchored marker left: a nop of one byte. Behind it may be copies of
// registers for the code that follows, and further nops where that is a loop and aligned. In a
// generic function the check of a dictionary may stand for the nop.
func (f *finder) anchored(s *Source, m *gosource.Marker, own []*copied, calls map[*body]uint64) section.Place {
	var addresses []uint64
	rule := section.Anchor
	ends := make(map[uint64]bool) // of what is there
	for _, c := range own {
		for _, i := range c.insts {
			ends[c.code.insts[i].end()] = true
		}
	}
	origins := f.originsOf(s, m.Function)
	for _, c := range own {
		if addr, ok := calls[c.body]; ok {
			addresses = append(addresses, addr)
			rule = section.Call
			continue
		}
		first := &c.code.insts[c.insts[0]]
		if !slices.Contains(origins[c.origin.name], c.origin) && first.Kind == Nop && ends[first.Addr] && c.straight() {
			continue // behind the copy, and no part of it
		}
		if !c.straight() || (first.Kind != Nop || first.Len != 1) && (first.Kind != Check || len(c.insts) > 1) {
			return nowhere("its arguments leave code of their own, and no nop")
		}
		addresses = append(addresses, first.Addr)
	}
	if addresses == nil {
		return nowhere("the compiler found that it is never passed")
	}
	return somewhere(rule, s, m.Line, addresses)
}

// straight reports whether the instructions are one piece, of which those behind the first do
// nothing that could go elsewhere.
func (c *copied) straight() bool {
	for n := 1; n < len(c.insts); n++ {
		if k := c.kind(n); k != Nop && k != Plain || c.insts[n] != c.insts[n-1]+1 {
			return false
		}
	}
	return true
}

// following finds the begin of the code that follows.
func (f *finder) following(s *Source, m *gosource.Marker, next *gosource.Follow) section.Place {
	if next.Reason != "" {
		return nowhere("%s", next.Reason)
	}
	for line := next.First; line <= next.Last; line++ {
		if f.inlinedAt[lineOf{s.Name, line}] {
			return nowhere("a function that line %d calls is inlined, and its code may be anywhere", line)
		}
	}
	copies, err := f.copies(s, next.First, next.Last)
	if err != nil {
		return nowhere("%v", err)
	}
	var addresses []uint64
	traceless := false
	for _, c := range copies {
		if c.origin.line == next.First && c.origin.name != s.symbol(m.Function) {
			continue // a function that is written on that line
		}
		w, reason := f.witness(c, next)
		if reason == "" {
			var addr uint64
			if addr, reason = f.begin(c, w); reason == "" {
				addresses = append(addresses, addr)
				traceless = traceless || c.kindOf(w) != Call
				continue
			}
		}
		if c.depth > 0 {
			reason += ", in a copy that is inlined"
		}
		return nowhere("line %d, which follows, %s", next.First, reason)
	}
	switch {
	case addresses == nil:
		return nowhere("line %d, which follows, leaves no code", next.First)
	case traceless && f.mayVanish(s, m):
		return nowhere("line %d, which follows, has nothing but what the compiler may merge with other code where it inlines %s", next.First, s.symbol(m.Function))
	}
	rule := section.Next
	if next.Rule == gosource.End {
		rule = section.End
	}
	return somewhere(rule, s, next.First, addresses)
}

// mayVanish reports whether there may be copies of a marker's function of which the debugging
// information tells nothing: copies without a call, of which something else was made.
func (f *finder) mayVanish(s *Source, m *gosource.Marker) bool {
	for _, all := range f.originsOf(s, m.Function) {
		if slices.ContainsFunc(all, func(o *origin) bool { return o.inlined }) {
			return true // some copies are told of, and others may not be
		}
	}
	if m.Function.Kept {
		return false
	}
	// A copy that passes the marker has made the calls before it, and of calls there is a trace.
	for _, line := range m.Follow.Before {
		if !f.inlinedAt[lineOf{s.Name, line}] && f.calls(s, line) {
			return false
		}
	}
	return true
}

// calls reports whether a line calls something wherever it is in the code.
func (f *finder) calls(s *Source, line int) bool {
	copies, err := f.copies(s, line, line)
	if err != nil || len(copies) == 0 {
		return false
	}
	for _, c := range copies {
		if !slices.ContainsFunc(c.insts, func(i int) bool { return f.unconditional(&c.code.insts[i]) }) {
			return false
		}
	}
	return true
}
