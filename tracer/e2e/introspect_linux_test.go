package e2e

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/introspect"
	"github.com/waymark-trace/waymark/tracer/link"
)

const pointsDir = "../../introspect/testdata/points"

// pointsProgram is introspect/testdata/points, running.
type pointsProgram struct {
	*talk.Program
	t *testing.T
}

func startPoints(t *testing.T, path string) *pointsProgram {
	t.Helper()
	return &pointsProgram{talk.Start(t, exec.Command(path)), t}
}

// ask sends a command and returns what the program prints until a dot.
func (p *pointsProgram) ask(command string) string {
	p.t.Helper()
	p.Tell(command)
	var b strings.Builder
	for {
		line := p.Line()
		if line == "." {
			return b.String()
		}
		fmt.Fprintln(&b, line)
	}
}

// points returns the program's points by name, and whether it named an error.
func (p *pointsProgram) points() map[string]introspect.Point {
	p.t.Helper()
	var got struct {
		Points []introspect.Point
		Error  string
	}
	if err := json.Unmarshal([]byte(p.ask("json")), &got); err != nil {
		p.t.Fatal(err)
	}
	if got.Error != "" {
		p.t.Error(got.Error)
	}
	named := map[string]introspect.Point{}
	for _, point := range got.Points {
		named[point.Kind+" "+point.Name] = point
	}
	return named
}

// declared is where testdata/points declares its points.
var declared = map[string]string{
	"marker dotted:start":          "github.com/waymark-trace/waymark/introspect/testdata/points/v3.x.Start",
	"marker points:heap":           ".",
	"marker points:inside":         "main.group+8",
	"marker points:later":          ".",
	"marker points:same":           "main.again",
	"marker points:start":          "main.start",
	"marker points:unused":         "main.unused",
	"marker unnamed":               "main.unnamed",
	"tracepoint points:evict":      "main.evict",
	"tracepoint points:not-a-name": "main.wrong",
	"key points:verbose":           "main.verbose",
}

func TestIntrospect(t *testing.T) {
	var configs []gobuild.Config
	for _, v := range gobuild.Versions {
		for _, pie := range []bool{false, true} {
			for _, strip := range []bool{false, true} {
				configs = append(configs, gobuild.Config{Go: v, PIE: pie, Strip: strip})
			}
		}
	}
	if _, err := exec.LookPath("gcc"); err == nil && !testing.Short() {
		configs = append(configs, gobuild.Config{PIE: true, External: true}, gobuild.Config{Race: true})
	}
	for _, c := range configs {
		t.Run(c.String(), func(t *testing.T) {
			path := gobuild.Build(t, c, pointsDir)
			var symbols map[string]elf.Symbol
			if !c.Strip {
				symbols = readSymbols(t, path)
			}
			checkProgram(t, path, symbols, false)
			if _, err := link.File(path, "", link.Options{}); err != nil {
				t.Fatal(err)
			}
			checkProgram(t, path, symbols, true)
		})
	}
}

func readSymbols(t *testing.T, path string) map[string]elf.Symbol {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return symbolsOf(t, f)
}

func symbolsOf(t *testing.T, f *elf.File) map[string]elf.Symbol {
	t.Helper()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]elf.Symbol{}
	for _, s := range all {
		named[s.Name] = s
	}
	return named
}

// checkProgram compares what the program says with its symbols, nil when it is stripped, and
// with what it is after having been linked or not.
func checkProgram(t *testing.T, path string, symbols map[string]elf.Symbol, linked bool) {
	t.Helper()
	p := startPoints(t, path)
	points := p.points()
	got := map[string]string{}
	moved := map[uint64]bool{}
	for name, point := range points {
		got[name] = point.Package + "." + point.Variable
		if symbol, _, _ := strings.Cut(strings.Replace(got[name], "v3.x", "v3%2ex", 1), "+"); symbol != "." {
			moved[uint64(point.Address)-symbols[symbol].Value&^7] = true // the same for all but what lies within another
		}
	}
	want := declared
	if symbols == nil {
		want = map[string]string{}
		for name := range declared {
			want[name] = "."
		}
	} else if len(moved) != 2 {
		t.Errorf("addresses differ from those of the symbols by %v, want one number and, for main.group, that and 8", moved)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("declared (-want +got)\n%s", d)
	}

	fields, sites := []introspect.Field{{Name: "path", Verb: "%s"}, {Name: "attempt", Verb: "%d"}}, []string(nil)
	if linked {
		fields[0].Type, fields[1].Type = "main.label", "int"
		fields[0].Kind, fields[1].Kind = event.String, event.Int
		sites = []string{"main.pass " + lineOf(t, "start.Mark(")}
	}
	checkStart(t, points["marker points:start"], fields, sites)
	p.ask("mark") // nobody looks: still nothing is known but what link wrote
	points = p.points()
	checkStart(t, points["marker points:start"], fields, sites)

	if got := points["marker points:later"]; !got.Pending || got.Armed != 0 || !cmp.Equal(got.Probes, []string{"main.logged"}) {
		t.Errorf("what a probe waits for is %+v", got)
	}
	if got := points["marker points:heap"]; got.Armed != 1 || got.Hits != 1 || len(got.Probes) != 1 {
		t.Errorf("a marker on the heap, armed and passed once, is %+v", got)
	}
	if got := points["tracepoint points:evict"]; got.Armed != 0 || got.Hits != 1 || got.Panics != 1 || !cmp.Equal(got.Fields, []introspect.Field{{Name: "arg1", Type: "*main.entry", Kind: event.Pointer}, {Name: "arg2", Type: "error", Unavailable: "an interface is not recorded"}}) {
		t.Errorf("a tracepoint whose probe panicked is %+v", got)
	}
	if got := points["key points:verbose"]; got.Armed != 1 {
		t.Errorf("a key that is on is %+v", got)
	}
	if got := points["tracepoint points:not-a-name"]; got.Problem == "" {
		t.Errorf("a tracepoint with a wrong name is %+v", got)
	}
}

func checkStart(t *testing.T, p introspect.Point, fields []introspect.Field, sites []string) {
	t.Helper()
	var got []string
	for _, s := range p.Sites {
		file := s.File[strings.LastIndex(s.File, "/points/")+1:]
		got = append(got, fmt.Sprintf("%s %s:%d", s.Function, file, s.Line))
	}
	if d := cmp.Diff(sites, got); d != "" {
		t.Errorf("sites (-want +got)\n%s", d)
	}
	if d := cmp.Diff(fields, p.Fields); d != "" {
		t.Errorf("fields (-want +got)\n%s", d)
	}
}

// lineOf returns file:line of the only line of testdata/points/main.go with this text.
func lineOf(t *testing.T, text string) string {
	t.Helper()
	source, err := os.ReadFile(pointsDir + "/main.go")
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(source), text)
	if !ok {
		t.Fatalf("no %q in the source", text)
	}
	return fmt.Sprintf("points/main.go:%d", 1+strings.Count(before, "\n"))
}

// strip takes the symbols and leaves what link wrote.
func TestStripAfterLink(t *testing.T) {
	strip := peer.Need(t, "strip")[0]
	path := gobuild.Build(t, gobuild.Config{PIE: true}, pointsDir)
	if _, err := link.File(path, "", link.Options{}); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(strip, path).CombinedOutput(); err != nil {
		t.Fatalf("strip: %v\n%s", err, out)
	}
	checkProgram(t, path, nil, true)
}

// The file is found also when its name is gone.
func TestRemovedExecutable(t *testing.T) {
	p := startPoints(t, gobuild.Build(t, gobuild.Config{}, pointsDir))
	p.ask("gone")
	if got := p.points()["marker points:start"]; got.Variable != "start" {
		t.Errorf("after the executable was removed a point is %+v", got)
	}
}

// While waymark stat counts, the program sees its own reference counters raised.
func TestKernelHalf(t *testing.T) {
	peer.Root(t)
	path := gobuild.Build(t, gobuild.Config{}, pointsDir)
	if _, err := link.File(path, "", link.Options{}); err != nil {
		t.Fatal(err)
	}
	p := startPoints(t, path)
	stat := exec.Command(waymark(t), "stat", "-p", fmt.Sprint(p.PID()), "points:start")
	if err := stat.Start(); err != nil {
		t.Fatal(err)
	}
	waitKernel := func(want int) introspect.Point {
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			point := p.points()["marker points:start"]
			if point.Kernel == want {
				return point
			}
			if time.Now().After(end) {
				t.Fatalf("kernel %d, want %d", point.Kernel, want)
			}
		}
	}
	waitKernel(1)
	p.ask("mark")
	if got := waitKernel(1); got.Hits != 1 || got.Armed != 0 || got.Fields[0].Type != "main.label" {
		t.Errorf("a marker that the kernel looks at, passed once, is %+v", got)
	}
	if got := strings.Join(strings.Fields(p.ask("text")), " "); !strings.Contains(got, " points:start path main.label, attempt int 0 1 0 1 0 0 main.start") {
		t.Errorf("the table does not have it:\n%s", got)
	}
	if err := stat.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := stat.Wait(); err != nil {
		t.Error(err)
	}
	waitKernel(0)
}
