package gosource

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// constants finds out the values of constant strings.
type constants struct {
	file *File
	info *types.Info // nil until it is asked for
}

var errNotConstant = errors.New("no constant that is known from its package's source alone")

// text returns the value of a constant string.
func (c *constants) text(e ast.Expr) (string, error) {
	switch x := ast.Unparen(e).(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			return strconv.Unquote(x.Value)
		}
		return "", errNotConstant
	}
	if c.info == nil {
		c.check()
	}
	if v := c.info.Types[e].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v), nil
	}
	return "", errNotConstant
}

// check lets go/types look at the file and those beside it. It knows nothing of what they
// import, so there are errors, most of which do not matter: a constant has a value or has none.
// But files that declare the same are for different systems, and nobody knows which of them is in
// the program: these are left out.
func (c *constants) check() {
	var siblings []*ast.File
	if c.file.path != "" {
		siblings = c.siblings()
	}
	if twice := c.types(siblings); len(twice) > 0 {
		siblings = slices.DeleteFunc(siblings, func(f *ast.File) bool { return twice[c.name(f)] })
		c.file.Others = slices.DeleteFunc(c.file.Others, func(path string) bool { return twice[filepath.Base(path)] })
		c.types(siblings)
	}
}

func (c *constants) name(f *ast.File) string {
	return filepath.Base(c.file.set.PositionFor(f.Package, false).Filename)
}

// types returns the names of the files that declare what others declare too.
func (c *constants) types(siblings []*ast.File) (twice map[string]bool) {
	c.info = &types.Info{Types: make(map[ast.Expr]types.TypeAndValue)}
	twice = make(map[string]bool)
	conf := types.Config{Importer: nothing{}, DisableUnusedImportCheck: true, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && (strings.Contains(e.Msg, "redeclared") || strings.Contains(e.Msg, "other declaration")) {
			twice[filepath.Base(e.Fset.PositionFor(e.Pos, false).Filename)] = true
		}
	}}
	_, _ = conf.Check(c.file.Package, c.file.set, append([]*ast.File{c.file.syntax}, siblings...), c.info)
	return twice
}

// maxSiblings bounds how many files of a package are read for a constant.
const maxSiblings = 1000

func (c *constants) siblings() []*ast.File {
	dir := filepath.Dir(c.file.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == filepath.Base(c.file.path) || len(files) == maxSiblings {
			continue
		}
		text, err := ReadText(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if f, err := parser.ParseFile(c.file.set, name, text, parser.SkipObjectResolution); err == nil && f.Name.Name == c.file.Package {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					fn.Body = nil // of no interest
				}
			}
			files = append(files, f)
			c.file.Others = append(c.file.Others, filepath.Join(dir, name))
		}
	}
	return files
}

// nothing imports nothing.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errNotConstant }
