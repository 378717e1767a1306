package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
)

// typedProgram starts the program that passes tracepoints, with a run-time directory of this test's own.
func typedProgram(t *testing.T, args ...string) (p *talk.Program, pid string) {
	t.Helper()
	run := t.TempDir()
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", run)
	path := filepath.Join(t.TempDir(), "typed")
	if out, err := exec.Command("go", "build", "-o", path, "./testdata/typed").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p = talk.Start(t, exec.Command(path, args...))
	pid = fmt.Sprint(p.PID())
	eventually(t, "an agent", func() bool {
		all, _ := filepath.Glob(run + "/waymark/" + pid + "-*.sock")
		return len(all) > 0
	})
	return p, pid
}

// typedEvent is an event as the program says that it passed it, and as waymark prints it.
type typedEvent struct {
	Marker string
	Fields map[string]any
	Errors map[string]string
}

func (e *typedEvent) parse(t *testing.T, line []byte) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(e); err != nil {
		t.Fatalf("line %q: %v", line, err)
	}
}

// passed lets the program pass all of its tracepoints, and returns what it says of it.
func passed(t *testing.T, p *talk.Program) (all []typedEvent) {
	t.Helper()
	for line := p.Ask(""); !strings.HasPrefix(line, "passed"); line = p.Line() {
		var e typedEvent
		e.parse(t, []byte(line))
		all = append(all, e)
	}
	return all
}

// printedEvents are the events among lines of JSON.
func printedEvents(t *testing.T, text []byte) (all []typedEvent) {
	t.Helper()
	for line := range bytes.Lines(text) {
		var e typedEvent
		if e.parse(t, line); e.Marker != "" {
			all = append(all, e)
		}
	}
	return all
}

// Recordings of tracepoints have what the program passed, field by field: one that began before anything was known of their types, one
// that began afterwards, and what waymark trace prints of those that a condition holds of. babeltrace2 reads the same.
func TestTypedTracepoints(t *testing.T) {
	p, pid := typedProgram(t)
	dir := t.TempDir()
	first := watchBy(t, "record", "--engine", "agent", "-p", pid, "-o", dir+"/first")
	few := watchBy(t, "trace", "--engine", "agent", "--where", "octet >= 204", "-p", pid, "typed:numbers")
	truth := passed(t, p)
	second := watchBy(t, "record", "-p", pid, "-o", dir+"/second", "typed:*")
	behind := len(truth)
	truth = append(truth, passed(t, p)...)
	for _, w := range []*watcher{first, second, few} {
		w.interrupt()
	}
	for name, want := range map[string][]typedEvent{"first": truth, "second": truth[behind:]} {
		report, err := exec.Command(waymark(t), "report", "--json", dir+"/"+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		got := printedEvents(t, report)
		sameEvents(t, name, got, want)
		readByBabeltrace(t, dir+"/"+name, got)
	}
	var want []typedEvent
	for _, e := range truth {
		if octet, _ := e.Fields["octet"].(json.Number); e.Marker == "typed:numbers" && octet >= "204" {
			want = append(want, e)
		}
	}
	got := printedEvents(t, few.stdout.Bytes())
	if sameEvents(t, "trace --where", got, want); len(want) != 2 || !strings.Contains(few.stdout.String(), `"filtered":4`) {
		t.Errorf("%d events, %s", len(want), &few.stdout)
	}
	list, err := exec.Command(waymark(t), "list", "--engine", "agent", "-p", pid).Output()
	if err != nil || !strings.Contains(string(list), "level main.level") || !strings.Contains(string(list), "typed:mixed: err has no value: an interface is not recorded\n") {
		t.Errorf("%v\n%s", err, list)
	}
	if err := p.End(); err != nil {
		t.Error(err)
	}
}

// sameEvents compares events with what the program says, and expects a reason for each value that is missing.
func sameEvents(t *testing.T, what string, got, want []typedEvent) {
	t.Helper()
	for _, e := range got {
		for name, v := range e.Fields {
			if (v == nil) != (e.Errors[name] != "") {
				t.Errorf("%s: %s of %s is %v, because %q", what, name, e.Marker, v, e.Errors[name])
			}
		}
	}
	onlyValues := cmp.Transformer("values", func(e typedEvent) map[string]any { return map[string]any{e.Marker: e.Fields} })
	if d := cmp.Diff(want, got, onlyValues); d != "" {
		t.Errorf("%s (-passed +recorded):\n%s", what, d)
	}
}

// readByBabeltrace holds what babeltrace2 prints of a trace against what waymark report does.
func readByBabeltrace(t *testing.T, dir string, want []typedEvent) {
	t.Helper()
	out, err := exec.Command(peer.Need(t, "babeltrace2")[0], dir).Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != len(want) {
		t.Fatalf("babeltrace2: %v, %d lines of %d events:\n%s", err, len(lines), len(want), out)
	}
	for i, e := range want {
		if !strings.Contains(lines[i], " "+e.Marker+": ") {
			t.Errorf("babeltrace2 printed %s for an event of %s", lines[i], e.Marker)
		}
		for name, v := range e.Fields {
			if s, ok := v.(string); ok && (s == "" || strings.Contains(s, "\x00")) {
				continue // of an empty text before 2.0.5 it prints another one, and one with a NUL it ends there
			}
			if field := " " + name + " = " + asBabeltrace(name, v, e.Errors[name]); !strings.Contains(lines[i], field+",") && !strings.Contains(lines[i], field+" }") {
				t.Errorf("babeltrace2 printed %s\nwhere %s is %v", lines[i], name, v)
			}
		}
	}
}

// asBabeltrace is how babeltrace2 prints a value.
func asBabeltrace(name string, v any, reason string) string {
	switch v := v.(type) {
	case nil:
		return fmt.Sprintf("{ unavailable = %q }", reason)
	case bool:
		return map[bool]string{false: `( "false" : container = 0 )`, true: `( "true" : container = 1 )`}[v]
	case string:
		if name == "blob" {
			var bytes []string
			blob, _ := base64.StdEncoding.DecodeString(v)
			for i, c := range blob {
				bytes = append(bytes, fmt.Sprintf("[%d] = 0x%X", i, c))
			}
			return "[ " + strings.Join(bytes, ", ") + " ]"
		}
		return fmt.Sprintf("%q", v)
	case json.Number:
		n, err := v.Int64()
		switch name {
		case "single", "double":
			x, _ := v.Float64()
			return strconv.FormatFloat(x, 'g', 6, 64)
		case "order", "raw", "index", "queue", "hook", "address":
			return fmt.Sprintf("0x%X", n)
		}
		if err != nil {
			return v.String() // of 64 bits without a sign
		}
		return fmt.Sprint(n)
	}
	return fmt.Sprint(v)
}

// In a linked program, of which the kernel's engine sees the markers, it is the agent that is asked where a tracepoint is chosen by name, and
// markers beside it; markers alone are the kernel's.
func TestTypedTracepointOfLinked(t *testing.T) {
	peer.KernelEvents(t)
	run := t.TempDir()
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", run)
	path := filepath.Join(t.TempDir(), "worker")
	if out, err := exec.Command(waymark(t), "build", "-o", path, "../../examples/agent").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := talk.Start(t, exec.Command(path, "-pause", "100us"))
	defer p.Cmd.Process.Kill()
	eventually(t, "an agent", func() bool {
		all, _ := filepath.Glob(run + "/waymark/*.sock")
		return len(all) > 0
	})
	for _, tt := range []struct {
		patterns []string
		want     string
	}{
		{[]string{"work:done"}, "attached to 1 tracepoint in process"},
		{[]string{"work:begin", "work:done"}, "attached to 1 marker and 1 tracepoint in process"},
		{[]string{"work:*"}, "attached to 2 markers at"},
		{[]string{"work:nothing"}, `no marker matches "work:nothing"`},
	} {
		args := append([]string{"trace", "-n", "20", "-p", fmt.Sprint(p.PID())}, tt.patterns...)
		out, _ := exec.Command(waymark(t), args...).CombinedOutput()
		if !strings.Contains(string(out), tt.want) || strings.Contains(string(out), "through its agent") != strings.Contains(tt.want, "tracepoint") {
			t.Errorf("%q:\n%s", tt.patterns, out)
		}
		if n := strings.Count(string(out), " work:done "); strings.HasPrefix(tt.want, "attached to 1") && n == 0 {
			t.Errorf("%q: no event of the tracepoint:\n%s", tt.patterns, out)
		}
	}
}

// Every pass since a recorder was attached is in its trace or counted as lost: by two of them, and a counter, beside each other, with
// rings too small for all, in a flight recorder, too.
func TestTypedTracepointsAccounts(t *testing.T) {
	const each = 300_000
	p, pid := typedProgram(t, fmt.Sprint(each))
	dir := t.TempDir()
	all := map[string]*watcher{
		"whole": watchBy(t, "record", "--engine", "agent", "--buffer", "64M", "-p", pid, "-o", dir+"/whole", "typed:counted"),
		"small": watchBy(t, "record", "--engine", "agent", "--buffer", "16K", "-p", pid, "-o", dir+"/small", "typed:counted"),
	}
	counter := watchBy(t, "stat", "--engine", "agent", "-p", pid, "typed:counted")
	if out, err := exec.Command(waymark(t), "record", "--flight", "1M", "-p", pid, "typed:counted").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for range 2 {
		p.Ask("")
	}
	const total = 2 * each
	for name, w := range all {
		w.interrupt()
		a := readNumbers(t, dir+"/"+name)
		if a.received+a.lost != total || a.received == 0 || a.lost == 0 && a.last != total-1 {
			t.Errorf("%s: %+v of %d", name, a, total)
		}
		t.Logf("%s: %+v", name, a)
	}
	if counts := counter.stop(); counts["typed:counted"] != total {
		t.Errorf("counted %v, not %d", counts, total)
	}
	if err := p.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.End() // it was killed
	if out, err := exec.Command(waymark(t), "recover", "--remove", "-p", pid, "-o", dir+"/flight").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if a := readNumbers(t, dir+"/flight"); a.received == 0 || a.last != total-1 {
		t.Errorf("the flight recorder has %+v", a)
	}
}

// What has no value is no key: pairs are not joined by it, as strangers would be. And that a condition cannot be about it, which is known
// from the first pass on, is said of a flight recorder by those that read it.
func TestTypedTracepointsWithoutValue(t *testing.T) {
	p, pid := typedProgram(t)
	latency := watchBy(t, "latency", "--engine", "agent", "--key", "order=n", "-p", pid, "typed:mixed", "typed:texts")
	if out, err := exec.Command(waymark(t), "record", "--flight", "1M", "--where", "order > 1", "-p", pid, "typed:mixed").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	passed(t, p)
	latency.interrupt()
	if out := latency.stdout.String(); !strings.Contains(out, `"unread":3`) || !strings.Contains(out, `"pairs":0`) {
		t.Errorf("%s", out)
	}
	dir := t.TempDir()
	write := func(verb string) {
		out, err := exec.Command(waymark(t), verb, "-p", pid, "-o", dir+"/"+verb).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "0 events, 3 older ones overwritten or lost") ||
			!strings.Contains(string(out), "order of typed:mixed has no value: a struct is not recorded") {
			t.Errorf("%s: %v\n%s", verb, err, out)
		}
	}
	write("snapshot")
	if err := p.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.End() // it was killed
	write("recover")
}
