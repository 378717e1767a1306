package link

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/simple/gocode"
	"github.com/waymark-trace/waymark/tracer/internal/simple/gofiles"
	"github.com/waymark-trace/waymark/tracer/internal/simple/gosource"
	"github.com/waymark-trace/waymark/tracer/internal/simple/section"
)

// ReportSimple is one simple marker of the report.
type ReportSimple struct {
	section.Marker
	// Dropped says that it is in a function of which no code is in the program. It has no
	// record.
	Dropped bool
}

// simples are the simple markers of a program.
type simples struct {
	sections [2][]byte // contents of the records' section and of that of the places
	report   []ReportSimple
	warnings []string
	unseen   string // of sources that are not here, "" for none
}

// errNoDebug says why there is nothing to find simple markers by.
var errNoDebug = errors.New("it has no debugging information, by which simple markers are found")

// SimplePackage is the import path of package simple, which leaves no trace in the code of programs that use it.
const SimplePackage = gosource.Path

// module is the path of the module that package simple is in.
var module = strings.TrimSuffix(SimplePackage, "/simple")

// simple finds the simple markers of the program, nil when it has none and had none.
func (img *image) simple(t *table, o Options, base int64) (*simples, error) {
	old, foreign, err := img.simpleSections(t)
	if err != nil {
		return nil, err
	}
	uses := img.info.Main.Path == module
	for _, d := range img.info.Deps {
		uses = uses || d.Path == module
	}
	if !uses {
		return nil, nil
	}
	s := new(simples)
	result, err := img.findSimple(gofiles.New(img.info, gofiles.Options{Dirs: o.Sources, Work: ".", Overlay: o.Overlay, Built: o.Built}), s)
	switch {
	case err != nil && old != nil:
		// The code is what it was, so what an earlier link found holds.
		s.warnings = nil
		return s, s.keep(img, old, foreign, base)
	case errors.Is(err, errNoDebug):
		s.unseen = "its simple markers, if it has any, have no records: " + err.Error() + " (-ldflags=-w and -s leave it out); strip the program after it is linked instead"
		if o.Simple {
			s.warnings = append(s.warnings, s.unseen)
		}
		return s, nil
	case err != nil:
		return nil, err
	}
	doc := &section.Document{}
	read := make(map[string]bool)
	for _, f := range slices.Concat(result.Found, result.Dropped) {
		read[f.Source.Name] = true
	}
	for _, f := range result.Found {
		m, problem := record(f)
		if problem != "" {
			s.warnings = append(s.warnings, fmt.Sprintf("%s:%d: a simple marker has no record: %s", f.Source.Name, f.Line, problem))
			continue
		}
		doc.Markers = append(doc.Markers, m)
	}
	if old != nil {
		// The code is what it was, so what an earlier link found in other files holds.
		for _, m := range old.Markers {
			if !read[m.File] {
				doc.Markers = append(doc.Markers, m)
			}
		}
		for _, m := range old.Markers {
			read[m.File] = true
		}
		slices.SortStableFunc(doc.Markers, func(a, b section.Marker) int {
			return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
		})
	} else if s.unseen != "" {
		s.warnings = append(s.warnings, s.unseen)
	}
	for _, r := range result.Refused {
		if !read[r.Name] {
			s.warnings = append(s.warnings, fmt.Sprintf("simple markers have no records: %v; build the program again", r.Err))
		}
	}
	for _, f := range result.Dropped {
		m, _ := record(f)
		s.report = append(s.report, ReportSimple{m, true})
	}
	if doc.Markers == nil && old == nil {
		if s.warnings == nil && s.report == nil {
			return nil, nil
		}
		return s, nil
	}
	return s, s.keep(img, doc, foreign, base)
}

// simpleSections returns what an earlier link wrote, nil for nothing, and the records of C code.
func (img *image) simpleSections(t *table) (old *section.Document, foreign []byte, err error) {
	if i := t.index(section.Section); i >= 0 {
		foreign = t.contents(img.data, i)
	}
	if i := t.index(section.PlaceSection); i >= 0 {
		old, err = section.DecodePlaces(t.contents(img.data, i))
		if err != nil {
			return nil, nil, fmt.Errorf("%w: section %s: %w", ErrLayout, section.PlaceSection, err)
		}
		if old.Foreign > int64(len(foreign)) {
			return nil, nil, fmt.Errorf("%w: section %s has lost records", ErrLayout, section.Section)
		}
		foreign = foreign[:old.Foreign]
	}
	if len(foreign) > 0 && foreign[len(foreign)-1] != 0 {
		return nil, nil, fmt.Errorf("%w: its own section %s is cut off", ErrLayout, section.Section)
	}
	return old, slices.Clip(foreign), nil
}

// keep makes the sections of a document.
func (s *simples) keep(img *image, doc *section.Document, foreign []byte, base int64) error {
	doc.BaseSize, doc.Foreign = base, int64(len(foreign))
	doc.Go, doc.Goid = img.goVer, max(0, img.goidOffset())
	records := foreign
	for _, m := range doc.Markers {
		var err error
		if records, err = section.Append(records, m.Record); err != nil {
			return err
		}
		s.report = append(s.report, ReportSimple{m, false})
	}
	if len(records) > section.MaxSize {
		return fmt.Errorf("%w: its simple markers need %d bytes, at most %d are read", ErrTooMany, len(records), section.MaxSize)
	}
	places, err := section.EncodePlaces(doc)
	if err != nil {
		return err
	}
	s.sections = [2][]byte{records, places}
	return nil
}

// record makes the record of a marker, or says why it has none.
func record(f *gocode.Found) (m section.Marker, problem string) {
	m.Record = section.Record{
		Name: f.Marker.Name, File: f.Source.Name, Line: f.Line,
		Description: f.Description, Variables: strings.Join(f.Variables, ", "),
	}
	m.Place = f.Place
	if f.Problem != "" {
		return m, f.Problem
	}
	if _, err := section.Append(nil, m.Record); err != nil {
		return m, err.Error()
	}
	return m, ""
}

// write appends the sections of the simple markers. Those of an earlier link are written
// over: sections keep their index.
func (s *simples) write(out []byte, t *table) []byte {
	if s == nil || s.sections[1] == nil {
		return out
	}
	out = t.appendData(out, section.Section, elf.SHT_PROGBITS, s.sections[0])
	return t.appendData(out, section.PlaceSection, elf.SHT_PROGBITS, s.sections[1])
}
