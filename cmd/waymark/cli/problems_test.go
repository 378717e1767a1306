package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

// What a program says of its losses is its own to write: each reason is printed once, as text, and only some of many.
func TestWarnLost(t *testing.T) {
	var b bytes.Buffer
	var problems []error
	for n := range 40 {
		problems = append(problems, fmt.Errorf("reason \x1b[2J%d", n%20))
	}
	warnLost((&term.Env{Stderr: &b}), problems)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != maxProblems+1 || strings.Contains(b.String(), "\x1b") || !strings.HasSuffix(lines[0], "0") ||
		lines[maxProblems] != "waymark: warning: 15 more reasons for which markers lost all their events" {
		t.Errorf("%q", lines)
	}
}
