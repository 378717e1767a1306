package link_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/tracer/link"
)

// What link cannot see it says, whatever the program was built with.
func TestMadeLate(t *testing.T) {
	needLinux(t)
	const want = "2 markers are made while the program runs, where no tracer sees them (main.go:15, main.go:22); waymark vet says why"
	for _, c := range []gobuild.Config{{}, {PIE: true, Strip: true}, {Go: gobuild.Versions[0]}} {
		t.Run(c.String(), func(t *testing.T) {
			report, err := link.File(gobuild.Build(t, c, "testdata/late"), "", link.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Markers) != 3 || !slices.Equal(report.Warnings, []string{want}) {
				t.Errorf("%d markers, warnings %q", len(report.Markers), report.Warnings)
			}
		})
	}
	report, err := link.File(gobuild.Build(t, gobuild.Config{}, "testdata/tricky"), "", link.Options{})
	if err != nil || slices.ContainsFunc(report.Warnings, func(s string) bool { return strings.Contains(s, "made while") }) {
		t.Errorf("a program whose markers are all laid out: %v, %v", err, report)
	}
}

// Without the optimizer all addresses go through the stack. The types are found there too.
func TestUnoptimized(t *testing.T) {
	needLinux(t)
	report, err := link.File(gobuild.Build(t, gobuild.Config{Flags: []string{"-gcflags=-N"}}, "testdata/late"), "", link.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range report.Markers {
		if !m.Typed || len(m.Sites) == 0 {
			t.Errorf("%s: %d sites, typed: %t", m.Name, len(m.Sites), m.Typed)
		}
	}
	if len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], "made while the program runs") {
		t.Errorf("warnings %q", report.Warnings)
	}
	// Where they are mixed with memory that calls may change, link gives up, and names the cause.
	report, err = link.File(gobuild.Build(t, gobuild.Config{Flags: []string{"-gcflags=-N"}}, "testdata/deferred"), "", link.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range report.Markers {
		warned := slices.ContainsFunc(report.Warnings, func(s string) bool {
			return strings.Contains(s, "marker "+m.Name) && strings.Contains(s, "built with -gcflags=-N")
		})
		if m.Typed == warned {
			t.Errorf("%s: %d sites, typed: %t, warned of: %t", m.Name, len(m.Sites), m.Typed, warned)
		}
	}
}
