package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// TestPage runs all that docs/performance.md is made of, each part once and as briefly as can be, holds
// the output of each to its contract, and lays the page out.
func TestPage(t *testing.T) {
	fromRoot(t)
	all := make(figures)
	for _, name := range paged {
		if testing.Short() && name != "enabled" && name != "size" && name != "code" || name == "start" || name == "tracers" || name == "lost" {
			continue // those have tests of their own
		}
		chosen, err := choose([]string{name})
		if err == nil {
			all[name], err = chosen[0].run(config{rounds: 1, tiny: true, log: io.Discard})
		}
		var out bytes.Buffer
		if err == nil {
			err = printJSON(&out, chosen[0], all[name])
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, r := range checkLines(t, name, out.String()) {
			if r.Skipped != "" && os.Getenv("WAYMARK_REQUIRE_PEERS") == "1" {
				t.Errorf("%s: %s was skipped: %s", name, r.Case, r.Skipped)
			}
		}
	}
	page, err := all.page(time.Now(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "|") && (!strings.HasSuffix(line, "|\n") || strings.Contains(line, "NaN") || strings.Contains(line, "%!")) {
			t.Errorf("a line of a table: %q", line)
		}
	}
	for _, want := range []string{
		"| marker, empty typed probe | ", "| code, executed while off | 10 bytes | 10 bytes | 1.00 × |",
		"| disabling preemption | 10.45 | 18.47 | does not follow: ",
	} {
		if canLink && !strings.Contains(strings.ReplaceAll(string(page), ", generic |", " |"), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if measured := !testing.Short() && canLink; measured && regexp.MustCompile(`(skipped: |\| )not measured`).Match(page) {
		t.Errorf("something was not measured:\n%s", page)
	}
}

// Benchmarks build the module's commands from its root.
func fromRoot(t *testing.T) {
	t.Helper()
	t.Chdir("..")
}

// What a marker costs that nobody looks at, at start: the runtime reads where its pointers are, as
// in any variable. No code runs, nothing is allocated.
func TestStart(t *testing.T) {
	if testing.Short() {
		t.Skip("counts instructions one by one")
	}
	fromRoot(t)
	value := make(map[string]float64)
	for _, r := range checkJSON(t, "start", "--rounds", "1", "--json", "start") {
		if r.Skipped == "" {
			value[r.Case] = *r.Value
		}
	}
	for _, what := range []string{"packages with something to do at start", "allocations of packages at start"} {
		if with, without := value[what+", 1000 markers"], value[what+", no markers"]; with > without {
			t.Errorf("%s: %v with 1000 markers, %v without", what, with, without)
		}
	}
	const instructions = "instructions before main, 1000 "
	if with, plain := value[instructions+"markers"], value[instructions+"plain variables"]; with > 1.05*plain {
		t.Errorf("%v instructions before main with markers, %v with plain variables of the same members", with, plain)
	}
}

func TestTracers(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every tracer")
	}
	peer.Root(t)
	peer.Need(t, "perf", "bpftrace")
	fromRoot(t)
	for _, r := range checkJSON(t, "tracers", "--rounds", "1", "--json", "tracers") {
		if r.Skipped != "" {
			t.Errorf("%s was skipped: %s", r.Case, r.Skipped)
		}
	}
}

var units = map[string]bool{"lost": true, "ns": true, "allocs": true, "instructions": true, "inits": true, "faults": true, "bytes": true, "events": true, "events/s": true, "GHz": true, "requests/s": true, "packets/s": true}

func checkJSON(t *testing.T, bench string, args ...string) []result {
	t.Helper()
	var out bytes.Buffer
	if err := run(args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	return checkLines(t, bench, out.String())
}

// checkLines holds output to its contract: one object a line, with a figure and its unit, a text or why there
// is none, and a ratio to another case of the same benchmark.
func checkLines(t *testing.T, bench, out string) []result {
	t.Helper()
	var results []result
	cases := make(map[string]bool)
	for line := range strings.Lines(out) {
		var r result
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		difference := strings.HasSuffix(r.Case, ", "+addedColumn) // of two loops, for which a round may be too few
		measured := r.Value != nil && units[r.Unit] && (*r.Value > 0 || *r.Value == 0 && (r.Unit == "allocs" || r.Unit == "lost") || difference)
		said := 0
		for _, is := range []bool{measured, r.Text != "", r.Skipped != ""} {
			if is {
				said++
			}
		}
		if r.Low != nil && (*r.Low > *r.Value || *r.High < *r.Value) {
			t.Errorf("%q: quartiles", line)
		}
		if r.Bench != bench || r.Case == "" || cases[r.Case] || said != 1 {
			t.Errorf("%q is no result of benchmark %s", line, bench)
		}
		if (r.RatioTo != "") != (r.Ratio != nil) || r.RatioTo != "" && !cases[r.RatioTo] {
			t.Errorf("%q is compared with no case before it", line)
		}
		cases[r.Case] = true
		results = append(results, r)
	}
	if len(results) == 0 {
		t.Errorf("benchmark %s has no results", bench)
	}
	return results
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	results := []result{figure("a", 2, "", 0), figure("b", 3, "a", 2), skipped("c", "no %s", "peer")}
	if err := printTable(&out, benchmark{name: "x", what: "what"}, results); err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(out.String())
	want := strings.Fields("x: what a 2.000 ns b 3.000 ns 1.500 × a c skipped: no peer")
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	results := []result{figure("a", 2, "", 0), figure("b", 3, "a", 2), further("b", "allocations", 1, "allocs"), skipped("c", "no %s", "peer")}
	if err := printMarkdown(&out, benchmark{name: "x"}, results); err != nil {
		t.Fatal(err)
	}
	want := "\n| x | | allocations | compared |\n|---|--:|--:|---|\n" +
		"| a | 2.00 ns | | |\n| b | 3.00 ns | 1 | 1.50 × a |\n| c | skipped: no peer |\n"
	if got := strings.ReplaceAll(out.String(), "|  |", "| |"); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestUnknownName(t *testing.T) {
	if err := run([]string{"nonsense"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("the error is %v, want one that says what there is", err)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(c.in); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

// All 531 sites of a libjvm take well under a second, and 71 take a tenth of what bpftrace takes.
func TestAttach(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for bpftrace")
	}
	peer.Root(t)
	peer.Need(t, "bpftrace")
	for _, r := range checkJSON(t, "attach", "--rounds", "1", "--json", "attach") {
		if r.Skipped != "" {
			t.Errorf("%s was skipped: %s", r.Case, r.Skipped)
		} else if strings.HasSuffix(r.Case, "waymark") && *r.Value > 1e9 {
			t.Errorf("%s takes %v ns", r.Case, *r.Value)
		} else if strings.HasSuffix(r.Case, "detach, bpftrace") && *r.Ratio < 10 {
			t.Errorf("%s takes %v times as long as waymark, want 10", r.Case, *r.Ratio)
		}
	}
}

// Every tool's events are recognized. How many arrive is for the benchmark to say.
func TestLost(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every tracer")
	}
	peer.Root(t)
	peer.Need(t, "perf", "bpftrace")
	fromRoot(t)
	results := checkJSON(t, "lost", "--rounds", "1", "--json", "lost")
	value := make(map[string]float64)
	for _, r := range results {
		if r.Skipped != "" {
			t.Fatalf("%s was skipped: %s", r.Case, r.Skipped)
		}
		value[r.Case] = *r.Value
	}
	for _, name := range []string{"waymark trace", "waymark trace --json", "perf record", "bpftrace printf()"} {
		arrived := 0.0
		for _, condition := range []string{"", busySuffix} {
			for _, r := range rates {
				at := name + condition + ", " + r.name
				arrived += value[at+", of"] - value[at]
			}
		}
		if arrived == 0 {
			t.Errorf("no event of %s is recognized", name)
		}
	}
	if table := lostTable(results); strings.Count(table, "ns |\n") != 8 {
		t.Errorf("what the tools cost is not in the table:\n%s", table)
	}
}

func TestLostTable(t *testing.T) {
	var results []result
	for _, r := range []rate{rates[0], rates[1]} {
		at := "bpftrace printf(), " + r.name
		results = append(results, measured(at, 10, "lost"), further(at, "of", 1000, "events"), further(at, "passed", 100_000, "events/s"))
	}
	want := "| bpftrace printf() | 1 % | 1 %, at 100 k/s | – | – | – | 10000 ns |\n"
	if table := lostTable(results); !strings.Contains(table, want) {
		t.Errorf("no line %s in\n%s", want, table)
	}
}

func TestFormats(t *testing.T) {
	for _, test := range []struct {
		format format
		line   string
		want   int
	}{
		{format{" n=", " at="}, "04:47:09.300714  target[2]  g1  bench:hit  n=7 at=0x0", 7},
		{format{`{"n":`, `,"at":`}, `{"time":"x","fields":{"n":70,"at":0}}`, 70},
		{format{" arg1=", " arg2="}, "sdt_bench:hit: (4ac620) arg1=0 arg2=0x0 ", 0},
		{format{"", " "}, "12 0", 12},
		{format{"", " "}, "Attaching 1 probe...", -1},
		{format{" n=", " at="}, "x  n=7 at", -1},
	} {
		n, ok := test.format.number([]byte(test.line))
		if ok != (test.want >= 0) || ok && n != test.want {
			t.Errorf("%q: %d, %t, want %d", test.line, n, ok, test.want)
		}
	}
}
