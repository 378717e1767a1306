package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

func manyPoints(n int) []*event.Point {
	var all []*event.Point
	for i := range n {
		all = append(all, &event.Point{Provider: "p", Name: fmt.Sprint("n", i), Fields: []event.Field{{Name: fmt.Sprint("f", i), Kind: event.Int64}, {Name: "x", Kind: event.Int64}}})
	}
	return all
}

// TestHostile checks scripts that are made to take long. Each must end in an error, or pass, soon; go test's limit sees to it.
func TestHostile(t *testing.T) {
	tuples := "BEGIN { $a0 = (1, 1); "
	for i := range 100 {
		tuples += fmt.Sprintf("$a%d = ($a%d, $a%d); ", i+1, i, i)
	}
	maps := "BEGIN { "
	widening := "BEGIN { "
	for i := range 2000 { // each pass finds or widens one type
		maps += fmt.Sprintf("@m%d = @m%d; ", i, i+1)
		widening += fmt.Sprintf("@m%d = 1; @m%d = @m%d; ", i, i, i+1)
	}
	for name, c := range map[string]struct {
		text   string
		points int
		want   string // part of the error
	}{
		"tuples":     {tuples + "}", 0, "a tuple has more than 64 values"},
		"maps":       {maps + "@m2000 = 1; }", 0, "has no value"},
		"widening":   {widening + "@m2000 = (uint64)1; }", 0, "in more than 64 steps"},
		"chain":      {"BEGIN { print(1" + strings.Repeat("+1", 20000) + "); }", 0, ""},
		"wildcards":  {"marker:*, marker:p:*, marker:*:n1* { @ = count(); }", 1000, "more than 1024 probes"},
		"signatures": {"marker:* { " + strings.Repeat("@a = args.x + 1; ", 3000) + "}", 1000, "too large for the points"},
		"probes":     {strings.Repeat("marker:p:n1,", 1000) + "marker:* { @ = count(); }", 1000, "more than 1024 probes"},
	} {
		begun := time.Now()
		s, err := syntax.Parse("s", c.text)
		if err != nil {
			t.Fatal(name, err)
		}
		_, _, err = Check(s, &Target{Points: manyPoints(c.points)})
		t.Log(name, time.Since(begun))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestGlob compares patterns with names.
func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"*", "x:y", true}, {"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "ac", true},
		{"a*c", "acb", false}, {"a*b*c", "aXbYc", true}, {"a*b*c", "acb", false}, {"*b*", "abc", true}, {"*bb", "abb", true}, {"a*a", "a", false},
	} {
		if got := glob(c.pattern, c.name); got != c.want {
			t.Errorf("glob(%q, %q) = %t", c.pattern, c.name, got)
		}
	}
}
