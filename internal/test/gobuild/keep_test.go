package gobuild

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A test may change the program that it gets: others get it as it was built. Programs that are built in other ways,
// or from a test's own sources, are not shared.
func TestKept(t *testing.T) {
	const dir = "../../../examples/minimal"
	t.Setenv("WAYMARK_BUILDS", t.TempDir())
	first := Build(t, Config{}, dir)
	built, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(first, []byte("changed"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "") // no go command
	second, err := os.ReadFile(Build(t, Config{}, dir))
	if err != nil || !bytes.Equal(second, built) {
		t.Errorf("%v; %d bytes the second time, %d the first", err, len(second), len(built))
	}
	paths := map[string]bool{"": true}
	for _, c := range []Config{{}, {PIE: true}, {Strip: true}, {External: true}, {Flags: []string{"-gcflags=-N"}}} {
		path := c.kept(t, dir)
		if paths[path] {
			t.Errorf("%s is shared with another way to build", c)
		}
		paths[path] = true
	}
	t.Setenv("GOAMD64", "v3")
	if paths[(Config{}).kept(t, dir)] {
		t.Error("a program for another processor is shared")
	}
	overlay := Config{Flags: []string{Overlay(t, t.TempDir(), filepath.Join(dir, "main.go"), "package main\n")}}
	if path := overlay.kept(t, dir); path != "" {
		t.Errorf("a program of a test's own sources is kept in %s", path)
	}
}
