package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"hash/fnv"
	"os"
	"path/filepath"
	"reflect"
)

// compiler does what a compiler's front end does, on one package after the other: it parses files, checks
// types, and walks over all that there is, writing a stream of what it found.
type compiler struct {
	set      *token.FileSet
	context  build.Context
	packages map[string]*types.Package
	out      uint64
}

func compile(path string) error {
	c := &compiler{set: token.NewFileSet(), context: build.Default, packages: map[string]*types.Package{"unsafe": types.Unsafe}}
	c.context.CgoEnabled = false
	_, err := c.ImportFrom(path, "", 0)
	return err
}

func (c *compiler) Import(path string) (*types.Package, error) { return c.ImportFrom(path, "", 0) }

// ImportFrom is called for what each package imports.
func (c *compiler) ImportFrom(path, dir string, _ types.ImportMode) (*types.Package, error) {
	if p := c.packages[path]; p != nil {
		return p, nil
	}
	found, err := c.context.Import(path, dir, 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range found.GoFiles {
		text, err := os.ReadFile(filepath.Join(found.Dir, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(c.set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		fileParsed.Mark(name, len(text))
		files = append(files, file)
	}
	config := types.Config{Importer: c, Sizes: types.SizesFor("gc", "amd64")}
	info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object)}
	p, err := config.Check(found.ImportPath, c.set, files, info)
	if err != nil {
		return nil, err
	}
	packageChecked.Mark(path, len(files))
	c.packages[path] = p
	for _, file := range files {
		for _, d := range file.Decls {
			name := ""
			if f, ok := d.(*ast.FuncDecl); ok {
				name = f.Name.Name
			}
			if declaration.Enabled() {
				declaration.Mark(name, int(d.Pos()))
			}
			c.translate(d, info)
		}
	}
	return p, nil
}

// translate writes a code for each statement and expression.
func (c *compiler) translate(d ast.Decl, info *types.Info) {
	h := fnv.New64a()
	depth := 0
	ast.Inspect(d, func(n ast.Node) bool {
		if n == nil {
			depth--
			return false
		}
		depth++
		switch n := n.(type) {
		case ast.Stmt:
			if statement.Enabled() {
				statement.Mark(int(n.Pos()), depth)
			}
			h.Write([]byte(reflect.TypeOf(n).Elem().Name()))
		case ast.Expr:
			if expression.Enabled() {
				expression.Mark(int(n.Pos()), depth)
			}
			if t, ok := info.Types[n]; ok && t.Value != nil {
				h.Write([]byte(t.Value.ExactString()))
			}
		}
		return true
	})
	c.out ^= h.Sum64()
}
