package vet

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/waymark-trace/waymark/event"
)

// Name checks the names of points: valid, and each declared once in all that a package needs.
var Name = &analysis.Analyzer{
	Name:      "markname",
	Doc:       "check the names of markers, tracepoints and keys\n\nA name is provider:name in letters, digits and _, and one place in the build has it. A tracepoint names all of its arguments, or none. marker.Register gives the format that the marker was declared with.",
	URL:       page("markname"),
	Requires:  []*analysis.Analyzer{indexer},
	FactTypes: []analysis.Fact{(*declared)(nil)},
	Run:       runName,
}

func runName(pass *analysis.Pass) (any, error) {
	known := inherit(pass)
	if ix := indexOf(pass); ix != nil {
		for _, d := range ix.decls {
			ix.checkDeclared(pass, d, known)
		}
		for _, l := range ix.lookups {
			ix.checkLookup(pass, l, known)
		}
	}
	if len(known.Points) > 0 {
		pass.ExportPackageFact(known)
	}
	return nil, nil
}

// checkDeclared reports a wrong name of a declaration, and remembers the name.
func (ix *index) checkDeclared(pass *analysis.Pass, d *decl, known *declared) {
	name, ok := text(pass.TypesInfo, d.name)
	if !ok {
		return
	}
	if _, _, err := event.ParseName(name); err != nil {
		ix.reportAt(pass, d.at, d.name, "%s%v", d.label(pass), err)
		return
	}
	ix.checkFields(pass, d)
	p := point{Name: fullName(pass.Pkg, name), Written: name, Noun: d.api.noun, Package: pass.Pkg.Path(), Where: where(pass, d.call)}
	p.Format, _ = text(pass.TypesInfo, d.format)
	if first, ok := known.find(p.Name); ok {
		ix.reportAt(pass, d.at, d.name, "%s %q is declared twice: %s", p.Noun, p.Name, first.beside(p))
	}
	known.Points = append(known.Points, p)
}

// checkFields reports wrong names of a tracepoint's arguments: all have names, or none has.
func (ix *index) checkFields(pass *analysis.Pass, d *decl) {
	if len(d.fields) == 0 {
		return
	}
	args := types.Unalias(pass.TypesInfo.TypeOf(d.call)).(*types.Named).TypeArgs().Len()
	if n := len(d.fields); n != args {
		ix.reportAt(pass, d.at, d.fields[0], "%sit names %d of %d arguments", d.label(pass), n, args)
		return
	}
	var names []string
	for _, f := range d.fields {
		name, ok := text(pass.TypesInfo, f)
		if !ok {
			return
		}
		names = append(names, name)
	}
	if err := event.CheckNames(names); err != nil {
		ix.reportAt(pass, d.at, d.fields[0], "%s%v", d.label(pass), err)
	}
}

// checkLookup reports names that no point can have, and a format other than the declared one.
func (ix *index) checkLookup(pass *analysis.Pass, l *lookup, known *declared) {
	name, ok := text(pass.TypesInfo, l.name)
	if !ok {
		return
	}
	if _, _, err := event.ParseName(name); err != nil {
		ix.reportAt(pass, l.at, l.name, "%s.%s: %v", l.fn.Pkg().Name(), l.fn.Name(), err)
		return
	}
	format, _ := text(pass.TypesInfo, l.format)
	if format == "" {
		return // any will do, or it is not known
	}
	for _, p := range known.Points {
		if p.Written == name && p.Noun == apiOf(l.fn).noun && p.Format != format {
			ix.reportAt(pass, l.at, l.format, "%s %q: format %q is not the declared one: %q in %s", p.Noun, name, format, p.Format, p)
			return
		}
	}
}

// fullName returns provider:name of a name that is declared in a package: without a provider
// of its own it belongs to the one that link and the running program take it to have.
func fullName(pkg *types.Package, name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	symbol := "main"
	if pkg.Name() != "main" {
		dir, last := path.Split(pkg.Path())
		symbol = dir + strings.ReplaceAll(last, ".", "%2e") // as symbols have it
	}
	return event.ProviderOf(symbol+".x") + ":" + name
}

// where returns the place of a node in words that are the same on every machine.
func where(pass *analysis.Pass, n ast.Node) string {
	p := pass.Fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", filepath.Base(p.Filename), p.Line)
}
