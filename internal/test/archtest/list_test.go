package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/waymark-trace/waymark"

// root is the module's directory, where every command of these tests runs.
const root = "../../.."

// pkg is what go list says of a package.
type pkg struct {
	ImportPath string
	Standard   bool
	Doc        string
	Imports    []string
	Deps       []string // everything below it
	CgoFiles   []string
	GoFiles    []string
	SFiles     []string // assembly
}

// within reports whether the package is dir, or lies below it.
func (p *pkg) within(dir string) bool {
	path := strings.TrimPrefix(p.ImportPath, module+"/")
	return path == dir || strings.HasPrefix(path, dir+"/")
}

// list returns the module's packages as they are for a platform, and all that they need.
func list(t *testing.T, goos, goarch string) (own []*pkg, all map[string]*pkg) {
	t.Helper()
	args := []string{"list", "-deps", "-json=ImportPath,Standard,Doc,Imports,Deps,CgoFiles,GoFiles,SFiles"}
	out := golang(t, goos, goarch, append(args, "work")...)
	all = make(map[string]*pkg)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
		if strings.HasPrefix(p.ImportPath, module+"/") {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		t.Fatal("go list names no package of this module")
	}
	return own, all
}

// golang runs the go command for a platform and returns its output.
func golang(t *testing.T, goos, goarch string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("GOOS=%s GOARCH=%s go %s: %v\n%s%s", goos, goarch, strings.Join(args, " "), err, out, &stderr)
	}
	return out
}
