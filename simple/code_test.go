package simple_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/diff"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
)

const shapes = "testdata/shapes"

// marks matches the lines of a program that mark, and the import they need.
var marks = regexp.MustCompile(`(?m)^\t+(simple\.Mark.*|".*/waymark/simple")$`)

func read(t *testing.T) string {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("knows what is left on x86-64")
	}
	source, err := os.ReadFile(shapes + "/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n, bare := strings.Count(string(source), "simple.Mark"), unmark(string(source)); n < 40 || strings.Contains(bare, "simple.") {
		t.Fatalf("%d markers, and without them %q", n, bare)
	}
	return string(source)
}

func unmark(source string) string { return marks.ReplaceAllString(source, "") }

// difference is how the code of a function changes with its markers.
const (
	places = "places" // the same instructions; registers, stack slots or captures swapped places
	code   = "code"   // other instructions
)

// The compiler writes the same bytes and the same relocations for every function with its
// markers and without them, except for the documented differences. That list is complete, and
// every entry is needed: otherwise the documentation would warn without reason.
func TestNoCode(t *testing.T) {
	source := read(t)
	exceptions := map[string]string{
		"main.leavesBoundsCheck": code, "main.leavesNilCheck": code, "main.leavesCapture": code,
		"main.leavesOrder": places, "main.leavesOrder.func1": places,
		// A variable that is also in a closure or in a select is laid out by where the
		// compiler met it first.
		"main.deferred": places, "main.goroutines": places, "main.selects": places,
	}
	// Go 1.25 checks, in a generic function, that the dictionary of the marker is there.
	generic := []string{"main.generic[go.shape.int]", "main.generic[go.shape.float64]", "main.box[go.shape.int].get", "main.box[go.shape.string].get"}
	for _, v := range gobuild.Versions {
		t.Run(v, func(t *testing.T) {
			want := maps.Clone(exceptions)
			if strings.HasPrefix(v, "go1.25") {
				for _, name := range generic {
					want[name] = code
				}
			}
			with, without := functions(t, v, source), functions(t, v, unmark(source))
			if len(without) < 30 {
				t.Fatalf("the compiler lists %d functions only", len(without))
			}
			got := map[string]string{}
			for name, f := range with {
				switch {
				case f == without[name]:
				case f.instructions == without[name].instructions:
					got[name] = places
				default:
					got[name] = code
				}
			}
			if d := diff.Of(want, got); d != "" {
				t.Errorf("functions that differ (-want +got)\n%s", d)
			}
		})
	}
}

type function struct {
	bytes        string // of code, and the relocations
	instructions string // all of them, in no order: values that swap slots are stored in another order
}

// functions returns the compiler's listing of each function.
func functions(t *testing.T, version, source string) map[string]function {
	t.Helper()
	listing, err := build(t, version, source, "-gcflags=-S")
	if err != nil {
		t.Fatalf("%v\n%s", err, listing)
	}
	all := make(map[string]function)
	name := ""
	for line := range strings.Lines(listing) {
		if first, rest, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "\t") {
			name = ""
			if strings.HasPrefix(rest, "STEXT") && strings.HasPrefix(first, "main.") {
				name = first
			}
		}
		f := all[name]
		if byteLine.MatchString(line) {
			f.bytes += line
		} else if m := instruction.FindStringSubmatch(line); m != nil && !strings.HasSuffix(m[1], "DATA") {
			f.instructions += m[1] + "\n"
		}
		all[name] = f
	}
	delete(all, "")
	for name, f := range all {
		lines := strings.Split(f.instructions, "\n")
		slices.Sort(lines)
		f.instructions = strings.Join(lines, "\n")
		all[name] = f
	}
	return all
}

var (
	byteLine    = regexp.MustCompile(`^\t(0x[0-9a-f]{4,} [0-9a-f]{2} |rel )`)
	instruction = regexp.MustCompile(`^\t0x[0-9a-f]{4,} \d{5} \([^)]*\)\t([A-Z0-9]+)`)
)

func build(t *testing.T, version, source string, flags ...string) (string, error) {
	t.Helper()
	overlay := gobuild.Overlay(t, t.TempDir(), shapes+"/main.go", source)
	cmd := exec.Command("go", slices.Concat([]string{"build", "-o", os.DevNull, overlay}, flags, []string{"./" + shapes})...)
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+version, "GOFLAGS=-buildvcs=false")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A variable that is gone breaks the build, with a message at the marker's line.
func TestBrokenBuild(t *testing.T) {
	source := strings.Replace(read(t), "sum += v * i", "", 1)
	source = strings.Replace(source, "for i, v := range values {", "for i := range values {", 1)
	line := 1 + strings.Count(source[:strings.Index(source, `simple.Mark3("shape:loop"`)], "\n")
	for _, v := range gobuild.Versions {
		out, err := build(t, v, source)
		if want := fmt.Sprintf("overlay0.go:%d:", line); err == nil || !strings.Contains(out, want) || !strings.Contains(out, "undefined: v") {
			t.Errorf("%s: a marker of a variable that is gone: %v, want a message at %s\n%s", v, err, want, out)
		}
	}
}

// An anchored marker leaves a nop of one byte and nothing else, in functions in which there is
// nothing that it keeps the compiler from: conditions that become no branches, stores that are
// made one, values that are taken from a store before it.
func TestAnchorLeavesNop(t *testing.T) {
	source := read(t)
	anchored := strings.ReplaceAll(source, "simple.Mark", "simple.Anchor")
	for _, v := range gobuild.Versions {
		t.Run(v, func(t *testing.T) {
			with, without := functions(t, v, anchored), functions(t, v, unmark(source))
			for _, name := range []string{
				"main.none", "main.straight", "main.loop", "main.kinds", "main.constants", "main.fields",
				"main.deferred", "main.goroutines", "main.inlines", "main.(*outer).grow",
			} {
				got, nops := withoutNops(with[name])
				want, _ := withoutNops(without[name])
				if nops == 0 || len(want) == 0 || !slices.Equal(got, want) {
					t.Errorf("%s: %d nops and %v, without markers %v", name, nops, got, want)
				}
			}
		})
	}
}

// withoutNops returns a function's instructions other than nops of one byte, and how many of
// those there are.
func withoutNops(f function) (lines []string, nops int) {
	for _, line := range strings.Fields(f.instructions) {
		if line == "XCHGL" { // AX, AX
			nops++
			continue
		}
		lines = append(lines, line)
	}
	return lines, nops
}
