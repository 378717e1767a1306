package link

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/elffile"
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
	schema.Marker
}

// maxFile bounds the files link reads, in bytes: it holds two copies in memory.
const maxFile = 4 << 30

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

// File links the executable at path with no options: see FileWith.
func File(path, out string) (*Report, error) { return FileWith(path, out, Options{}) }

// FileWith links the executable at path and writes the result to out, or in place when out is
// "" or path. The new file is written beside its place and renamed into it, with the mode of
// the old one: a program that is running keeps the file it started from.
func FileWith(path, out string, o Options) (*Report, error) {
	report, err := linkFile(path, out, o)
	if err != nil {
		return nil, fmt.Errorf("linking %s: %w", path, err)
	}
	return report, nil
}

func linkFile(path, out string, o Options) (*Report, error) {
	if out == "" {
		out = path
	}
	// A symbolic link keeps pointing to what it pointed to.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real
	}
	data, info, err := elffile.ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	if o.Built.IsZero() {
		o.Built = info.ModTime()
	}
	linked, report, err := LinkWith(data, o)
	if err != nil {
		return nil, err
	}
	report.Path = out
	report.Unchanged = bytes.Equal(linked, data)
	if report.Unchanged && out == path {
		return report, nil
	}
	if there, err := os.Stat(out); err == nil && !there.Mode().IsRegular() {
		if out == os.DevNull { // only to see whether it can be linked
			return report, nil
		}
		return nil, fmt.Errorf("%s is there and not a regular file: it is not replaced", out)
	}
	lost, err := replaceFile(out, linked, path, info)
	report.Warnings = append(report.Warnings, lost...)
	return report, err
}

// Link returns the linked form of an executable, with no options. It does not change data.
func Link(data []byte) ([]byte, *Report, error) { return LinkWith(data, Options{}) }

// LinkWith returns the linked form of an executable. It does not change data.
func LinkWith(data []byte, o Options) ([]byte, *Report, error) {
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

// replaceFile writes data to a temporary file beside path, with what can be kept of the file
// it comes from, then renames it to path. A crash leaves either the old file or the new one.
func replaceFile(path string, data []byte, from string, like os.FileInfo) (lost []string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".link*")
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) { // whose path nobody has seen before
			err = at.Err
		}
		return nil, fmt.Errorf("making a new file beside %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return nil, err
	}
	lost, owned := keepAttributes(f, from, like)
	mode := like.Mode()
	if special := mode & (os.ModeSetuid | os.ModeSetgid); special != 0 && !owned {
		mode &^= special // it would run as somebody else
		lost = append(lost, "its set-user-ID and set-group-ID bits were dropped with its owner")
	}
	// After the owner: changing it clears the set-user-ID bits.
	if err := f.Chmod(mode); err != nil {
		return lost, err
	}
	if err := f.Sync(); err != nil {
		return lost, err
	}
	if err := f.Close(); err != nil {
		return lost, err
	}
	return lost, os.Rename(f.Name(), path)
}

// stubAddress is the stub of the i-th marker in address order.
func (img *image) stubAddress(i int) uint64 {
	return img.anchor.pool + uint64(i)*markerabi.StubSize
}
