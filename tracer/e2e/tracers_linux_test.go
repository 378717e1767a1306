package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// verdict compares what the company says with what is so, tool by tool, and holds
// docs/tracers.md to the outcome. waymark must always count right.
type verdict struct {
	counts map[string]map[string]uint64
	hits   map[string][]hit
}

// counted is about how often a marker was hit.
func (v *verdict) counted(t *testing.T, marker string, want uint64) {
	t.Helper()
	for _, tool := range []string{stat, trace} {
		if got := v.counts[tool][marker]; got != want {
			t.Errorf("%s has %d hits of %s, the program says %d", tool, got, marker, want)
		}
	}
	v.row(t, marker, "count", "exact", func(tool string) error {
		if got := v.counts[tool][marker]; got < want || got > want+twice(tool, want) {
			return fmt.Errorf("%d hits of %s, the program says %d", got, marker, want)
		}
		return nil
	})
}

// twice is how many of n events a tool may have twice: perf 6.1 records one again now and then, which is
// no reason to say of it that it does not count.
func twice(tool string, n uint64) uint64 {
	if tool != perfs {
		return 0
	}
	return 1 + n/1000
}

// carried is about the arguments that each hit had, in any order of the hits: words as the
// program writes them, which may be some of those that a tool shows.
func (v *verdict) carried(t *testing.T, marker, what string, want []string) {
	t.Helper()
	v.row(t, marker, what, "yes", func(tool string) error {
		if tool == stat {
			tool = trace
		}
		left, all := make(map[string]int), make(map[string]int)
		for _, w := range want {
			left[w]++
			all[w]++
		}
		spare := twice(tool, uint64(len(want)))
		n := 0
		for _, h := range v.hits[tool] {
			if h.marker != marker {
				continue
			}
			n++
			text := strings.Join(h.args, " ")
			found, ok := among(left, text)
			if _, again := among(all, text); !ok && again && spare > 0 {
				spare--
				n--
				continue
			}
			if !ok {
				return fmt.Errorf("%s passed %q, not so the program", marker, text)
			}
			left[found]--
		}
		if n != len(want) {
			return fmt.Errorf("arguments of %d hits of %s, want %d", n, marker, len(want))
		}
		return nil
	})
}

// among returns the text itself, or else the longest of those left that are words of it.
func among(left map[string]int, text string) (found string, ok bool) {
	if left[text] > 0 {
		return text, true
	}
	for w, n := range left {
		if n > 0 && len(w) > len(found) && strings.Contains(" "+text+" ", " "+w+" ") {
			found, ok = w, true
		}
	}
	return found, ok
}

// row asserts a line of the table: good where a tool is right, a dash where it is not.
func (v *verdict) row(t *testing.T, marker, what, good string, check func(tool string) error) {
	t.Helper()
	row := fmt.Sprintf("| `%s` | %s |", marker, what)
	for _, tool := range []string{stat, perfs, bpfs} {
		cell := good
		if err := check(tool); err != nil {
			cell = "–"
			t.Logf("%s: %v", tool, err)
		}
		row += " " + cell + " |"
	}
	text, err := os.ReadFile("../../docs/tracers.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), row+"\n") {
		t.Errorf("docs/tracers.md does not say\n%s", row)
	}
}
