package archtest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A tree is a copy of the repository.
type tree struct {
	dir string
	was map[string]string // the sums of its files when it was made
}

func copyTree(t *testing.T) *tree {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the scripts run on Linux")
	}
	tr := &tree{dir: t.TempDir()}
	out, err := exec.Command("bash", "-c", `tar -c --exclude=./.git --exclude=./bin -C "$0" . | tar -x -C "$1"`, root, tr.dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tr.was = tr.sums(t)
	return tr
}

// sums returns the content of all files of the tree.
func (tr *tree) sums(t *testing.T) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := filepath.WalkDir(tr.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		sums[path] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// run runs a script of the tree and returns its output. path is PATH, "" for the test's own.
func (tr *tree) run(t *testing.T, path string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(filepath.Join(tr.dir, "scripts", args[0]), args[1:]...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "GOFLAGS=-buildvcs=false")
	if path != "" {
		cmd.Env = append(cmd.Env, "PATH="+path)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// replace replaces text in a file of the tree.
func (tr *tree) replace(t *testing.T, file, old, by string) {
	t.Helper()
	path := filepath.Join(tr.dir, file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q", file, old)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, by)), 0o666); err != nil {
		t.Fatal(err)
	}
	tr.was = tr.sums(t)
}

// withoutGo returns a PATH that has the system's programs, and no go.
func withoutGo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range strings.Fields("bash env dirname mktemp rm cp mv mkdir cat find grep awk sed sort comm cmp diff tar tail head cut tr xargs") {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestScriptsWithoutGo runs the scripts as sudo does when root's PATH has no go: they end at once and change no file.
func TestScriptsWithoutGo(t *testing.T) {
	tr, path := copyTree(t), withoutGo(t)
	for _, name := range []string{"test", "generate", "bootstrap"} {
		out, err := tr.run(t, path, name)
		if err == nil || !strings.Contains(out, "go is not in PATH") {
			t.Errorf("scripts/%s: %v\n%s", name, err, out)
		}
		if strings.Contains(out, "go vet") {
			t.Errorf("scripts/%s goes on:\n%s", name, out)
		}
		if !maps.Equal(tr.was, tr.sums(t)) {
			t.Fatalf("scripts/%s changed the tree:\n%s", name, out)
		}
	}
}

// TestGenerateKeepsFiles holds scripts/generate to changing a file only if it has made it.
func TestGenerateKeepsFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the generators several times")
	}
	const source, made = "marker/marker_unsafe.go", "marker/zarity_unsafe.go"
	for _, c := range []struct{ name, file, old, by, want string }{
		{"a generator that fails", source, "//go:generate go run", "//go:generate false", "a generator failed"},
		{"no generator", source, "//go:generate", "//", "no generator makes these files, and they are as they were: ./" + made},
		{"an edited file, to be compared", made, "\nfunc ", "\n// edited\nfunc ", "generated files differ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := copyTree(t)
			tr.replace(t, c.file, c.old, c.by)
			args := []string{"generate"}
			if c.file == made {
				args = append(args, "--check")
			}
			out, err := tr.run(t, "", args...)
			if err == nil || !strings.Contains(out, c.want) {
				t.Errorf("%v, want %q in\n%s", err, c.want, out)
			}
			if !maps.Equal(tr.was, tr.sums(t)) {
				t.Error("the tree changed")
			}
		})
	}
	t.Run("an edited file", func(t *testing.T) {
		tr := copyTree(t)
		want := tr.was
		tr.replace(t, made, "\nfunc ", "\n// edited\nfunc ")
		if out, err := tr.run(t, "", "generate"); err != nil || !maps.Equal(want, tr.sums(t)) {
			t.Errorf("the file is not as it was before: %v\n%s", err, out)
		}
	})
}
