package model

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/variable"
	"github.com/waymark-trace/waymark/tracer/internal/simple/ccode"
	"github.com/waymark-trace/waymark/tracer/internal/simple/section"
)

// simpleFile is what an open file says about its simple markers.
type simpleFile struct {
	im      *elffile.Image
	opened  *os.File // of im, if the resolver opened it
	file    *File
	records []section.Record
	marks   []ccode.Mark
	reasons []error // for each mark why it has no place, by who linked it
	// functions are for each mark what link calls the function that it is in, "" when it did not
	// say.
	functions []string
	info      *debuginfo.File
	zone      *RedZone // nil until a site needs it
	found     []ccode.Found
	outline   bool  // only the functions are asked for
	err       error // why nothing is known of places
}

// simpleMarkers returns the simple markers of an open file. What is wrong with single records, or
// with the debugging information, is among the file's problems, or the markers'. with outline, probe locations are left out.
func simpleMarkers(im *elffile.Image, file *File, outline bool) (markers []*Marker) {
	s := &simpleFile{im: im, file: file, outline: outline}
	defer s.close()
	err := debuginfo.Guard(func() error {
		if !s.read() {
			return nil
		}
		for i := range s.records {
			markers = append(markers, s.marker(i, nil, nil))
		}
		s.nameFunctions(markers)
		return nil
	})
	if err != nil {
		file.Problems = append(file.Problems, fmt.Errorf("simple markers: %w", err))
	}
	return markers
}

// read reads the records, and finds their places; it is false when there are none.
func (s *simpleFile) read() bool {
	records, problems, err := section.Read(s.im)
	if err != nil {
		problems = append(problems, err)
	}
	s.file.Problems = append(s.file.Problems, problems...)
	if len(records) == 0 {
		return false
	}
	s.records = records
	places, err := section.ReadPlaces(s.im)
	if err != nil {
		s.file.Problems = append(s.file.Problems, err)
		places = &section.Places{}
	}
	if places.Of != nil {
		s.file.Go, s.file.goid = places.Go, checkGoid(cmp.Or(places.Goid, -1))
	}
	s.marks, s.reasons, s.functions = make([]ccode.Mark, len(records)), make([]error, len(records)), make([]string, len(records))
	for i, r := range records {
		s.marks[i] = ccode.Mark{File: r.File, Line: r.Line}
		if p, ok := places.Of[r]; ok {
			s.linked(i, p)
		}
	}
	if s.outline && !slices.Contains(s.functions, "") {
		s.err = ErrOutline
		return true
	}
	if s.info, s.err = debuginfo.Open(s.im, s.file.Path); s.err != nil {
		return true
	}
	if err := debuginfo.Guard(s.addresses); err != nil {
		s.file.Problems = append(s.file.Problems, err)
	}
	if s.outline || s.im.Type == elf.ET_REL {
		var names []string
		if names, s.err = ccode.Functions(s.info, s.marks); s.err == nil {
			s.err = ErrOutline
			if s.im.Type == elf.ET_REL {
				s.err = ErrRelocatable
			}
		}
		for i := range s.functions {
			s.functions[i] = cmp.Or(s.functions[i], names[i])
		}
		return true
	}
	s.found, s.err = ccode.Find(s.info, s.marks)
	return true
}

// linked takes over what waymark link found out about the marker of a Go program.
func (s *simpleFile) linked(i int, p section.Place) {
	m := &s.marks[i]
	m.Proven, m.Functions = true, p.Functions
	s.functions[i] = p.Function()
	for _, a := range p.Addresses {
		m.At = append(m.At, ccode.Address{Address: a})
	}
	if p.Reason != "" {
		s.reasons[i] = errors.New(p.Reason)
	}
}

// addresses reads where the markers of our header say that they are.
func (s *simpleFile) addresses() error {
	data, err := s.info.Section(section.AddressSection)
	if err != nil || data == nil {
		return err
	}
	records, err := s.im.Named(section.Section, section.MaxSize)
	if err != nil {
		return err
	}
	all, err := section.ParseAddresses(data, records)
	at := map[section.Record][]ccode.Address{}
	for _, a := range all {
		at[a.Record] = append(at[a.Record], ccode.Address{Address: a.Address, Size: a.Size})
	}
	for i, r := range s.records {
		if m := &s.marks[i]; !m.Proven {
			m.At = at[r]
		}
	}
	return err
}

func (s *simpleFile) close() {
	if s.info != nil {
		s.info.Close()
	}
}

// marker returns the marker of a record, with more fields for the expressions in vars. known[i]
// becomes nil when vars[i] names something at any of its places.
func (s *simpleFile) marker(i int, vars []string, known []error) *Marker {
	r := s.records[i]
	provider, name, ok := strings.Cut(r.Name, ":")
	if !ok {
		provider, name = "", r.Name
	}
	m := &Marker{Point: event.Point{Provider: provider, Name: name, Format: r.Description}, File: s.file, Typed: true}
	m.Simple = &Simple{
		Name: r.Name, File: r.File, Line: r.Line, Description: r.Text(), Variables: section.Split(r.Variables),
		Err: or2(s.reasons[i], s.err),
	}
	m.record = i
	if s.err != nil {
		return m
	}
	m.goCode = s.marks[i].Proven // what C code is in the program has a red zone, and no goroutine
	var frames []*variable.Frame
	var reasons []error
	for _, p := range kernelOrder(s.found[i].Places) {
		off, err := s.info.Offset(p.Address)
		if err != nil {
			m.Simple.Refused = append(m.Simple.Refused, SimplePlace{Address: p.Address, Err: err})
			continue
		}
		site := sdt.Site{
			Note:    sdt.Note{Provider: provider, Name: name, Location: sdt.Addr(p.Address)},
			Address: sdt.Addr(p.Address), Offset: sdt.Offset(off),
		}
		if err := s.redZone(m, &site); err != nil {
			out := SimplePlace{Address: p.Address, Err: err}
			out.named(s.info, p.Code)
			m.Simple.Refused = append(m.Simple.Refused, out)
			continue
		}
		var frame *variable.Frame
		if p.Scope != nil {
			frame = variable.At(s.info, p.Scope, variable.Point{Position: p.At, Probe: p.Address, Line: r.Line})
		}
		frames, reasons = append(frames, frame), append(reasons, noScope(&p))
		m.Sites = append(m.Sites, site)
		m.readings = append(m.readings, nil)
		m.Simple.Places = append(m.Simple.Places, s.place(&p, frame, m.Simple.Variables))
		looked(s.info, len(m.Sites))
	}
	for _, x := range s.found[i].Refused {
		out := SimplePlace{Address: x.Address, Err: x.Err}
		out.named(s.info, x.Code)
		m.Simple.Refused = append(m.Simple.Refused, out)
	}
	err := debuginfo.Guard(func() error {
		own := m.Simple.Variables
		m.simpleFields(s.info, frames, reasons, own, append([]string{}, r.Verbs()...), make([]error, len(own)))
		m.simpleFields(s.info, frames, reasons, vars, nil, known)
		return nil
	})
	if err != nil {
		s.file.Problems = append(s.file.Problems, fmt.Errorf("variables of %s: %w", m.FullName(), err))
	}
	return m
}

// redZone returns an error if a probe may overwrite variables.
func (s *simpleFile) redZone(m *Marker, site *sdt.Site) error {
	if m.goCode {
		return nil
	}
	if s.zone == nil {
		s.zone = NewRedZone(s.im)
	}
	return s.zone.check(site)
}

// kernelOrder turns copies at one address around: the kernel calls the latest probe first
// (consumer_add, kernel/events/uprobes.c).
func kernelOrder(places []ccode.Place) []ccode.Place {
	out := slices.Clone(places)
	for i := 0; i < len(out); {
		j := i + 1
		for j < len(out) && out[j].Address == out[i].Address {
			j++
		}
		slices.Reverse(out[i:j])
		i = j
	}
	return out
}

func or2(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// place describes a place.
func (s *simpleFile) place(p *ccode.Place, frame *variable.Frame, marked []string) SimplePlace {
	out := SimplePlace{Address: p.Address, Emulated: p.Cost == ccode.Emulated}
	out.named(s.info, p.Code)
	err := debuginfo.Guard(func() error {
		for _, expr := range marked {
			v := SimpleVariable{Name: plain(expr), Marked: true, Err: noScope(p)}
			if frame != nil {
				v = simpleVariable(frame.Lookup(expr))
				v.Marked = true
			} else {
				v.Location = v.Err.Error()
			}
			out.Variables = append(out.Variables, v)
		}
		if frame == nil {
			return nil
		}
		for _, v := range frame.InScope() {
			if !slices.ContainsFunc(marked, func(expr string) bool { return plain(expr) == v.Name }) {
				out.Variables = append(out.Variables, simpleVariable(v))
			}
		}
		return nil
	})
	if err != nil {
		s.file.Problems = append(s.file.Problems, fmt.Errorf("variables at %#x: %w", p.Address, err))
	}
	return out
}

// noScope says why no variable is known at a place, nil when some may be.
func noScope(p *ccode.Place) error {
	if p.NoScope == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", event.OptimizedOut, p.NoScope)
}

func simpleVariable(v variable.Variable) SimpleVariable {
	out := SimpleVariable{Name: v.Name, Location: v.Text, Err: v.Err}
	if v.Type != nil {
		out.Type = v.Type.Name
	}
	return out
}

// named sets the functions that contain a probe location, and their compiler.
func (p *SimplePlace) named(info *debuginfo.File, code *debuginfo.Scope) {
	if code != nil {
		p.Compiler = code.Compiler()
	}
	for code != nil {
		fn := code.Function()
		if fn == nil {
			return
		}
		if fn.Parent == nil {
			p.Function = info.Name(fn)
			return
		}
		p.Inlined = slices.Insert(p.Inlined, 0, info.Name(fn))
		code = fn.Parent
	}
}

// nameFunctions notes the functions around the lines of the markers.
func (s *simpleFile) nameFunctions(markers []*Marker) {
	var files []string
	for i, r := range s.records {
		name := &markers[i].Simple.Function
		if *name = s.functions[i]; s.found != nil && *name == "" { // link does not know
			*name = s.found[i].Function(s.info)
		}
		if *name == "" {
			files = append(files, r.File)
		}
	}
	if files == nil {
		return
	}
	if s.info == nil {
		if !errors.Is(s.err, ErrNoDebug) {
			s.file.Problems = append(s.file.Problems, s.err)
		}
		return
	}
	functions, err := s.info.FunctionsIn(files)
	if err != nil {
		s.file.Problems = append(s.file.Problems, err)
		return
	}
	for i, m := range markers {
		if m.Simple.Function == "" {
			m.Simple.Function = functions.Of(s.records[i].File, s.records[i].Line)
		}
	}
}

// resolver reads each file of simple markers once more.
type resolver struct{ files map[*File]*simpleFile }

// resolve returns a marker with more fields.
func (r *resolver) resolve(m *Marker, vars []string, known []error) (*Marker, error) {
	problems := m.File.Problems // reported when the marker was found
	defer func() { m.File.Problems = problems }()
	s, err := r.read(m.File)
	if err != nil {
		return nil, err
	}
	if m.record >= len(s.records) || s.records[m.record].Name != m.Simple.Name {
		return nil, fmt.Errorf("%s %w", m.File.Path, ErrChanged)
	}
	var again *Marker
	err = debuginfo.Guard(func() error {
		again = s.marker(m.record, vars, known)
		return nil
	})
	return again, err
}

// read returns the records of a file, and their probe locations.
func (r *resolver) read(file *File) (*simpleFile, error) {
	if s := r.files[file]; s != nil {
		return s, nil
	}
	f, err := Reopen(file)
	if err != nil {
		return nil, err
	}
	im, err := elffile.FromFile(f, file.Path)
	if err != nil {
		f.Close()
		return nil, err
	}
	s := &simpleFile{im: im, opened: f, file: file}
	if r.files == nil {
		r.files = map[*File]*simpleFile{}
	}
	r.files[file] = s
	s.read()
	return s, nil
}

func (r *resolver) close() {
	for _, s := range r.files {
		s.close()
		s.im.Close()
		s.opened.Close()
	}
}
