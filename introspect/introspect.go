package introspect

import (
	"cmp"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

// The values of [Point.Kind].
const (
	Marker     = "marker"
	Tracepoint = "tracepoint"
	Key        = "key"
)

// Point is one marker, tracepoint or key at one moment. [Handler] sends its JSON form.
type Point struct {
	Kind string `json:"kind"` // Marker, Tracepoint or Key
	Name string `json:"name"` // as declared, provider:name

	// Package is the import path of the package that declares the point, "main" for the
	// program's main package, and Variable the variable in it. A point that is part of a larger
	// variable has its offset in bytes after the name: "points+72". Both are empty if the
	// executable has no symbol for it.
	Package  string `json:"package,omitempty"`
	Variable string `json:"variable,omitempty"`

	Format string  `json:"format,omitempty"` // of a marker
	Fields []Field `json:"fields,omitempty"`
	Sites  []Site  `json:"sites,omitempty"` // of a marker of a linked executable

	Armed   int      `json:"armed"`            // by this process: arms of a marker, probes of a tracepoint, enables of a key
	Kernel  int      `json:"kernel"`           // the reference counter: tracers that armed it through the kernel
	Probes  []string `json:"probes,omitempty"` // the names of the connected functions, in the order they are called
	Pending bool     `json:"pending"`          // probes wait for a marker of this name, and none was found

	Hits   uint64 `json:"hits"`   // passes while enabled; keys do not count
	Nested uint64 `json:"nested"` // of these, made by a probe of the point itself, which then calls no probe
	Panics uint64 `json:"panics"` // probes that panicked and were disconnected

	Problem string  `json:"problem,omitempty"` // error in the declaration
	Address uintptr `json:"address"`           // of the variable in this process; 0 when pending
}

// Field describes one argument of a marker or tracepoint: its Name is the word in the format, or
// as a tracepoint declares it; else argN, counting from 1. Its Type and Kind are not known at
// first: see [All]. Its Offset and Size are 0.
type Field = event.Field

// Site is one place in the program's code that tests a marker.
type Site struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"` // as the compiler was given it; "" when unknown
	Line     int    `json:"line,omitempty"`
}

// All returns every marker, tracepoint and key of the program, and the names that probes wait
// for, sorted by kind and name. The list and its points belong to the caller.
//
// The types of a marker's fields are known in a linked executable, otherwise once the marker
// was registered with or passed while enabled; those of a tracepoint once a probe was registered,
// or it was passed while recorded.
//
// An error means that the executable could not be read, or is not the one that this process was
// started from. It wraps errors.ErrUnsupported on platforms without ELF files. The list is complete
// then too, except for Package, Variable, Sites and types.
func All() ([]Point, error) {
	all := []Point{}
	for _, m := range marker.All() {
		all = append(all, ofMarker(m))
	}
	for _, t := range tracepoint.All() {
		all = append(all, ofTracepoint(t))
	}
	for _, k := range statickey.All() {
		all = append(all, Point{Kind: Key, Name: k.Name, Armed: k.Enabled, Address: k.Address})
	}
	err := self.describe(all)
	slices.SortStableFunc(all, func(a, b Point) int {
		return cmp.Or(slices.Index(order, a.Kind)-slices.Index(order, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return all, err
}

var order = []string{Marker, Tracepoint, Key}

func ofMarker(m marker.Info) Point {
	p := Point{
		Kind: Marker, Name: m.Name, Format: m.Format, Fields: slices.Clone(m.Fields),
		Armed: m.Armed, Kernel: m.Kernel, Probes: m.Probes, Pending: m.Pending,
		Hits: m.Hits, Nested: m.Nested, Panics: m.Panics,
		Problem: text(m.Err), Address: m.Address,
	}
	return p
}

func ofTracepoint(t tracepoint.Info) Point {
	p := Point{
		Kind: Tracepoint, Name: t.Name, Fields: t.Fields,
		Armed: t.Armed, Probes: t.Probes,
		Hits: t.Hits, Nested: t.Nested, Panics: t.Panics,
		Problem: text(t.Err), Address: t.Address,
	}
	return p
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
