package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// maxOutsideLines bounds the program of TestOutsideModule.
const maxOutsideLines = 59

// TestOutsideModule builds a tracer in a module of its own, of public packages alone and in under 60 lines. It finds the
// markers of a web server, prints their typed values, measures a latency and records a trace: as many of each as the
// server itself counts.
func TestOutsideModule(t *testing.T) {
	peer.Root(t)
	babeltrace := peer.Need(t, "babeltrace2")[0]
	dir := t.TempDir()
	program := buildOutside(t, dir)
	server := gobuild.Build(t, gobuild.Config{}, "../../examples/httpserver")
	run(t, waymark(t), "link", server)

	const requests = 40
	trace := filepath.Join(dir, "trace")
	var stderr bytes.Buffer
	cmd := exec.Command(program, trace, server, "-load", fmt.Sprint(requests))
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &stderr)
	}
	o := readOutside(t, out)
	if want := []string{"cache:hit", "cache:miss", "http:accept", "http:request_end", "http:request_start"}; !slices.Equal(o.found, want) {
		t.Errorf("found %q, want %q", o.found, want)
	}
	if o.server.Answered != requests || o.server.Markers["http:request_end"] != requests {
		t.Errorf("the server counted %+v", o.server)
	}
	total := 0
	for name, n := range o.server.Markers {
		total += n
		if o.events[name] != n {
			t.Errorf("%d events of %s, the server counted %d", o.events[name], name, n)
		}
	}
	for id := 1; id <= requests; id++ {
		begin, end := o.begins[id], o.ends[id]
		if begin == "" || begin != end.path || end.status != 200 || end.bytes != pageBytes(begin) {
			t.Errorf("request %d began with %q and ended with %+v", id, begin, end)
		}
	}
	if l := o.latency; l.pairs != requests || l.lost != 0 || l.p50 <= 0 || l.p50 > l.p99 || l.p99 > l.max {
		t.Errorf("latency %+v", l)
	}
	text, err := exec.Command(babeltrace, trace).Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n != total {
		t.Errorf("babeltrace2 reads %d events of %d", n, total)
	}
	for name, n := range o.server.Markers {
		if got := strings.Count(string(text), " "+name+": "); got != n {
			t.Errorf("babeltrace2 reads %d events of %s, the server counted %d", got, name, n)
		}
	}
}

// buildOutside builds testdata/outside in a module below dir and returns the executable.
func buildOutside(t *testing.T, dir string) string {
	t.Helper()
	source, err := os.ReadFile("testdata/outside/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(source, []byte("\n")); n > maxOutsideLines {
		t.Errorf("the program has %d lines, more than %d", n, maxOutsideLines)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(dir, "outside")
	writeFile(t, filepath.Join(module, "main.go"), source)
	writeFile(t, filepath.Join(module, "go.sum"), sums)
	writeFile(t, filepath.Join(module, "go.mod"), fmt.Appendf(nil,
		"module example.org/outside\n\ngo 1.25.0\n\nrequire (\n%[1]s v0.0.0\n%[1]s/tracer v0.0.0\n)\n\n"+
			"replace (\n%[1]s => %[2]s\n%[1]s/tracer => %[2]s/tracer\n)\n", modulePath, root))
	goCommand := func(args ...string) string {
		t.Helper()
		var stderr bytes.Buffer
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Stderr = module, &stderr
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
		}
		return string(out)
	}
	own := 0
	for _, path := range strings.Fields(goCommand("list", "-f", `{{join .Imports "\n"}}`, ".")) {
		if strings.HasPrefix(path, modulePath+"/") {
			own++
		}
		if strings.Contains("/"+path+"/", "/internal/") {
			t.Errorf("the program imports %s", path)
		}
	}
	if own == 0 {
		t.Error("the program imports nothing of waymark")
	}
	path := filepath.Join(dir, "outside", "outside")
	goCommand("build", "-o", path, ".")
	return path
}

// outsideOutput is the output of the program and that of the server it traced.
type outsideOutput struct {
	found   []string
	events  map[string]int // by marker
	begins  map[int]string // paths by the number of the request
	ends    map[int]outsideEnd
	latency struct{ pairs, lost, p50, p99, max int }
	server  struct {
		Answered int
		Markers  map[string]int
	}
}

type outsideEnd struct {
	path          string
	status, bytes int
}

func readOutside(t *testing.T, text []byte) *outsideOutput {
	t.Helper()
	o := &outsideOutput{events: map[string]int{}, begins: map[int]string{}, ends: map[int]outsideEnd{}}
	for line := range strings.Lines(string(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, values, _ := strings.Cut(rest, " ")
		var err error
		switch {
		case kind == "found":
			o.found = append(o.found, name)
		case kind == "event":
			o.events[name]++
			var path string
			var id int
			var e outsideEnd
			switch name {
			case "http:request_start":
				_, err = fmt.Sscanf(values, "path=%q id=%d", &path, &id)
				o.begins[id] = path
			case "http:request_end":
				_, err = fmt.Sscanf(values, "path=%q id=%d status=%d bytes=%d", &e.path, &id, &e.status, &e.bytes)
				o.ends[id] = e
			}
		case kind == "latency":
			l := &o.latency
			_, err = fmt.Sscan(rest, &l.pairs, &l.lost, &l.p50, &l.p99, &l.max)
		case strings.HasPrefix(line, "{"):
			err = json.Unmarshal([]byte(line), &o.server)
		}
		if err != nil {
			t.Errorf("line %q: %v", line, err)
		}
	}
	slices.Sort(o.found)
	return o
}

// pageBytes returns the length of the page of a path: "page KEY: ", 64 digits and a newline.
func pageBytes(path string) int {
	return len("page ") + len(strings.TrimPrefix(path, "/page/")) + len(": ") + 64 + 1
}
