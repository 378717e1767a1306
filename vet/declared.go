package vet

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/analysis"
)

// declared is the fact about a package that names all points in it and in its imports.
// A package sees those of its imports alone, so each passes its own imports' on.
type declared struct{ Points []point }

// point is a declaration, as other packages learn of it.
type point struct {
	Name    string // provider:name
	Written string // the name as it is declared, by which the running program finds it
	Noun    string
	Format  string
	Package string
	Where   string // the file's name and the line
}

func (*declared) AFact() {}

func (d *declared) String() string { return fmt.Sprint(d.Points) }

func (p point) String() string { return fmt.Sprintf("%s (%s)", p.Package, p.Where) }

func (d *declared) find(name string) (point, bool) {
	i := slices.IndexFunc(d.Points, func(p point) bool { return p.Name == name })
	if i < 0 {
		return point{}, false
	}
	return d.Points[i], true
}

// beside returns the position of p, and how tools treat it and a later one of its name.
func (p point) beside(later point) string {
	switch {
	case p.Noun != later.Noun:
		return fmt.Sprintf("as %s in %s; a name is either's", p.Noun, p)
	case p.Format != later.Format:
		return fmt.Sprintf("with format %q in %s; tools take the two for one", p.Format, p)
	}
	return fmt.Sprintf("also in %s; tools take the two for one", p)
}

// inherit returns the points of all imports. It reports those of one name that no import has
// seen together: they meet in this package.
func inherit(pass *analysis.Pass) *declared {
	known := new(declared)
	from := make(map[point][]int) // the imports that know a point
	imports := pass.Pkg.Imports()
	for i, imp := range imports {
		var theirs declared
		if !pass.ImportPackageFact(imp, &theirs) {
			continue
		}
		for _, p := range theirs.Points {
			if from[p] == nil {
				known.Points = append(known.Points, p)
			}
			from[p] = append(from[p], i)
		}
	}
	byName := make(map[string][]point)
	for _, p := range known.Points {
		for _, first := range byName[p.Name] {
			if !slices.ContainsFunc(from[p], func(i int) bool { return slices.Contains(from[first], i) }) {
				meet(pass, imports[from[p][0]], first, p)
				break
			}
		}
		byName[p.Name] = append(byName[p.Name], p)
	}
	return known
}

// meet reports, where the package of the second is imported, that two points have one name.
func meet(pass *analysis.Pass, imp *types.Package, first, second point) {
	if isTestMain(pass.Pkg) || len(pass.Files) == 0 {
		return
	}
	var at ast.Node = pass.Files[0].Name
	for _, f := range pass.Files {
		for _, spec := range f.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); path == imp.Path() {
				at = spec
			}
		}
	}
	ix := &index{ignores: findIgnores(pass)} // there is none when no point is used here
	ix.report(pass, at, analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fmt.Sprintf(
		"%s %q in %s is declared twice: %s", second.Noun, second.Name, second, first.beside(second))})
}
