package check

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/from-bpftrace.md")

// TestDepartures compares the tables of refused names in docs/from-bpftrace.md with those of the checker.
func TestDepartures(t *testing.T) {
	const path = "../../../../docs/from-bpftrace.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(text), "### Probes\n")
	if !ok {
		t.Fatal("the page has no table of probes")
	}
	want := before + table("Probes", RefusedProbes) + "\n" + table("Built-in values", RefusedWords) + "\n" + table("Functions", RefusedCalls)
	if string(text) == want {
		return
	}
	if !*update {
		t.Fatal("docs/from-bpftrace.md differs from the tables of package check: go test ./tracer/internal/script/check -run Departures -update")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table has a line for each hint, with all names that it is for.
func table(title string, refused map[string]string) string {
	names := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		names[refused[name]] = append(names[refused[name]], "`"+name+"`")
	}
	var lines []string
	for hint, list := range names {
		lines = append(lines, fmt.Sprintf("| %s | %s |\n", strings.Join(list, ", "), hint))
	}
	slices.Sort(lines)
	return "### " + title + "\n\n| name | write instead |\n|---|---|\n" + strings.Join(lines, "")
}

// Every setting of the config block stands in the page.
func TestSettingsAreDocumented(t *testing.T) {
	for _, page := range []string{"from-bpftrace.md", "script.md"} {
		text, err := os.ReadFile("../../../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for name := range settings {
			if !strings.Contains(string(text), name) {
				t.Errorf("docs/%s does not have the setting %s", page, name)
			}
		}
	}
}

// Every name of the language stands in its reference.
func TestReferenceIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/script.md")
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Concat(slices.Collect(maps.Keys(builtins)), slices.Collect(maps.Keys(functions)), slices.Collect(maps.Keys(actions)))
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") && !strings.Contains(string(text), "`"+name+"(") {
			t.Errorf("docs/script.md does not have %s", name)
		}
	}
}
