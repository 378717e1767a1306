package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	listedLines = 400 // longer files are listed
	maxLines    = 600 // and longer ones than this must be split
)

// eachSource calls fn for every Go file of the module that is not a test's data.
func eachSource(t *testing.T, fn func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fn(path, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestUnsafeIsFenced(t *testing.T) {
	eachSource(t, func(path string, text []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			return
		}
		stem := strings.TrimSuffix(strings.TrimSuffix(path, ".go"), "_test")
		for _, i := range file.Imports {
			switch i.Path.Value {
			case `"unsafe"`:
				if !strings.HasSuffix(stem, "_unsafe") {
					t.Errorf("%s imports unsafe: only files named *_unsafe.go may, so that reviewers find them", path)
				}
			case `"C"`:
				t.Errorf("%s uses cgo: the module must build without a C compiler", path)
			}
		}
	})
}

func TestFilesStayShort(t *testing.T) {
	eachSource(t, func(path string, text []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil || ast.IsGenerated(file) {
			return
		}
		lines := bytes.Count(text, []byte("\n"))
		switch {
		case lines > maxLines:
			t.Errorf("%s has %d lines: split it, %d are allowed", path, lines, maxLines)
		case lines > listedLines:
			t.Logf("%s has %d lines: look whether it is two things", path, lines)
		}
	})
}

func TestGeneratedFilesSortLast(t *testing.T) {
	eachSource(t, func(path string, text []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return
		}
		if base := filepath.Base(path); ast.IsGenerated(file) != strings.HasPrefix(base, "z") {
			t.Errorf("%s: generated files, and no others, have names that begin with z", path)
		}
	})
}
