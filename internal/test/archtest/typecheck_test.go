package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// checked is a package, or the variant of one that a test needs, as go list -deps -test describes
// it.
type checked struct {
	ImportPath string
	Name       string
	Dir        string
	ForTest    string
	GoFiles    []string
	SFiles     []string
	Standard   bool
	ImportMap  map[string]string
	Module     *struct {
		Main      bool
		GoVersion string
	}
}

// own reports whether the package belongs to this repository.
func (p *checked) own() bool { return p.Module != nil && p.Module.Main }

// typeCheck type-checks the repository's packages for a platform, with their tests if tests is set.
// It returns the number of packages checked, and those with assembly. It reads the sources of all
// dependencies and compiles nothing. go vet takes ten times as long, because it needs the export
// data of every dependency.
func typeCheck(t *testing.T, goos, goarch string, tests bool) (count int, assembly []string) {
	t.Helper()
	args := []string{"list", "-deps", fmt.Sprintf("-test=%t", tests), "-json=ImportPath,Name,Dir,ForTest,GoFiles,SFiles,Standard,ImportMap,Module"}
	out := golang(t, goos, goarch, append(args, "work")...)
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for d := json.NewDecoder(bytes.NewReader(out)); ; { // a package comes after those that it imports
		p := new(checked)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return count, assembly
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the latter is generated
			continue
		}
		pkg, problems := p.check(goarch, done)
		done[p.ImportPath] = pkg
		if !p.own() {
			continue
		}
		count++
		if len(p.SFiles) > 0 && p.ForTest == "" {
			assembly = append(assembly, p.ImportPath)
		}
		for _, err := range problems {
			t.Errorf("GOOS=%s GOARCH=%s: %v", goos, goarch, err)
		}
	}
}

// check type-checks one package. The bodies of functions count only in packages of this repository.
func (p *checked) check(goarch string, done map[string]*types.Package) (*types.Package, []error) {
	var files []*ast.File
	var problems []error
	for _, name := range p.GoFiles {
		file, err := parse(filepath.Join(p.Dir, name))
		if err != nil {
			problems = append(problems, err)
		}
		if file != nil {
			files = append(files, file)
		}
	}
	config := types.Config{
		IgnoreFuncBodies: !p.own(),
		FakeImportC:      true,
		Sizes:            types.SizesFor("gc", goarch),
		Error:            func(err error) { problems = append(problems, err) },
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			if pkg := done[path]; pkg != nil {
				return pkg, nil
			}
			return nil, fmt.Errorf("%s is not among the dependencies", path)
		}),
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	pkg, _ := config.Check(path, fileSet, files, nil) // its errors have gone to problems
	if p.own() && len(p.SFiles) == 0 {
		problems = append(problems, withoutBody(files)...)
	}
	return pkg, problems
}

// withoutBody returns an error for each function that assembly of this platform should define,
// in a package that has none.
func withoutBody(files []*ast.File) (problems []error) {
	for _, file := range files {
		linknames := map[string]bool{}
		for _, group := range file.Comments {
			for _, c := range group.List {
				if f := strings.Fields(c.Text); len(f) > 1 && f[0] == "//go:linkname" {
					linknames[f[1]] = true
				}
			}
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body == nil && !linknames[f.Name.Name] {
				problems = append(problems, fmt.Errorf("%s: function %s has no body", fileSet.Position(f.Pos()), f.Name.Name))
			}
		}
	}
	return problems
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

// Most files are the same on several platforms and are parsed once.
var (
	fileSet = token.NewFileSet()
	parsed  sync.Map // of path to func() (*ast.File, error)
)

func parse(path string) (*ast.File, error) {
	once, _ := parsed.LoadOrStore(path, sync.OnceValues(func() (*ast.File, error) {
		return parser.ParseFile(fileSet, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	}))
	return once.(func() (*ast.File, error))()
}

// TestTypeCheckBites proves that typeCheck reports errors of each sort that it exists for.
func TestTypeCheckBites(t *testing.T) {
	for _, c := range []struct{ name, goarch, source, want string }{
		{"a constant too large for 32 bits", "386", "const n int = 1 << 40", "overflows"},
		{"that constant with 64 bits", "amd64", "const n int = 1 << 40", ""},
		{"an unknown name", "amd64", "func f() { unknown() }", "undefined: unknown"},
		{"an import that is missing", "amd64", `import "nowhere"; var _ = nowhere.X`, "not among the dependencies"},
		{"a function of another platform's assembly", "amd64", "func f()", "f has no body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.go")
			if err := os.WriteFile(path, []byte("package a; "+c.source+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			p := &checked{ImportPath: "a", Dir: filepath.Dir(path), GoFiles: []string{"a.go"}}
			p.Module = &struct {
				Main      bool
				GoVersion string
			}{true, "1.25"}
			_, problems := p.check(c.goarch, map[string]*types.Package{})
			if text := errors.Join(problems...); (c.want == "") != (text == nil) || text != nil && !strings.Contains(text.Error(), c.want) {
				t.Errorf("%v, want %q", text, c.want)
			}
		})
	}
}
