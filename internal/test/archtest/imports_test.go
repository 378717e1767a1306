package archtest

import (
	"slices"
	"strings"
	"testing"
)

// A rule limits what a part of the tree may need. Everything below a directory is meant.
type rule struct {
	what   string
	parts  []string              // the rule is about these
	except []string              // but not these
	bad    func(dep string) bool // a package that they must not need
	direct bool                  // judged by imports alone, not by all that lies below
	why    string
}

// engines attach to running programs.
func isEngine(dep string) bool {
	return isIn(dep, "internal/procfs", "tracer") && !isIn(dep, readers...)
}

// readers read files and traces.
var readers = []string{
	"sdt", "ctf", "event", "internal/schema", "internal/markerabi", "internal/shm/ring", "internal/clock", "internal/elffile",
	"tracer/link", "tracer/internal/dwarf", "tracer/internal/simple",
}

// above are the parts at the top, which nothing else may need.
var above = []string{"cmd", "examples", "bench", "release", "tracer/e2e", "vet/cmd", "internal/test"}

var rules = []rule{
	{
		what:  "what users import",
		parts: []string{"marker", "tracepoint", "statickey", "simple"},
		bad: func(dep string) bool {
			return isForeign(dep) || isOwn(dep) && !isIn(dep, "internal", "event")
		},
		why: "a program with markers takes on nothing but the standard library, and none of the four pays for another",
	},
	{
		what:   "events",
		parts:  []string{"event"},
		except: []string{"event/source"},
		bad: func(dep string) bool {
			return isForeign(dep) || isOwn(dep) && !isIn(dep, "event") || dep == "context" || dep == "fmt" || dep == "encoding/json"
		},
		why: "package marker imports it, and every program with markers pays for its dependencies",
	},
	{
		what:   "the eBPF library",
		parts:  []string{"."},
		except: []string{"tracer/internal/kernel/bpf", "tracer/internal/kernel/prog"},
		bad:    func(dep string) bool { return strings.HasPrefix(dep, "github.com/cilium/ebpf") },
		direct: true,
		why:    "it stays replaceable, and everything that loads into the kernel is in one place",
	},
	{
		what:  "readers",
		parts: readers,
		bad:   isEngine,
		why:   "a program that reads files or traces does not link the engine that attaches",
	},
	{
		what:   "machinery",
		parts:  []string{"internal"},
		except: []string{"internal/test"},
		bad:    func(dep string) bool { return isOwn(dep) && !isIn(dep, "internal", "event", "sdt") },
		why:    "internal packages serve the public ones; of those they know the types of event and sdt alone",
	},
	{
		what:   "the top",
		parts:  []string{"."},
		except: above,
		bad:    func(dep string) bool { return isIn(dep, above...) },
		why:    "what is shipped does not depend on commands, examples or what only tests need",
	},
	{
		what:  "the command line",
		parts: []string{"cmd/waymark/cli"},
		bad: func(dep string) bool {
			return isIn(dep, "internal/shm", "internal/inproc")
		},
		direct: true,
		why:    "it attaches through package tracer, so whatever it can do a user's program can",
	},
	{
		what:  "the analyzers",
		parts: []string{"vet"},
		bad:   func(dep string) bool { return isOwn(dep) && !isIn(dep, "event", "vet") },
		why:   "other people's drivers link them, and judge by the table that link and the running program ask",
	},
	{
		what:   "the analysis library",
		parts:  []string{"."},
		except: []string{"vet", "cmd"},
		bad:    func(dep string) bool { return strings.HasPrefix(dep, "golang.org/x/tools/") },
		direct: true,
		why:    "what traces programs does not link a compiler's front end",
	},
	{
		what:  "introspection",
		parts: []string{"introspect"},
		bad: func(dep string) bool {
			return isForeign(dep) || isEngine(dep) || isOwn(dep) && !isIn(dep, "internal", "event", "marker", "tracepoint", "statickey", "introspect")
		},
		why: "a program that shows its own points takes on nothing but the standard library",
	},
	{
		what:  "sinks",
		parts: []string{"sink"},
		bad: func(dep string) bool {
			return isForeign(dep) || isEngine(dep) || isOwn(dep) && !isIn(dep, "internal", "event", "marker", "sink")
		},
		why: "programs link them, for what the standard library has a place for",
	},
	{
		what:  "traces on disk",
		parts: []string{"ctf"},
		bad:   func(dep string) bool { return isForeign(dep) || isOwn(dep) && !isIn(dep, "ctf") },
		why:   "who reads or writes the format takes on nothing but the standard library",
	},
	{
		what:  "rings",
		parts: []string{"internal/shm/ring", "internal/clock", "internal/shm/recorder"},
		bad: func(dep string) bool {
			return isForeign(dep) && !strings.HasPrefix(dep, "golang.org/x/sys/")
		},
		why: "every program that can be recorded links them",
	},
	{
		what:   "recording",
		parts:  []string{"."},
		except: []string{"internal/shm/recorder", "agent", "cmd", "bench", "tracer/e2e", "examples"},
		bad:    func(dep string) bool { return isIn(dep, "internal/shm/recorder") },
		why:    "a program without the agent links no code that records",
	},
	{
		what:  "the agent",
		parts: []string{"agent"},
		bad: func(dep string) bool {
			return isForeign(dep) && !strings.HasPrefix(dep, "golang.org/x/sys/") || dep == "net" || strings.HasPrefix(dep, "net/") ||
				isEngine(dep) && !isIn(dep, "internal/procfs") || isOwn(dep) && !isIn(dep, "internal", "event", "marker", "tracepoint", "statickey", "agent")
		},
		why: "services link it and leave it in: it takes on system calls, and no network stack, reader of executables or engine",
	},
	{
		what:  "sources of events",
		parts: []string{"event/source"},
		bad: func(dep string) bool {
			return isForeign(dep) || isOwn(dep) && !isIn(dep, "event") || dep == "fmt" || dep == "encoding/json"
		},
		why: "consumers of events link it with any source, and with no more",
	},
	{
		what:  "packages below tracer",
		parts: []string{"tracer/client", "tracer/doctor", "tracer/kernelevent", "tracer/internal"},
		bad:   func(dep string) bool { return dep == module+"/tracer" },
		why:   "package tracer may use any of them, and none of them links the engines",
	},
	{
		what:  "the terminal",
		parts: []string{"cmd/waymark/cli/internal/term"},
		bad: func(dep string) bool {
			return isForeign(dep) && !strings.HasPrefix(dep, "golang.org/x/") && dep != "github.com/rivo/uniseg" || isOwn(dep)
		},
		why: "whatever is printed passes it, so it knows nothing of what is printed",
	},
	{
		what:  "sessions",
		parts: []string{"cmd/waymark/cli/internal/session"},
		bad: func(dep string) bool {
			return isIn(dep, "cmd/waymark/cli/internal/build", "cmd/waymark/cli/internal/demo", "vet")
		},
		why: "what attaches does not make programs",
	},
	{
		what:  "views",
		parts: []string{"cmd/waymark/cli/internal/view", "cmd/waymark/cli/internal/explain"},
		bad: func(dep string) bool {
			return strings.HasPrefix(dep, "github.com/spf13/") || isIn(dep, "cmd") && !isIn(dep, "cmd/waymark/cli/internal/view", "cmd/waymark/cli/internal/explain", "cmd/waymark/cli/internal/term")
		},
		why: "a view shows what it is given: flags, targets and sessions are above it",
	},
	{
		what:  "generated programs",
		parts: []string{"tracer/internal/kernel/prog"},
		bad: func(dep string) bool {
			return strings.HasPrefix(dep, "golang.org/x/sys/") || dep == "os" || dep == "syscall" || dep == "github.com/cilium/ebpf/link"
		},
		direct: true,
		why:    "plans go in and instructions come out, without a kernel and on every platform",
	},
}

func isOwn(path string) bool { return strings.HasPrefix(path, module+"/") }

// isForeign reports whether a package is neither ours nor of the standard library, whose
// paths have no dot in their first element.
func isForeign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !isOwn(path) && strings.Contains(first, ".")
}

func isIn(path string, dirs ...string) bool {
	p := pkg{ImportPath: path}
	return isOwn(path) && slices.ContainsFunc(dirs, p.within)
}

func TestImports(t *testing.T) {
	for _, platform := range [][2]string{{"linux", "amd64"}, {"windows", "arm64"}} {
		own, _ := list(t, platform[0], platform[1])
		for _, r := range rules {
			for _, p := range own {
				if r.covers(p) {
					r.check(t, p)
				}
			}
		}
	}
}

func (r rule) covers(p *pkg) bool {
	return (r.parts[0] == "." || slices.ContainsFunc(r.parts, p.within)) && !slices.ContainsFunc(r.except, p.within)
}

func (r rule) check(t *testing.T, p *pkg) {
	t.Helper()
	deps := p.Deps
	if r.direct {
		deps = p.Imports
	}
	for _, dep := range deps {
		// The standard library's own copies of golang.org/x are not dependencies.
		if !strings.HasPrefix(dep, "vendor/") && r.bad(dep) {
			t.Errorf("%s needs %s: against the rule for %s: %s", p.ImportPath, dep, r.what, r.why)
		}
	}
}

// TestRulesBite keeps a rule from passing because it covers nothing that exists.
func TestRulesBite(t *testing.T) {
	own, _ := list(t, "linux", "amd64")
	for _, r := range rules {
		if !slices.ContainsFunc(own, r.covers) {
			t.Errorf("the rule for %s covers no package", r.what)
		}
	}
	for _, c := range []struct {
		part, dep string
		rule      int
	}{
		{"marker", "golang.org/x/sys/unix", 0},
		{"marker", module + "/sdt", 0},
		{"event", "fmt", 1},
		{"tracer", "github.com/cilium/ebpf/link", 2},
		{"sdt", module + "/tracer/internal/kernel/bpf", 3},
		{"internal/elffile", module + "/marker", 4},
		{"tracer", module + "/internal/test/peer", 5},
		{"cmd/waymark/cli", module + "/internal/shm/ring", 6},
		{"vet", module + "/marker", 7},
		{"tracer", "golang.org/x/tools/go/packages", 8},
		{"introspect", module + "/internal/procfs", 9},
		{"sink/slog", module + "/tracer", 10},
		{"ctf", module + "/event", 11},
		{"internal/shm/ring", "github.com/google/go-cmp/cmp", 12},
		{"marker", module + "/internal/shm/recorder", 13},
		{"agent", "net", 14},
		{"tracer/doctor", module + "/tracer", 16},
		{"cmd/waymark/cli/internal/term", module + "/tracer", 17},
		{"cmd/waymark/cli/internal/session", module + "/cmd/waymark/cli/internal/build", 18},
		{"cmd/waymark/cli/internal/view", "github.com/spf13/cobra", 19},
		{"tracer/internal/kernel/prog", "golang.org/x/sys/unix", 20},
	} {
		p := &pkg{ImportPath: module + "/" + c.part}
		if r := rules[c.rule]; !r.covers(p) || !r.bad(c.dep) {
			t.Errorf("the rule for %s lets %s need %s", r.what, c.part, c.dep)
		}
	}
}

func TestNoCgo(t *testing.T) {
	cgo := func(p *pkg) bool { return slices.Contains(p.Imports, "C") || len(p.CgoFiles) > 0 }
	own, _ := list(t, "linux", "amd64")
	for _, p := range own {
		if cgo(p) {
			t.Errorf("%s uses cgo: the module must build without a C compiler", p.ImportPath)
		}
	}
}

func TestEveryPackageIsDocumented(t *testing.T) {
	own, _ := list(t, "linux", "amd64")
	for _, p := range own {
		if p.Doc == "" {
			t.Errorf("%s has no package comment: its first sentence is its line in docs/architecture.md", p.ImportPath)
		}
	}
}
