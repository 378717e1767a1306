package peer

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Corpus requires programs and libraries of Debian's that have SDT notes and returns their
// paths: scripts/corpus downloads them into the user's cache, once.
func Corpus(t testing.TB) []string {
	t.Helper()
	if testing.Short() {
		t.Skip("may download 80 MB")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		Missing(t, "a directory for the corpus: "+err.Error())
	}
	dir := filepath.Join(cache, "waymark", "corpus")
	// Without a network apt tries for minutes.
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	script := exec.CommandContext(ctx, filepath.Join(root(t), "scripts", "corpus"), dir)
	script.WaitDelay = time.Second
	var stderr strings.Builder
	script.Stderr = &stderr
	out, err := script.Output()
	if err != nil {
		Missing(t, "programs with notes from Debian: "+err.Error()+"\n"+stderr.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// root returns the directory of go.work: tests run in the directory of their package.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			err = fs.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("looking for go.work: %v", err)
	return ""
}
