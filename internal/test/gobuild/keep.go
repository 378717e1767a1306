package gobuild

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kept returns the path of the executable in the directory WAYMARK_BUILDS, which is for as long as
// the sources do not change: scripts/test makes one for each run. The same programs are built by
// many tests and packages, and linking one takes a third of a second. It returns "" where nothing
// can be shared: without the variable, and with an overlay, which is a test's own.
func (c Config) kept(t testing.TB, dir string) string {
	t.Helper()
	builds := os.Getenv("WAYMARK_BUILDS")
	if builds == "" || slices.ContainsFunc(c.Flags, func(f string) bool { return strings.HasPrefix(f, "-overlay") }) {
		return ""
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q\n", dir, c)
	env := os.Environ()
	slices.Sort(env)
	for _, e := range env { // the go command's variables, and cgo's
		if strings.HasPrefix(e, "GO") || strings.HasPrefix(e, "CGO_") || strings.HasPrefix(e, "CC=") {
			fmt.Fprintf(sum, "%q\n", e)
		}
	}
	return filepath.Join(builds, fmt.Sprintf("%s-%x", filepath.Base(dir), sum.Sum(nil)[:12]))
}

// keep adds an executable to WAYMARK_BUILDS, where other tests see all of it or nothing.
func keep(t testing.TB, out, kept string) {
	t.Helper()
	partial := fmt.Sprintf("%s.%d", kept, os.Getpid())
	if err := copyFile(out, partial); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(partial, kept); err != nil {
		t.Fatal(err)
	}
}

// copyFile copies an executable.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o777)
}
