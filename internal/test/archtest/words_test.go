package archtest

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A pattern of prose, with the number of matches that 1000 words may have.
type pattern struct {
	name  string
	limit float64
	expr  *regexp.Regexp
}

func wordPatterns(t *testing.T) []pattern {
	t.Helper()
	text, err := os.ReadFile("words.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []pattern
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || strings.HasPrefix(line, "#") {
			continue
		}
		limit, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		_, expr, _ := strings.Cut(strings.TrimSpace(line), fields[1])
		all = append(all, pattern{fields[0], limit, regexp.MustCompile(strings.TrimSpace(expr))})
	}
	if len(all) < 4 {
		t.Fatalf("words.txt has %d patterns", len(all))
	}
	return all
}

// unrevised are the directories and pages whose prose is older than words.txt. They are counted and printed, and leave this list when
// they are revised.
var unrevised = []string{
	"bench", "cmd", "examples", "internal/cmd", "internal/filter", "internal/shm", "internal/test", "tracer",
	"docs/agent.md", "docs/architecture.md", "docs/cookbook.md", "docs/doctor.md", "docs/filters.md", "docs/from-the-kernel.md", "docs/json.md",
	"docs/patching.md", "docs/performance.md", "docs/record.md", "docs/rings.md", "docs/simple.md", "docs/sinks.md",
	"docs/tracers.md", "docs/vet.md", "CONTRIBUTING.md",
}

// tally counts words and matches of each pattern.
type tally struct {
	words   int
	matches map[string]int
}

func (c *tally) add(patterns []pattern, text string) {
	text = strings.Join(strings.Fields(text), " ")
	c.words += strings.Count(text, " ") + 1
	for _, p := range patterns {
		c.matches[p.name] += len(p.expr.FindAllString(text, -1))
	}
}

// TestWords counts the patterns of words.txt in comments and documentation.
func TestWords(t *testing.T) {
	patterns := wordPatterns(t)
	revised := &tally{matches: map[string]int{}}
	rest := map[string]*tally{}
	count := func(path, text string) {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		into := revised
		for _, prefix := range unrevised {
			if rel := filepath.ToSlash(rel); rel == prefix || strings.HasPrefix(rel, prefix+"/") {
				if rest[prefix] == nil {
					rest[prefix] = &tally{matches: map[string]int{}}
				}
				into = rest[prefix]
			}
		}
		before := maps.Clone(into.matches)
		into.add(patterns, text)
		if into == revised {
			for _, p := range patterns {
				if into.matches[p.name] > before[p.name] {
					t.Logf("%s: %s: %q", rel, p.name, p.expr.FindAllString(strings.Join(strings.Fields(text), " "), -1))
				}
			}
		}
	}
	eachSource(t, func(path string, text []byte) {
		if strings.HasPrefix(filepath.Base(path), "z") { // generated
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		for _, group := range file.Comments {
			count(path, group.Text())
		}
	})
	for _, glob := range []string{"*.md", "docs/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, glob))
		if err != nil || len(pages) == 0 {
			t.Fatal(glob, err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			count(page, regexp.MustCompile("(?s)```.*?```").ReplaceAllString(string(text), ""))
		}
	}
	for _, p := range patterns {
		got := float64(revised.matches[p.name]) * 1000 / float64(revised.words)
		t.Logf("%-10s %.2f in 1000 of %d words; at most %.2f", p.name, got, revised.words, p.limit)
		if got > p.limit {
			t.Errorf("%s: %.2f in 1000 words, more than %.2f; run with -v for the matches", p.name, got, p.limit)
		}
	}
	for _, prefix := range unrevised {
		if c := rest[prefix]; c == nil {
			t.Errorf("%s is in the list, and not in the tree", prefix)
		} else {
			t.Logf("not revised: %-24s %6d words, %v", prefix, c.words, c.matches)
		}
	}
}
