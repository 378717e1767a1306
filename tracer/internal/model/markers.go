package model

import (
	"fmt"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

// MarkersOf joins the sites of a file to markers: those of one name, and for markers of
// linked Go programs of one signature, are one marker. doc is nil without metadata.
func MarkersOf(f *File, sites []sdt.Site, doc *schema.Document) []*Marker {
	records := map[sdt.Addr]*schema.Marker{}
	if doc != nil {
		for i := range doc.Markers {
			r := &doc.Markers[i]
			records[sdt.Addr(r.Location)] = r
		}
	}
	var all []*Marker
	known := map[string]*Marker{}
	for i := range sites {
		s := &sites[i]
		r := records[s.Location]
		if r != nil && (r.Provider != s.Provider || r.Name != s.Name) {
			f.Problems = append(f.Problems, fmt.Errorf("section %s: the marker at %#x is %.80q, its note says %.80q",
				schema.Section, uint64(s.Location), r.Provider+":"+r.Name, s.Provider+":"+s.Name))
			r = nil
		}
		key := signature(s, r)
		m := known[key]
		if m == nil {
			m = &Marker{Point: event.Point{Provider: s.Provider, Name: s.Name}, File: f}
			if r != nil {
				m.Format, m.Typed, m.Fields = r.Format, r.Typed, recordFields(r)
			}
			known[key] = m
			all = append(all, m)
		}
		m.add(s, r)
	}
	for _, m := range all {
		if !m.Typed {
			known := m.known()
			m.sign(known)
			m.Fields = operandFields(f, m.Sites)
			m.Args = make([]Argument, len(m.Fields))
			for i := range m.Args {
				m.Args[i].Operand = i + 1
			}
			m.name(known)
		}
	}
	return all
}

// signature is equal for sites of one marker.
func signature(s *sdt.Site, r *schema.Marker) string {
	key := s.Provider + "\x00" + s.Name
	if r != nil {
		key += fmt.Sprintf("\x00%s\x00%t", r.Format, r.Typed)
		for _, f := range r.Fields {
			key += fmt.Sprintf("\x00%q %q %v %q", f.Name, f.Type, f.Kind, f.Verb)
		}
	}
	return key
}

// add adds a site. Where two notes give the same marker other arguments at one location,
// one of them is wrong, and counting both would count each hit twice.
func (m *Marker) add(s *sdt.Site, r *schema.Marker) {
	for i := range m.Sites {
		if m.Sites[i].Offset == s.Offset {
			m.File.Problems = append(m.File.Problems, fmt.Errorf(
				"two notes of %.80q at %#x say different arguments: %.80q is used, %.80q is not",
				m.FullName(), uint64(s.Address), m.Sites[i].Args, s.Args))
			return
		}
	}
	m.Sites = append(m.Sites, *s)
	m.records = append(m.records, r)
	m.Counted = m.Counted || s.CounterOffset != 0
}

func recordFields(r *schema.Marker) []event.Field {
	var fields []event.Field
	for _, f := range r.Fields {
		fields = append(fields, event.Field{Name: f.Name, Type: f.Type, Kind: f.Kind, Verb: f.Verb})
	}
	return fields
}

// operandFields returns arg1…argN for the most arguments that any of the sites has.
func operandFields(f *File, sites []sdt.Site) []event.Field {
	var fields []event.Field
	var errs []error
	for i := range sites {
		ops := sites[i].Operands
		_, unavailable := prog.OperandPlan(f.machine, ops, 0)
		for j := range ops {
			k := OperandKind(&ops[j])
			switch {
			case j == len(fields):
				fields = append(fields, event.Field{Name: fmt.Sprintf("arg%d", j+1), Kind: k})
				errs = append(errs, unavailable[j])
			case unavailable[j] != nil: // a site that never has it says nothing about its kind
			case errs[j] != nil:
				fields[j].Kind, errs[j] = k, nil
			default:
				fields[j].Kind = commonKind(fields[j].Kind, k)
			}
		}
	}
	for j := range fields {
		fields[j].Type = typeName(fields[j].Kind)
		fields[j].Unavailable = event.ReasonOf(errs[j])
	}
	return fields
}

// OperandKind is what an operand's size, sign and form say.
func OperandKind(o *sdt.Operand) event.Kind {
	type form struct {
		size          int
		signed, float bool
	}
	switch (form{o.Size, o.Signed, o.Float}) {
	case form{1, true, false}:
		return event.Int8
	case form{2, true, false}:
		return event.Int16
	case form{4, true, false}:
		return event.Int32
	case form{8, true, false}:
		return event.Int64
	case form{1, false, false}:
		return event.Uint8
	case form{2, false, false}:
		return event.Uint16
	case form{4, false, false}:
		return event.Uint32
	}
	if o.Float && o.Size == 4 {
		return event.Float32
	}
	if o.Float && o.Size == 8 {
		return event.Float64
	}
	return event.Uint64
}

// Holds reports whether a field of kind a holds all values of kind b. Kinds of operands are
// integers of a size and floating-point numbers.
func Holds(a, b event.Kind) bool {
	switch {
	case a.IsFloat() || b.IsFloat():
		return a.IsFloat() && b.IsFloat() && a.Size() >= b.Size()
	case a.Signed() == b.Signed():
		return a.Size() >= b.Size()
	}
	return a.Signed() && a.Size() > b.Size()
}

// commonKind is the smallest kind that holds values of both, for arguments that differ from
// site to site. Where there is none, values say their own: Value.Kind.
func commonKind(a, b event.Kind) event.Kind {
	switch {
	case a == b:
		return a
	case a.IsFloat() && b.IsFloat():
		return event.Float64
	case a.IsFloat() || b.IsFloat():
		return event.Uint64
	case a.Signed() == b.Signed():
		if a.Size() > b.Size() {
			return a
		}
		return b
	}
	signed, unsigned := a, b
	if b.Signed() {
		signed, unsigned = b, a
	}
	if signed.Size() > unsigned.Size() {
		return signed
	}
	switch unsigned.Size() {
	case 1:
		return event.Int16
	case 2:
		return event.Int32
	}
	return event.Int64
}
