package vet

import (
	"fmt"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/waymark-trace/waymark/internal/field"
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
		if _, err := field.ParseFormat(format); err != nil {
			ix.reportAt(pass, l.at, l.format, "%v", err)
		}
	}
	return nil, nil
}

// label says what a finding is about: `marker "http:request": `.
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
	kinds := make([]field.Kind, args.Len())
	for i := range kinds {
		kinds[i] = kindOf(args.At(i))
		if kinds[i] == field.Invalid {
			_, err := field.ParseFormat(format)
			return err
		}
	}
	_, err := field.Check(format, kinds)
	return err
}

// kinds says which kind a basic type is.
var kinds = map[types.BasicKind]field.Kind{
	types.Bool:          field.Bool,
	types.Int:           field.Int,
	types.Int8:          field.Int8,
	types.Int16:         field.Int16,
	types.Int32:         field.Int32,
	types.Int64:         field.Int64,
	types.Uint:          field.Uint,
	types.Uint8:         field.Uint8,
	types.Uint16:        field.Uint16,
	types.Uint32:        field.Uint32,
	types.Uint64:        field.Uint64,
	types.Uintptr:       field.Uintptr,
	types.Float32:       field.Float32,
	types.Float64:       field.Float64,
	types.String:        field.String,
	types.UnsafePointer: field.Pointer,
}

// kindOf returns the kind of an argument's type, Invalid for a type that no marker has.
func kindOf(t types.Type) field.Kind {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return kinds[u.Kind()]
	case *types.Slice:
		if kindOf(u.Elem()) == field.Uint8 {
			return field.Bytes
		}
	}
	return field.Invalid
}
