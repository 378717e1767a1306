package link_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/tracer/link"
)

// A site has the line that its marker is marked on, whatever is inlined around it: the names of the program's markers
// have that line.
func TestLines(t *testing.T) {
	needLinux(t)
	configs := []gobuild.Config{{}, {PIE: true, Strip: true}, {Go: gobuild.Versions[0]}}
	if !testing.Short() {
		configs = append(configs, gobuild.Config{Go: gobuild.Versions[0], PIE: true, Strip: true}, gobuild.Config{Flags: []string{"-gcflags=-N"}},
			gobuild.Config{Race: true}, gobuild.Config{External: true}, gobuild.Config{External: true, PIE: true})
	}
	for _, c := range configs {
		t.Run(c.String(), func(t *testing.T) {
			r, err := link.File(gobuild.Build(t, c, "testdata/lines"), "", link.Options{Optimize: true})
			if err != nil {
				t.Fatal(err)
			}
			seen := make(map[string]bool)
			check := func(name, file string, line int) {
				seen[name] = true
				if at := fmt.Sprintf("lines:l%d", line); at != name || filepath.Base(file) != "main.go" {
					t.Errorf("%s is at %s:%d", name, file, line)
				}
			}
			for _, m := range r.Markers {
				for _, s := range m.Sites {
					check(m.Name, s.File, s.Line)
				}
			}
			for _, s := range r.Sites {
				if strings.HasPrefix(s.Function, "main.") {
					check(s.Name, s.File, s.Line)
				}
			}
			if len(seen) < 4 || !c.Race && c.Flags == nil && len(seen) != 6 {
				t.Errorf("sites of %v", seen)
			}
		})
	}
}
