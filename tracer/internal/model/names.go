package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/catalog"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

// known returns what the catalogue has for a marker with as many operands; nil otherwise, and then
// Unnamed is why.
func (m *Marker) known() []catalog.Arg {
	versions := catalog.Lookup(m.Provider, m.Name)
	if versions == nil {
		return nil
	}
	most := 0
	for i := range m.Sites {
		most = max(most, len(m.Sites[i].Operands))
	}
	has := func(args []catalog.Arg) bool {
		return !slices.ContainsFunc(m.Sites, func(s sdt.Site) bool { return len(s.Operands) != catalog.Operands(args) })
	}
	i := slices.IndexFunc(versions, has)
	if i < 0 {
		var counts []string
		for _, args := range versions {
			counts = append(counts, strconv.Itoa(catalog.Operands(args)))
		}
		m.Unnamed = fmt.Errorf("arguments are known for %s of them, and this file has %d",
			strings.Join(counts, " or "), most)
		return nil
	}
	return versions[i]
}

// sign makes the operands of C's ints signed. Notes say otherwise where a program casts them
// to an unsigned type, as libvirt does.
func (m *Marker) sign(args []catalog.Arg) {
	at := 0
	for _, a := range args {
		for i := range m.Sites {
			s := &m.Sites[i]
			o := s.Operands[at]
			if a.Type != catalog.Int || o.Signed || o.Float {
				continue
			}
			o.Signed, o.Value = true, event.Int64.Extend(o.Value, o.Size)
			s.Operands = slices.Clone(s.Operands) // those of the file stay as its notes have them
			s.Operands[at] = o
		}
		at += a.Type.Operands()
	}
}

// name gives the fields of a marker the names and types that the catalogue has for it.
func (m *Marker) name(args []catalog.Arg) {
	if args == nil {
		return
	}
	var fields []event.Field
	var from []Argument
	at := 0
	for _, a := range args {
		f, arg := m.Fields[at], m.Args[at]
		f.Name = a.Name
		switch {
		case a.Type == catalog.Text:
			arg.text(&f, 0)
		case a.Type == catalog.Sized:
			arg.text(&f, at+2)
		case a.Type == catalog.Bool && f.Kind.IsInteger():
			f.Kind, arg.given = event.Bool, true
		case a.Type == catalog.Pointer && f.Kind.IsInteger() && f.Kind.Size() == event.Pointer.Size():
			f.Kind, arg.given = event.Pointer, true
		}
		f.Type = typeName(f.Kind)
		fields, from = append(fields, f), append(from, arg)
		at += a.Type.Operands()
	}
	m.Fields, m.Args = fields, from
}

// text changes a field to the String to which its operand points.
func (a *Argument) text(f *event.Field, length int) {
	f.Kind, f.Type = event.String, typeName(event.String)
	a.given, a.length = true, length
}

// LengthOf returns the operand that holds the length of a text.
func LengthOf(a Argument) Argument { return Argument{Operand: a.length, given: true} }

func typeName(k event.Kind) string { return strings.TrimPrefix(k.String(), "unsafe.") }

// WithStrings returns the markers with the fields that the arguments make text. That one of them
// has each is asked for of those that are there from the beginning.
func WithStrings(markers []*Marker, args []string, all bool) ([]*Marker, error) {
	out := slices.Clone(markers)
	for _, arg := range args {
		pointer, length, sized := strings.Cut(arg, ":")
		found := false
		for i, m := range out {
			at := m.operand(pointer)
			size := 0
			if sized {
				size = m.operand(length)
			}
			if m.Typed || at == 0 || sized && size == 0 {
				continue
			}
			changed, err := m.withText(at, size)
			if err != nil {
				return nil, err
			}
			out[i], found = changed, true
		}
		if !found && all && len(markers) > 0 {
			return nil, noOperand(markers, arg)
		}
	}
	return out, nil
}

// withText returns a marker whose operand at points to text.
func (m *Marker) withText(at, length int) (*Marker, error) {
	c := *m
	c.Fields, c.Args = slices.Clone(m.Fields), slices.Clone(m.Args)
	i := slices.IndexFunc(c.Args, func(a Argument) bool { return a.Operand == at })
	if i < 0 {
		return nil, fmt.Errorf("arg%d of %s is the length of another argument", at, m.FullName())
	}
	texts := 0
	c.Args[i].text(&c.Fields[i], length)
	for j := range c.Fields {
		if c.Fields[j].Kind.HasLength() {
			texts++
		}
	}
	if texts > prog.MaxStrings {
		return nil, fmt.Errorf("%s has %d arguments read as text, an event carries %d", m.FullName(), texts, prog.MaxStrings)
	}
	return &c, nil
}

// operand returns which operand a field or argN is, from 1 and 0 for neither.
func (m *Marker) operand(name string) int {
	if i := m.Field(name); i >= 0 {
		return ArgumentOf(m, i).Operand
	}
	return Positional(m, name)
}

// Positional returns the N of argN, 0 when no site has so many operands.
func Positional(m *Marker, name string) int {
	n := event.ArgNumber(name)
	for i := range m.Sites {
		if n <= len(m.Sites[i].Operands) {
			return n
		}
	}
	return 0
}

func noOperand(markers []*Marker, arg string) error {
	if slices.ContainsFunc(markers, func(m *Marker) bool { return !m.Typed }) {
		return NoField(arg, markers)
	}
	return fmt.Errorf("%s: %w", arg, ErrTyped)
}
