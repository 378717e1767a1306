// Package gosource reads the simple markers of Go programs from their source: their texts, and
// the statements after them that can take their place in the code.
//
// It judges by syntax. Where only types could tell, it takes what is the safe side for who
// looks for a marker's place: an expression may call, may panic, may change a variable.
package gosource

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
)

// Path is the import path of the package whose functions mark.
const Path = "github.com/waymark-trace/waymark/simple"

// MaxSize bounds the source files that are read, in bytes.
const MaxSize = 32 << 20

// File is a source file that imports package simple.
type File struct {
	Package   string // as its clause says
	Functions []*Function
	Markers   []*Marker
	Others    []string // files of the package that were asked for constants

	path   string
	set    *token.FileSet
	syntax *ast.File
	begins map[int]int  // how many statements begin on a line
	ends   map[int]bool // whether one ends there that began on another
	values *constants
}

// Function is a function of the file: declared, or a literal.
type Function struct {
	// Name is what symbols call it behind its package, "(*cache).get"; a literal has that of the
	// function around it, "" outside of any.
	Name    string
	Literal bool
	Line    int // of the keyword func
	Body    int // of its opening brace
	// Kept says that the compiler inlines it nowhere: it is told not to, or has a statement of
	// which Go's inliner wants nothing (cmd/compile/internal/inline: hairyVisitor).
	Kept bool
}

// Marker is a simple marker of the file.
type Marker struct {
	Name        string
	Description string
	Variables   []string // as they stand in the source
	Line, Last  int      // the lines it is on
	Alone       bool     // nothing else is there
	Anchored    bool
	Function    *Function // nil outside of any
	Problem     string    // what makes it none that can be recorded, "" for nothing
	Follow      Follow
}

// ReadImports reports whether a file imports package simple, and reads no more than its imports.
func ReadImports(text []byte) (bool, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return false, err
	}
	_, imported := importName(file)
	return imported, nil
}

// ReadText reads a source file, if it is a regular one of at most MaxSize bytes.
func ReadText(path string) ([]byte, error) {
	info, err := os.Stat(path) // opening a FIFO would wait for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading %s: it is not a regular file", path)
	}
	if info.Size() > MaxSize {
		return nil, fmt.Errorf("reading %s: it has %d bytes, at most %d are read", path, info.Size(), MaxSize)
	}
	return os.ReadFile(path)
}

// Parse reads the markers of a source file. The path is where constants of the same package
// are looked for; "" for nowhere.
func Parse(path string, text []byte) (*File, error) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &File{Package: syntax.Name.Name, path: path, set: set, syntax: syntax}
	name, imported := importName(syntax)
	f.functions()
	if imported {
		f.countLines()
		f.markers(name, text)
	}
	return f, nil
}

// importName returns what the file calls package simple, "" for a dot import.
func importName(file *ast.File) (name string, imported bool) {
	for _, i := range file.Imports {
		if strings.Trim(i.Path.Value, "`\"") != Path {
			continue
		}
		switch {
		case i.Name == nil:
			return "simple", true
		case i.Name.Name == ".":
			return "", true
		case i.Name.Name != "_":
			return i.Name.Name, true
		}
	}
	return "", false
}

// line returns the line of a position, as the compiler counts it: //line directives apply.
func (f *File) line(pos token.Pos) int { return f.set.Position(pos).Line }

// Renumbered reports whether //line directives give lines of the file other numbers, or names.
func (f *File) Renumbered() bool {
	for _, group := range f.syntax.Comments {
		if slices.ContainsFunc(group.List, func(c *ast.Comment) bool {
			return strings.HasPrefix(c.Text, "//line ") || strings.HasPrefix(c.Text, "/*line ")
		}) {
			return true
		}
	}
	return false
}

// countLines notes which lines have the beginnings of how many statements and functions, and
// which the ends of statements that began on others.
func (f *File) countLines() {
	f.begins, f.ends = make(map[int]int), make(map[int]bool)
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt, *ast.EmptyStmt, *ast.LabeledStmt, nil:
		case ast.Stmt, *ast.FuncDecl:
			first, last := f.line(n.Pos()), f.line(n.End())
			f.begins[first]++
			switch n.(type) {
			case *ast.CaseClause, *ast.CommClause: // these end with a statement of theirs
			default:
				f.ends[last] = f.ends[last] || last != first
			}
		}
		return true
	})
}
