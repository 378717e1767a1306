package script_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/tracer/script"
)

// TestPage runs the examples of docs/script.md, and compares the output that the page shows.
func TestPage(t *testing.T) {
	t.Setenv("TZ", "UTC")
	time.Local = time.UTC
	const path = "../../docs/script.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	n := 0
	for i, part := range strings.Split(string(page), "```bt\n") {
		if i == 0 {
			b.WriteString(part)
			continue
		}
		text, rest, ok := strings.Cut(part, "```\n```output\n")
		want, rest, closed := strings.Cut(rest, "```\n")
		if !ok || !closed {
			t.Fatalf("an example without output:\n%s", part)
		}
		got := runOn(t, openTrace(t), text, nil, script.Options{})
		if got != want && !*update {
			t.Errorf("%s\ngives\n%s\nthe page shows\n%s", text, got, want)
		}
		b.WriteString("```bt\n" + text + "```\n```output\n" + got + "```\n" + rest)
		n++
	}
	if n < 8 {
		t.Errorf("%d examples", n)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
