package e2e

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// instrumented is a module of somebody else's, copied, with a marker at the entry of functions.
type instrumented struct {
	dir     string
	markers int
}

// perPackage is how many functions of one package get a marker.
const perPackage = 150

// instrument fetches a module and marks functions of its packages.
func instrument(t *testing.T, module string, packages ...string) *instrumented {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	var got struct{ Dir string }
	if err != nil || json.Unmarshal(out, &got) != nil {
		peer.Missing(t, fmt.Sprintf("%s from a module proxy: %v\n%s", module, err, out))
	}
	m := &instrumented{dir: filepath.Join(t.TempDir(), "module")}
	if err := os.CopyFS(m.dir, os.DirFS(got.Dir)); err != nil {
		t.Fatal(err)
	}
	// The module cache is read-only, and so is the copy.
	run(t, "chmod", "-R", "u+w", m.dir)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	m.goCommand(t, "mod", "edit", "-require=github.com/waymark-trace/waymark@v0.0.0", "-replace=github.com/waymark-trace/waymark="+root)
	for _, p := range packages {
		m.mark(t, filepath.Join(m.dir, p))
	}
	return m
}

func (m *instrumented) goCommand(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// mark puts a marker behind the opening brace of functions, on its line.
func (m *instrumented) mark(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	pkg := ""
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		// A constraint may leave the file out, and its markers would mark nothing.
		if strings.Contains(string(text), "//go:build") || file.Name.Name == "main" {
			continue
		}
		pkg = file.Name.Name
		for _, d := range slices.Backward(file.Decls) {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || len(names) == perPackage || directed(f) {
				continue
			}
			name := fmt.Sprintf("waymark%d", len(names))
			at := set.Position(f.Body.Lbrace).Offset + 1
			text = slices.Concat(text[:at], fmt.Appendf(nil, "%s.Mark(%d);", name, len(names)), text[at:])
			names = append(names, name)
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m.markers += len(names)
	source := "package " + pkg + "\n\nimport (\n\t\"fmt\"\n\t\"math/rand/v2\"\n\t\"os\"\n\t\"sync/atomic\"\n\t\"time\"\n\n\t\"github.com/waymark-trace/waymark/marker\"\n)\n\n"
	list := ""
	for _, name := range names {
		source += fmt.Sprintf("var %s = marker.New1[int](%q, \"n %%d\")\n", name, "real:"+pkg+"_"+name)
		list += "&" + name + ", "
	}
	source += fmt.Sprintf(toggler, list, peer.Seed(t))
	if err := os.WriteFile(filepath.Join(dir, "waymark_toggle.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
}

// directed reports whether a function has a directive such as go:nosplit.
func directed(f *ast.FuncDecl) bool {
	return f.Doc != nil && slices.ContainsFunc(f.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:") })
}

// toggler arms and disarms a package's markers as long as its tests run, and appends to a file how
// often they were hit.
const toggler = `
func init() {
	path := os.Getenv("WAYMARK_TOGGLE")
	if path == "" {
		return
	}
	all := []*marker.Marker1[int]{%s}
	var hits atomic.Int64
	for want, m := range all {
		if _, err := m.Register(func(n int) {
			if n != want {
				panic("another's argument")
			}
			hits.Add(1)
		}); err != nil {
			panic(err)
		}
	}
	go func() {
		armed := make([]bool, len(all))
		random := rand.New(rand.NewPCG(%d, 0))
		for round := 0; ; round++ {
			for range 8 {
				i := random.IntN(len(all))
				var err error
				if armed[i] {
					err = all[i].Disarm()
				} else {
					err = all[i].Arm()
				}
				if err != nil {
					panic(err)
				}
				armed[i] = !armed[i]
			}
			if round%%50 == 0 {
				f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
				if err != nil {
					panic(err)
				}
				fmt.Fprintln(f, hits.Swap(0))
				f.Close()
			}
			time.Sleep(time.Millisecond)
		}
	}()
}
`
