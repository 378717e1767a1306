package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

// What a program says of its losses is its own to write: each reason is printed once, as text, and only some of many.
func TestWarnLost(t *testing.T) {
	var b bytes.Buffer
	var problems []error
	for n := range 40 {
		problems = append(problems, fmt.Errorf("reason \x1b[2J%d", n%20))
	}
	WarnLost(term.NewEnv(term.Streams{Stderr: &b}), problems)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != MaxProblems+1 || strings.Contains(b.String(), "\x1b") || !strings.HasSuffix(lines[0], "0") ||
		lines[MaxProblems] != "waymark: warning: 15 more reasons for which markers lost all their events" {
		t.Errorf("%q", lines)
	}
}

// What is a whole file's is said once, what help there is once, and --json has every site.
func TestSkips(t *testing.T) {
	denied := &tracer.PermissionError{Op: "opening /lib/gone.so", Capability: "CAP_CHECKPOINT_RESTORE"}
	var skipped []*tracer.SiteError
	add := func(file *tracer.File, name string, sites int, err error) {
		m := &tracer.Marker{Point: event.Point{Provider: "p", Name: name}, File: file, Sites: make([]sdt.Site, sites)}
		for s := range m.Sites {
			skipped = append(skipped, &tracer.SiteError{Marker: m, Site: s, Err: err})
		}
	}
	gone, odd := &tracer.File{Path: "/lib/gone.so"}, &tracer.File{Path: "/lib/odd.so"}
	add(gone, "a", 2, denied)
	add(gone, "b", 3, denied)
	add(odd, "c", 1, tracer.ErrRedZone)
	for n := range 9 {
		add(odd, "d", 1, fmt.Errorf("reason %d", n))
	}
	var stderr, out bytes.Buffer
	env := term.NewEnv(term.Streams{Stdout: &out, Stderr: &stderr})
	json, err := env.OpenOutput("", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := WarnSkipped(env, json, skipped); err != nil {
		t.Fatal(err)
	}
	if err := json.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"warning: /lib/gone.so: 5 sites left out: opening /lib/gone.so: permission denied: missing CAP_CHECKPOINT_RESTORE\nwaymark: hint: ",
		"warning: p:c in /lib/odd.so at 0x0 is left out: a probe there may overwrite",
		"warning: 6 sites left out besides; --json has them all",
	} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &stderr)
		}
	}
	if n := strings.Count(stderr.String(), "hint:"); n != 1 {
		t.Errorf("%d hints", n)
	}
	if n := strings.Count(out.String(), `{"skipped":`); n != len(skipped) {
		t.Errorf("--json has %d of %d sites:\n%s", n, len(skipped), &out)
	}
}
