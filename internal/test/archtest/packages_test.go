package archtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of packages in docs/architecture.md")

// The table lies between these two lines.
const (
	tableBegin = "<!-- packages: generated from package comments by go test ./internal/test/archtest -run TestPackageTable -update -->\n"
	tableEnd   = "<!-- end of packages -->\n"
)

// group is a heading of the table, and the directories of the packages below it.
type group struct {
	title string
	dirs  []string
}

// groups are all headings: a package is below the one with the longest directory that has it.
var groups = []group{
	{"What programs import", []string{"event", "marker", "tracepoint", "simple", "statickey", "introspect", "agent", "sink"}},
	{"What tools import", []string{"sdt", "tracer", "ctf", "vet"}},
	{"Commands, and programs to learn from", []string{"cmd", "release", "examples", "vet/cmd"}},
	{"Tests and measurements", []string{"tracer/e2e", "bench", "internal/test"}},
	{"Machinery of programs, and of what reads files", []string{"internal"}},
	{"Machinery of the tracer and of link", []string{"tracer/internal"}},
}

// TestPackageTable fails when docs/architecture.md does not have the first sentence of each
// package's comment.
func TestPackageTable(t *testing.T) {
	own, _ := list(t, "linux", "amd64")
	tables := make([]string, len(groups))
	slices.SortFunc(own, func(a, b *pkg) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	for _, p := range own {
		i, longest := -1, ""
		for j, g := range groups {
			for _, dir := range g.dirs {
				if p.within(dir) && len(dir) > len(longest) {
					i, longest = j, dir
				}
			}
		}
		if i < 0 {
			t.Errorf("%s is in no group of the table", p.ImportPath)
			continue
		}
		tables[i] += fmt.Sprintf("| `%s` | %s |\n", strings.TrimPrefix(p.ImportPath, module+"/"), strings.TrimSuffix(summary(p.Doc), "."))
	}
	var b strings.Builder
	b.WriteString(tableBegin)
	for i, g := range groups {
		fmt.Fprintf(&b, "\n%s:\n\n| package | |\n|---|---|\n%s", g.title, tables[i])
	}
	b.WriteString("\n" + tableEnd)

	page := filepath.Join(root, "docs", "architecture.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableBegin)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !ok || !ends {
		t.Fatalf("%s has no table of packages between its two comments", page)
	}
	want := before + b.String() + after
	if string(text) == want {
		return
	}
	if !*update {
		t.Fatalf("%s has another table than the package comments make: go test ./internal/test/archtest -run TestPackageTable -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// summary returns a package's first sentence without its name, from the verb on.
func summary(doc string) string {
	words := strings.SplitN(doc, " ", 3)
	if len(words) == 3 && (words[0] == "Package" || words[0] == "Command") {
		return words[2]
	}
	if len(words) == 3 { // a command's comment begins with its name
		return strings.Join(words[1:], " ")
	}
	return doc
}
