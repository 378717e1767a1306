package gofiles

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A file that is younger than the program is what it was built from if the program's commit has it.
func TestVerifyCommit(t *testing.T) {
	peer.Need(t, "git")
	dir := t.TempDir()
	path := filepath.Join(dir, "a.go")
	write(t, filepath.Join(dir, "go.mod"), "module example.org/a\n")
	write(t, path, "package a\n")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "a")
	settings := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: git("rev-parse", "HEAD")}, {Key: "vcs.modified", Value: "false"}}
	verify := func(settings []debug.BuildSetting, built time.Time) error {
		f := New(&debug.BuildInfo{Main: debug.Module{Path: "example.org/a"}, Settings: settings}, Options{Built: built, Work: dir})
		file, err := f.Find("example.org/a/a.go")
		if err != nil {
			t.Fatal(err)
		}
		return f.Verify(file)
	}
	old := time.Now().Add(-time.Hour)
	if err := verify(nil, time.Now().Add(time.Second)); err != nil {
		t.Errorf("an older file: %v", err)
	}
	if err := verify(nil, old); err == nil {
		t.Error("a younger file of a program without a commit was accepted")
	}
	if err := verify(settings, old); err != nil {
		t.Errorf("a younger file that is the commit's: %v", err)
	}
	write(t, path, "package a // changed\n")
	if err := verify(settings, old); err == nil {
		t.Error("a file that is not the commit's was accepted")
	}
}

// A module of the cache is held against its hash.
func TestVerifyModule(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("GOMODCACHE", cache)
	root := filepath.Join(cache, "example.org", "!up@v1.2.3")
	write(t, filepath.Join(root, "sub", "x.go"), "package sub\n")
	sum, err := dirhash.HashDir(root, "example.org/Up@v1.2.3", dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	info := &debug.BuildInfo{Main: debug.Module{Path: "example.org/a"}, Deps: []*debug.Module{{Path: "example.org/Up", Version: "v1.2.3", Sum: sum}}}
	for _, name := range []string{"example.org/Up@v1.2.3/sub/x.go", filepath.Join(root, "sub", "x.go")} {
		file, err := New(info, Options{}).Find(name)
		if err != nil || file.Package != "example.org/Up/sub" {
			t.Fatalf("%s: %+v, %v", name, file, err)
		}
		if err := New(info, Options{}).Verify(file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, filepath.Join(root, "sub", "y.go"), "package sub\n")
	file, err := New(info, Options{}).Find("example.org/Up@v1.2.3/sub/x.go")
	if err != nil {
		t.Fatal(err)
	}
	if err := New(info, Options{}).Verify(file); err == nil || !strings.Contains(err.Error(), "its hash is") {
		t.Errorf("of a module that was changed: %v", err)
	}
	for _, name := range []string{"example.org/Up@v1.2.3/../../../../etc/passwd", "example.org/b/x.go", "/nowhere/x.go", ""} {
		if file, err := New(info, Options{}).Find(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: found %+v, %v", name, file, err)
		}
	}
}

// Of two directories with one module, a file belongs to the one that it is in; and of nested modules to the inner one.
func TestTwoCheckouts(t *testing.T) {
	dir := t.TempDir()
	for _, checkout := range []string{"one", "two"} {
		write(t, filepath.Join(dir, checkout, "go.mod"), "module example.org/a\n")
		write(t, filepath.Join(dir, checkout, "sub", "x.go"), "package sub\n")
		write(t, filepath.Join(dir, checkout, "inner", "go.mod"), "module example.org/inner\n")
		write(t, filepath.Join(dir, checkout, "inner", "y.go"), "package inner\n")
	}
	info := &debug.BuildInfo{Main: debug.Module{Path: "example.org/a"}}
	for range 20 { // maps are in random order
		f := New(info, Options{Work: filepath.Join(dir, "one"), Dirs: []string{filepath.Join(dir, "one", "inner")}})
		for name, want := range map[string]string{
			filepath.Join(dir, "one", "sub", "x.go"):   "example.org/a/sub",
			filepath.Join(dir, "two", "sub", "x.go"):   "example.org/a/sub",
			filepath.Join(dir, "one", "inner", "y.go"): "example.org/inner",
			filepath.Join(dir, "two", "inner", "y.go"): "example.org/inner",
		} {
			file, err := f.Find(name)
			if err != nil || file.Path != name || file.Package != want {
				t.Fatalf("%s: %+v, %v, want package %s", name, file, err, want)
			}
		}
	}
}
