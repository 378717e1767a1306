package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// TestSite builds the documentation's site. The generator fails for links to missing pages.
func TestSite(t *testing.T) {
	if testing.Short() {
		t.Skip("installs a generator from npm")
	}
	peer.Need(t, "npm")
	dir := t.TempDir()
	cmd := exec.Command("../scripts/site", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) < 15 {
		t.Fatal(pages, err)
	}
	foreign := regexp.MustCompile(`<(?:script|img|link)[^>]* (?:src|href)="(?:https?:)?//[^"]*"`)
	for _, page := range append(pages, "index.md") {
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		html, err := os.ReadFile(filepath.Join(dir, name+".html"))
		if err != nil {
			t.Error(err)
			continue
		}
		if m := foreign.Find(html); m != nil {
			t.Errorf("%s loads from elsewhere: %s", name, m)
		}
	}
	// Search works offline, over an index of all pages.
	indexes, err := filepath.Glob(filepath.Join(dir, "assets/chunks/@localSearchIndex*.js"))
	if err != nil || len(indexes) != 1 {
		t.Fatal(indexes, err)
	}
	index, err := os.ReadFile(indexes[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"tutorial", "rings", "stability", "cookbook"} {
		if !strings.Contains(string(index), "/"+word) {
			t.Errorf("the index has no page %s", word)
		}
	}
}
