package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

func TestMain(m *testing.M) {
	tracer.GuardMain()
	testscript.Main(m, programs)
}

// programs are what tests find in PATH.
var programs = map[string]func(){
	"waymark": func() {
		os.Exit(Main(context.Background(), os.Args[1:], &Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
	},
}

// TestScripts runs one script a verb. Those of the kernel engine have their targets in PATH:
// examples/tick, compiled.
func TestScripts(t *testing.T) {
	for _, verb := range []string{"usage", "version", "link", "build", "vet"} {
		t.Run(verb, func(t *testing.T) {
			if verb == "vet" && testing.Short() {
				t.Skip("loads the packages of this repository and what they need, again and again")
			}
			runScript(t, verb, "")
		})
	}
	t.Run("agent", func(t *testing.T) { // list, stat, trace, record, key and the rest by an agent
		if runtime.GOOS != "linux" {
			t.Skip("agents are on Linux")
		}
		runScript(t, "agent", "")
	})
	t.Run("refusals", func(t *testing.T) { // of paths, and of agents
		if runtime.GOOS != "linux" {
			t.Skip("agents are on Linux")
		}
		runScript(t, "refusals", "")
	})
	t.Run("simple", func(t *testing.T) { // list, of simple markers
		peer.Need(t, "gcc", "g++", "strip")
		peer.Header(t, "sys/sdt.h")
		runScript(t, "simple", "")
	})
	t.Run("simple_go", func(t *testing.T) {
		peer.Need(t, "strip", "readelf")
		runScript(t, "simple_go", "")
	})
	for _, verb := range []string{"list", "stat", "trace", "latency", "record", "probe", "doctor", "signals"} {
		t.Run(verb, func(t *testing.T) {
			if testing.Short() {
				t.Skip("runs for seconds")
			}
			peer.Root(t)
			if verb == "probe" {
				peer.KernelEvents(t)
			}
			runScript(t, verb, compileTick(t))
		})
	}
}

// compileTick returns a directory with the program of source 003.
func compileTick(t *testing.T) string {
	t.Helper()
	gcc := peer.Need(t, "gcc")[0]
	peer.Header(t, "sys/sdt.h")
	dir := t.TempDir()
	out, err := exec.Command(gcc, "-O2", "-o", filepath.Join(dir, "tick"), "../../../examples/tick/tick.c").CombinedOutput()
	if err != nil {
		t.Fatalf("compiling tick: %v\n%s", err, out)
	}
	return dir
}

func runScript(t *testing.T, verb, bin string) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:               []string{"testdata/" + verb + ".txtar"},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("REPO", root)
			e.Setenv("GORACE", "atexit_sleep_ms=10") // it is a second for each command
			if bin != "" {
				e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
				e.Setenv("TICK", filepath.Join(bin, "tick"))
			}
			return goEnvironment(e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor":    waitFor,
			"eventually": eventually,
			"jsonlines":  jsonLines,
		},
	})
}

// goEnvironment lets the scripts run the go command with the caches that are there.
func goEnvironment(e *testscript.Env) error {
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOTOOLCHAIN", "GOFLAGS"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return fmt.Errorf("go env %s: %w", name, err)
		}
		e.Setenv(name, strings.TrimSpace(string(value)))
	}
	return nil
}

// scriptPatience is how long a script waits for what another process does: longer than any machine takes.
const scriptPatience = 3 * time.Minute

// waitFor waits until a file has a line that matches a pattern: waitfor FILE PATTERN.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitfor FILE PATTERN")
	}
	await(ts, args[1], func() string {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		if err != nil {
			return ""
		}
		return string(data)
	})
}

// eventually runs a command until it prints a line that matches a pattern: eventually PATTERN COMMAND….
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN COMMAND…")
	}
	await(ts, args[0], func() string {
		ts.Exec(args[1], args[2:]...) // it may well fail at first
		return ts.ReadFile("stdout")
	})
}

// await calls a function until what it returns matches a pattern.
func await(ts *testscript.TestScript, pattern string, text func() string) {
	matches := regexp.MustCompile("(?m)" + pattern).MatchString
	for deadline := time.Now().Add(scriptPatience); ; time.Sleep(10 * time.Millisecond) {
		got := text()
		if matches(got) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no %s in %v:\n%s", pattern, scriptPatience, got)
		}
	}
}

// varying are the members of JSON objects that are another every time, or with every compiler.
var varying = regexp.MustCompile(`"(time|monotonic_ns|pid|tid|cpu|elapsed_s|rate|p50_ns|p90_ns|p99_ns|p99_9_ns|max_ns|mean_ns|address|offset|counter|args|build_id|file|go|line)":("[^"]*"|-?[0-9][-+.e0-9]*)`)

// varyingBuckets are those of a histogram.
var varyingBuckets = regexp.MustCompile(`"buckets":\[(\[[0-9,]+\],?)+\]`)

// varyingPath is the path of a file, which may be the name of a field too.
var varyingPath = regexp.MustCompile(`"file":\{"path":"[^"]*"`)

// jsonLines checks that a file is JSON, an object a line, and writes it to another with "_"
// for what varies: jsonlines FROM TO.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: jsonlines FROM TO")
	}
	data := []byte(ts.ReadFile(args[0]))
	for line := range bytes.Lines(data) {
		if !json.Valid(line) || !bytes.HasPrefix(line, []byte("{")) || !bytes.HasSuffix(line, []byte("}\n")) {
			ts.Fatalf("%s: not a JSON object: %s", args[0], line)
		}
	}
	data = varyingBuckets.ReplaceAll(data, []byte(`"buckets":[_]`))
	data = varyingPath.ReplaceAll(data, []byte(`"file":{"path":_`))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), varying.ReplaceAll(data, []byte(`"$1":_`)), 0o666))
}
