package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/variable"
)

// ErrNoVariable says of a name that no variable has it where it is asked for.
var ErrNoVariable = variable.ErrNoVariable

// ErrNotSimple says of markers that they have fields instead.
var ErrNotSimple = errors.New("only simple markers have variables")

// ErrNoDebug says of a file that neither it nor a separate debug file has debugging information.
var ErrNoDebug = debuginfo.ErrNone

// ErrRelocatable reports that a simple marker is in a relocatable file (.o, .ko).
var ErrRelocatable = errors.New("its file is relocatable (.o, .ko), and its code has no address before it is linked or loaded")

// ErrOutline reports that the probe locations of a simple marker were not looked for.
var ErrOutline = errors.New("its places were not asked for")

// ErrNoPlace says of a simple marker that no instruction stands for it.
var ErrNoPlace = errors.New("has no place in the code")

var errUnknown = errors.New("nothing is known of it")

// Simple is what a marker without an instruction of its own has besides: where its source is, and
// for each of Marker.Sites what is known of the place. Its fields are variables.
type Simple struct {
	Name        string // as it was marked, with all its colons
	File        string // of the source, as the compiler was given it
	Line        int
	Function    string   // around the line, "" when it is not known
	Description string   // with $variable in place of each conversion
	Variables   []string // expressions, as they stand in the source
	Places      []SimplePlace
	// Refused are instructions that the marker is at, and where it is not traced: see each Err.
	Refused []SimplePlace
	// Err is why nothing is known of its places, nil when something is.
	Err error
}

// SimplePlace is one instruction that stands for a simple marker.
type SimplePlace struct {
	Address  uint64
	Function string // whose code it is
	// Inlined are the functions that were inlined there, from the outermost.
	Inlined []string
	// Emulated says that the kernel does what the instruction does, where it otherwise executes
	// it elsewhere with a trap behind it: a hit then costs some ten times more.
	Emulated bool
	// Compiler is the compiler that wrote the locations of the variables, "" if unknown.
	Compiler string
	// Variables are those of the marker, in its order, and behind them the others in scope.
	Variables []SimpleVariable
	Err       error // of a place that was refused
}

// SimpleVariable is a variable at one place.
type SimpleVariable struct {
	Name     string
	Type     string // "" when it is not known
	Location string // such as "register rdi", "stack cfa-24", "optimized out"
	Marked   bool   // the marker names it
	Err      error  // why it has no value there
}

// WithVars returns the markers with the variables added to the fields of those that are simple.
// That one of them has each is asked for of those that are there from the beginning.
func WithVars(markers []*Marker, vars []string, all bool) ([]*Marker, error) {
	if len(vars) == 0 {
		return markers, nil
	}
	found := slices.Repeat([]error{errUnknown}, len(vars))
	var out []*Marker
	simple := false
	var r resolver
	defer r.close()
	for _, m := range markers {
		if m.Simple != nil {
			simple = true
			var err error
			if m, err = r.resolve(m, vars, found); err != nil {
				return nil, err
			}
		}
		out = append(out, m)
	}
	if all && !simple {
		return nil, fmt.Errorf("%s: %w", strings.Join(vars, ", "), ErrNotSimple)
	}
	for i, name := range vars {
		if err := found[i]; all && err != nil {
			return nil, fmt.Errorf("variable %s: %w", name, err)
		}
	}
	return out, nil
}

// Placed returns the markers that have a place. When none has, the error says why of the first.
func Placed(markers []*Marker, all bool) ([]*Marker, error) {
	var out []*Marker
	var first error
	for _, m := range markers {
		switch {
		case len(m.Sites) > 0 || m.Simple == nil:
			out = append(out, m)
		case first == nil:
			first = m.NoPlace()
		}
	}
	if all && len(out) == 0 && first != nil {
		return nil, first
	}
	return out, nil
}

// NoPlace returns why a marker has no site, nil when it has one.
func (m *Marker) NoPlace() error {
	s := m.Simple
	switch {
	case s == nil || len(m.Sites) > 0:
		return nil
	case s.Err != nil:
		return fmt.Errorf("%s %w: %w", m.FullName(), ErrNoPlace, s.Err)
	case len(s.Refused) > 0:
		return fmt.Errorf("%s %w: at %#x, %w", m.FullName(), ErrNoPlace, s.Refused[0].Address, s.Refused[0].Err)
	}
	return fmt.Errorf("%s %w: the compiler or the linker dropped the code that it was in", m.FullName(), ErrNoPlace)
}

// PartlyPlaced returns why hits of a marker are missed although it has a site, nil when no place of
// it is left out. They are not counted as lost: nobody knows how many there are.
func (m *Marker) PartlyPlaced() error {
	s := m.Simple
	if s == nil || len(m.Sites) == 0 || len(s.Refused) == 0 {
		return nil
	}
	first := &s.Refused[0]
	return fmt.Errorf("%s is not traced at every place: hits at %d of %d are missed, at %#x because %w", m.FullName(),
		len(s.Refused), len(s.Refused)+len(m.Sites), first.Address, first.Err)
}
