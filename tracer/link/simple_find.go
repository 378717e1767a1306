package link

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
	"github.com/waymark-trace/waymark/tracer/internal/simple/gocode"
	"github.com/waymark-trace/waymark/tracer/internal/simple/gofiles"
	"github.com/waymark-trace/waymark/tracer/internal/simple/gosource"
)

// maxSources bounds how many source files are looked at.
const maxSources = 1 << 18

// findSimple reads the sources that the debugging information names, as far as they import
// package simple, and finds their markers in the code.
func (img *image) findSimple(sources *gofiles.Finder, s *simples) (result *gocode.Result, err error) {
	defer func() { // debug/dwarf is not hardened
		if r := recover(); r != nil {
			result, err = nil, fmt.Errorf("%w: its debugging information: %v", ErrLayout, r)
		}
	}()
	debug, err := img.debugInfo()
	if err != nil {
		return nil, err
	}
	defer debug.Close()
	units, err := openUnits(debug)
	if err != nil {
		return nil, fmt.Errorf("%w: its debugging information: %w", ErrLayout, err)
	}
	names := units.Files()
	if len(names) > maxSources {
		return nil, fmt.Errorf("%w: it has more than %d source files", ErrLayout, maxSources)
	}
	var marking []*gocode.Source
	var refused []gocode.Refusal
	var unseen []error
	sources.Distribution(names)
	for _, name := range names {
		// A library of markers has none of its own.
		library := strings.HasPrefix(name, module+"@") || strings.HasPrefix(name, module+"/simple/")
		if library || sources.Own(name) || strings.HasPrefix(path.Base(name), "_cgo_") {
			continue
		}
		source, err := readSource(sources, name)
		switch {
		case errors.Is(err, gofiles.ErrNotFound) && img.setting("-cover") == "true" && path.Base(name) == coverVariables:
		case errors.Is(err, gofiles.ErrNotFound), errors.Is(err, fs.ErrPermission):
			unseen = append(unseen, err)
		case err != nil:
			refused = append(refused, gocode.Refusal{Name: name, Err: err})
		case source != nil:
			marking = append(marking, source)
		}
	}
	if len(unseen) > 0 {
		s.unseen = unseenText(unseen)
	}
	program := &gocode.Program{Units: units, Text: img.at, Pointers: img.pointers, Decode: img.arch.simple}
	if result, err = program.Find(marking); err != nil {
		return nil, fmt.Errorf("%w: its debugging information: %w", ErrLayout, err)
	}
	result.Refused = append(refused, result.Refused...)
	return result, nil
}

// coverVariables is the name of the file that go build -cover adds to each package and then deletes.
const coverVariables = "covervars.go"

// unseenText says that sources are missing.
func unseenText(errs []error) string {
	text := errs[0].Error()
	if n := len(errs) - 1; n > 0 {
		text = fmt.Sprintf("%s, and %d more", text, n)
	}
	return "simple markers, if they have any, have no records: " + text + "; --source says where"
}

// readSource reads a source file, nil for one that does not import package simple.
func readSource(sources *gofiles.Finder, name string) (*gocode.Source, error) {
	at, err := sources.Find(name)
	if err != nil {
		return nil, err
	}
	text, err := gosource.ReadText(at.Path)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(text), gosource.Path) {
		return nil, nil // so it does not import it
	}
	file, err := gosource.Parse(at.Path, text)
	if err != nil {
		return nil, err
	}
	if len(file.Markers) == 0 {
		return nil, nil
	}
	if file.Renumbered() {
		return nil, fmt.Errorf("%s has //line directives, which give its lines to another file", name)
	}
	if err := sources.Verify(at); err != nil {
		return nil, err
	}
	for _, other := range file.Others {
		sibling := *at
		sibling.Path = other
		if err := sources.Verify(&sibling); err != nil {
			return nil, err
		}
	}
	source := &gocode.Source{Name: name, Package: symbolPrefix(at.Package), File: file}
	if file.Package == "main" {
		source.Package = "main"
	}
	if source.Package == "" {
		return nil, fmt.Errorf("%s: the package that it belongs to cannot be told: no go.mod is above it", name)
	}
	return source, nil
}

// symbolPrefix returns what symbols of a package begin with: its path, with what would be
// mistaken for the end of it escaped. (cmd/internal/objabi: PathToPrefix)
func symbolPrefix(path string) string {
	slash := strings.LastIndexByte(path, '/')
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c <= ' ' || i > slash && c == '.' || c == '%' || c == '"' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// openUnits reads which sources the debugging information is of.
func openUnits(debug *debuginfo.File) (*gocode.Units, error) {
	lines, err := debug.LineSections()
	if err != nil {
		return nil, err
	}
	info, err := debug.Section("info")
	if err != nil {
		return nil, err
	}
	return gocode.OpenUnits(debug.Data, lines, uint64(len(info)))
}

// debugInfo returns the debugging information, for the caller to close: what was compressed is in memory outside of the collector's
// heap, of which nothing may be looked at then.
func (img *image) debugInfo() (*debuginfo.File, error) {
	f, err := debuginfo.Read(img.elf)
	switch {
	case errors.Is(err, debuginfo.ErrNone):
		return nil, errNoDebug
	case err != nil:
		return nil, fmt.Errorf("%w: its debugging information: %w", ErrLayout, err)
	}
	return f, nil
}
