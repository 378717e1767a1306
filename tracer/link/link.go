package link

import (
	"fmt"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/schema"
)

// Report says what link did.
type Report struct {
	Path      string
	Unchanged bool // the file was linked already, byte for byte like this
	Markers   []ReportMarker
	Simple    []ReportSimple
	Sites     []SiteReport // with Options.Optimize: what became of each
	Warnings  []string
}

// ReportMarker is one marker of the report.
type ReportMarker struct {
	Name string // provider:name
	Marker
}

// Marker is what link writes into a program about a marker.
type Marker = schema.Marker

// Options are how to link. The zero value leaves every byte of code as it is.
type Options struct {
	Optimize bool // rewrite the sites that can be proved to be nothing else
	NoWatch  bool // with Optimize: do not watch for kernel tracers

	// Sources are directories in which the modules of the program are, where simple markers are
	// looked for: they are in the source alone. The working directory's is among them.
	Sources []string
	// Overlay has the source files that others were replaced by: go build -overlay.
	Overlay map[string]string
	// Built is when the program was built, the time of the file when it is zero: a source file
	// that is younger is refused.
	Built time.Time
	// Simple says that the program has simple markers, so that one without debugging
	// information is warned of.
	Simple bool
}

// Link returns the linked form of an executable. It does not change data.
func Link(data []byte, o Options) ([]byte, *Report, error) {
	img, err := openImage(data)
	if err != nil {
		return nil, nil, err
	}
	if err := img.restoreCode(); err != nil {
		return nil, nil, err
	}
	if img.anchor.addr == 0 {
		return img.linkSimple(o)
	}
	markers, err := img.findMarkers()
	if err != nil {
		return nil, nil, err
	}
	if len(markers) == 0 {
		return img.linkSimple(o)
	}
	if n := int(img.anchor.stubs); len(markers) > n {
		return nil, nil, fmt.Errorf("%w: %d markers or more, %d stubs; split the program, or mark with fewer markers and more arguments", ErrTooMany, len(markers), n)
	}
	if err := img.findSites(markers); err != nil {
		return nil, nil, err
	}
	doc, warnings, err := img.describe(markers)
	if err != nil {
		return nil, nil, err
	}
	var opt *optimized
	if o.Optimize {
		if opt, err = img.optimize(); err != nil {
			return nil, nil, err
		}
		doc.Code = opt.code()
		opt.tell(doc)
	}
	linked, simple, err := img.write(doc, opt, o)
	if err != nil {
		return nil, nil, err
	}
	if late := madeText(img.madeMarkers()); late != "" {
		warnings = append(warnings, late+"; waymark vet says why")
	}
	report := &Report{Warnings: warnings}
	if opt != nil {
		report.Sites = opt.report
	}
	if simple != nil {
		report.Simple, report.Warnings = simple.report, append(report.Warnings, simple.warnings...)
	}
	for _, m := range doc.Markers {
		report.Markers = append(report.Markers, ReportMarker{m.Provider + ":" + m.Name, m})
	}
	return linked, report, nil
}

// linkSimple returns the linked form of an executable that has no markers but simple ones.
func (img *image) linkSimple(o Options) ([]byte, *Report, error) {
	none := ErrNoMarkers
	if img.anchor.addr != 0 {
		if late := madeText(img.madeMarkers()); late != "" {
			none = fmt.Errorf("%w: %s", ErrMadeLate, late)
		}
	}
	t, err := img.readSections()
	if err != nil {
		return nil, nil, none
	}
	base := img.unlinkedSize(t)
	s, err := img.simple(t, o, base)
	if err != nil {
		return nil, nil, err
	}
	if s == nil || s.sections[1] == nil {
		switch {
		case s == nil:
			return nil, nil, none
		case s.warnings != nil:
			return nil, nil, fmt.Errorf("%w: %s", ErrNoRecords, strings.Join(s.warnings, "; "))
		case s.unseen != "":
			return nil, nil, fmt.Errorf("%w; %s", none, s.unseen)
		}
		return nil, nil, none
	}
	linked, err := t.finish(s.write(img.copied(base, t, s, 0), t))
	if err != nil {
		return nil, nil, err
	}
	return linked, &Report{Simple: s.report, Warnings: s.warnings}, nil
}

// stubAddress is the stub of the i-th marker in address order.
func (img *image) stubAddress(i int) uint64 {
	return img.anchor.pool + uint64(i)*markerabi.StubSize
}
