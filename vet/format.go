package vet

import (
	"fmt"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/waymark-trace/waymark/event"
)

// Format compares the formats of markers with the types of their arguments.
var Format = &analysis.Analyzer{
	Name:     "markformat",
	Doc:      "check the formats of markers\n\nA marker's format has one verb for each argument, of its type, and names each field once. link and the running program refuse others.",
	URL:      page("markformat"),
	Requires: []*analysis.Analyzer{indexer},
	Run:      runFormat,
}

func runFormat(pass *analysis.Pass) (any, error) {
	ix := indexOf(pass)
	if ix == nil {
		return nil, nil
	}
	for _, d := range ix.decls {
		format, ok := text(pass.TypesInfo, d.format)
		if !ok {
			continue
		}
		if err := checkFormat(format, pass.TypesInfo.TypeOf(d.call)); err != nil {
			ix.reportAt(pass, d.at, d.format, "%s%v", d.label(pass), err)
		}
	}
	for _, l := range ix.lookups {
		format, ok := text(pass.TypesInfo, l.format)
		if !ok {
			continue
		}
		if _, err := event.ParseFormat(format); err != nil {
			ix.reportAt(pass, l.at, l.format, "%v", err)
		}
	}
	return nil, nil
}

// label begins a finding with its point: `marker "http:request": `.
func (d *decl) label(pass *analysis.Pass) string {
	if name, ok := text(pass.TypesInfo, d.name); ok {
		return fmt.Sprintf("%s %q: ", d.api.noun, name)
	}
	return ""
}

// checkFormat asks the one table of verbs and kinds, as far as the types are known: those of
// a generic function's parameters are not.
func checkFormat(format string, point types.Type) error {
	args := types.Unalias(point).(*types.Named).TypeArgs()
	kinds := make([]event.Kind, args.Len())
	for i := range kinds {
		kinds[i] = kindOf(args.At(i))
		if kinds[i] == event.Invalid {
			_, err := event.ParseFormat(format)
			return err
		}
	}
	_, err := event.Check(format, kinds)
	return err
}

// kinds maps basic types to their kinds.
var kinds = map[types.BasicKind]event.Kind{
	types.Bool:          event.Bool,
	types.Int:           event.Int,
	types.Int8:          event.Int8,
	types.Int16:         event.Int16,
	types.Int32:         event.Int32,
	types.Int64:         event.Int64,
	types.Uint:          event.Uint,
	types.Uint8:         event.Uint8,
	types.Uint16:        event.Uint16,
	types.Uint32:        event.Uint32,
	types.Uint64:        event.Uint64,
	types.Uintptr:       event.Uintptr,
	types.Float32:       event.Float32,
	types.Float64:       event.Float64,
	types.String:        event.String,
	types.UnsafePointer: event.Pointer,
}

// kindOf returns the kind of an argument's type, Invalid for a type that no marker has.
func kindOf(t types.Type) event.Kind {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return event.KindOfType(kinds[u.Kind()], typePath(t))
	case *types.Struct:
		if isText(t) {
			return event.String
		}
	case *types.Slice:
		if kindOf(u.Elem()) == event.Uint8 {
			return event.Bytes
		}
	}
	return event.Invalid
}

// isText reports whether t is a marker.Text, which probes and tracers get as a string.
func isText(t types.Type) bool { return typePath(t) == module+"marker.Text" }

// typePath returns the import path and name of a declared type, "time.Duration", and "" for others.
func typePath(t types.Type) string {
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil {
		return n.Obj().Pkg().Path() + "." + n.Obj().Name()
	}
	return ""
}
