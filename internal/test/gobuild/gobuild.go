// Package gobuild builds Go programs for tests, over the matrix of ways in which users build
// theirs.
package gobuild

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Versions are the Go versions that markers support, the oldest first. scripts/bootstrap
// fetches what is missing.
var Versions = []string{"go1.25.5", "go1.26.8"}

// Config is one way to build.
type Config struct {
	Go       string // one of Versions, "" for the one that runs the test
	PIE      bool
	Strip    bool // -ldflags='-s -w' -trimpath
	Race     bool
	External bool // -ldflags=-linkmode=external, cgo on
	Flags    []string
}

// String names the configuration, for subtests.
func (c Config) String() string {
	parts := []string{c.Go}
	if c.Go == "" {
		parts[0] = runtime.Version()
	}
	for _, p := range []struct {
		on   bool
		name string
	}{{c.PIE, "pie"}, {!c.PIE, "exe"}, {c.Strip, "stripped"}, {c.Race, "race"}, {c.External, "external"}} {
		if p.on {
			parts = append(parts, p.name)
		}
	}
	return strings.Join(append(parts, c.Flags...), "-")
}

// Build builds the package in directory dir of this module and returns the path of a fresh
// executable that belongs to the test. With WAYMARK_BUILDS set to a directory, programs that were
// built before are copied from there.
func Build(t testing.TB, c Config, dir string) string {
	t.Helper()
	if c.Go != "" {
		need(t, c.Go)
	}
	out := filepath.Join(t.TempDir(), filepath.Base(dir))
	kept := c.kept(t, dir)
	if kept != "" && copyFile(kept, out) == nil {
		return out
	}
	c.build(t, dir, out)
	if kept != "" {
		keep(t, out, kept)
	}
	return out
}

// build builds the package in directory dir into the file out.
func (c Config) build(t testing.TB, dir, out string) {
	t.Helper()
	args := []string{"build", "-o", out}
	var ldflags []string
	if c.PIE {
		args = append(args, "-buildmode=pie")
	}
	if c.Race {
		args = append(args, "-race")
	}
	if c.Strip {
		args = append(args, "-trimpath")
		ldflags = append(ldflags, "-s", "-w")
	}
	if c.External {
		ldflags = append(ldflags, "-linkmode=external")
	}
	if ldflags != nil {
		args = append(args, "-ldflags="+strings.Join(ldflags, " "))
	}
	cmd := exec.Command("go", slices.Concat(args, c.Flags, []string{"."})...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false")
	if c.Go != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+c.Go)
	}
	if !c.External && !c.Race {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s as %s: %v\n%s", dir, c, err, text)
	}
}

// need skips a test whose toolchain is not there and cannot be fetched.
func need(t testing.TB, version string) {
	t.Helper()
	cmd := exec.Command("go", "version")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+version)
	cmd.Dir = t.TempDir()
	text, err := cmd.CombinedOutput()
	if err == nil && strings.Contains(string(text), version) {
		return
	}
	reason := fmt.Sprintf("no toolchain %s here: %s", version, text)
	if os.Getenv("WAYMARK_REQUIRE_PEERS") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// Overlay returns the go build flag that replaces a file of this module, given relative to the
// test's directory, by text that it keeps in dir.
func Overlay(t testing.TB, dir, file, text string) (flag string) {
	t.Helper()
	return Overlays(t, dir, map[string]string{file: text})
}

// Overlays does so for several files.
func Overlays(t testing.TB, dir string, texts map[string]string) (flag string) {
	t.Helper()
	replace := map[string]string{}
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for file, text := range texts {
		replaced, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		replace[replaced] = write(fmt.Sprintf("overlay%d.go", len(replace)), []byte(text))
	}
	object, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	return "-overlay=" + write("overlay.json", object)
}
