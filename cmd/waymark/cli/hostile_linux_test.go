package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
)

// harm is what testdata/hostile/hostile.c has in its names: control characters of both kinds, a byte that is none of UTF-8,
// text that runs from right to left, and lines that look like waymark's own.
const harm = "\x1b[2J\x1b]0;t\a\u009b2J\x9b2J\u202e\xff\r\nFORGED\nwaymark: hint: FORGED"

// harmless is the beginning of it as waymark prints it.
const harmless = `\x1b[2J`

// A verb is run on a hostile input. What it prints must show the texts.
type hostileRun struct {
	args  []string
	shows []string // each with harm after it
}

// check runs waymark and holds its output against what a terminal may get.
func (r *hostileRun) check(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("waymark", r.args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader("n\n")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	for _, out := range []*bytes.Buffer{&stdout, &stderr} {
		if at := harmIn(out.Bytes()); at >= 0 && !(r.args[0] == "__complete" && out.Bytes()[at] == '\t') {
			t.Errorf("%q: harm at %d of\n%q", r.args, at, out.Bytes()[max(0, at-100):min(out.Len(), at+100)])
		}
	}
	all := stdout.String() + stderr.String()
	for _, text := range r.shows {
		// In JSON an escape is \u001b.
		if !strings.Contains(all, text+harmless) && !strings.Contains(all, text+`\u001b[2J`) {
			t.Errorf("%q, %v, does not show %q:\n%s", r.args, err, text, all)
		}
	}
	for _, arg := range r.args {
		if arg != "--json" {
			continue
		}
		for line := range bytes.Lines(stdout.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("%q: not JSON: %q", r.args, line)
			}
		}
	}
}

// harmIn returns where output does something to a terminal, or has a line of the program's making; -1 for nowhere.
func harmIn(out []byte) int {
	line := true // a line begins
	for at := 0; at < len(out); {
		r, n := utf8.DecodeRune(out[at:])
		rest := out[at:]
		switch {
		case r == utf8.RuneError && n == 1, r < ' ' && r != '\n', r >= 0x7f && r < 0xa0, r == '\u202e',
			line && (bytes.HasPrefix(rest, []byte("FORGED")) || bytes.HasPrefix(rest, []byte("waymark: hint: FORGED")) || bytes.HasPrefix(rest, []byte("waymark: FORGED"))):
			return at
		}
		line = r == '\n'
		at += n
	}
	return -1
}

// The names of a file, of its markers and of its process come from whoever made them.
func TestHostileProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("attaches to a program again and again")
	}
	gcc := peer.Need(t, "gcc")[0]
	peer.Header(t, "sys/sdt.h")
	peer.Root(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "program"+harm)
	out, err := exec.Command(gcc, "-g", "-O2", "-Wno-format", "-I../../../include", "-o", program, "testdata/hostile/hostile.c").CombinedOutput()
	if err != nil {
		t.Fatalf("compiling: %v\n%s", err, out)
	}
	text, odd := filepath.Join(dir, "text"+harm), filepath.Join(dir, "none"+harm)
	if err := os.WriteFile(text, []byte("a "+harm), 0o600); err != nil {
		t.Fatal(err)
	}
	target := exec.Command(program, "1000000")
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Process.Kill(); target.Wait() })
	pid := fmt.Sprint(target.Process.Pid)
	const ten = "10"
	for _, r := range []hostileRun{
		{[]string{"list", program}, []string{"provider"}},
		{[]string{"list", "-v", program}, []string{"program", "provider", "odd", "operand"}},
		{[]string{"list", "--json", program}, []string{"program", "provider"}},
		{[]string{"list", "--simple", program}, []string{"program", "simple", "description $n"}},
		{[]string{"list", "--simple", "-v", program}, []string{"simple"}},
		{[]string{"list", "--simple", "--json", program}, []string{"simple"}},
		{[]string{"list", "-p", pid}, []string{"provider"}},
		{[]string{"list", "-v"}, []string{"provider", pid + " "}},
		{[]string{"list", "-v", "p*:*"}, []string{"provider"}},
		{[]string{"list", text}, []string{"text"}},
		{[]string{"list", odd}, []string{"none"}},
		{[]string{"list", program, harm}, nil},
		{[]string{"stat", "-p", pid, "-d", "200ms"}, []string{"provider"}},
		{[]string{"stat", "-p", pid, "-d", "200ms", "-I", "100"}, []string{"provider"}},
		{[]string{"stat", "-p", pid, "-d", "200ms", "--by", "comm", "plain:text"}, []string{""}},
		{[]string{"stat", "-p", pid, "-d", "200ms", "--json"}, []string{"provider"}},
		{[]string{"stat", "-p", pid, "no" + harm}, []string{"no", "provider"}},
		{[]string{"stat", "-p", pid, "--where", "no" + harm + " == 1"}, nil},
		{[]string{"stat", "--", program, ten}, []string{"provider"}},
		{[]string{"stat", "--", odd}, []string{"none"}},
		{[]string{"trace", "-p", pid, "-n", ten}, []string{"", "provider"}},
		{[]string{"trace", "-p", pid, "-n", ten, "--str", "arg2", "plain:text"}, []string{`arg2="`}},
		{[]string{"trace", "-p", pid, "-n", ten, "--str", "arg2", "--json"}, []string{"", "provider"}},
		{[]string{"trace", "-n", ten, program, "simple*"}, []string{"simple"}},
		{[]string{"trace", "-n", ten, "-p", pid, "-o", odd + "/x"}, []string{"none"}},
		{[]string{"latency", "-p", pid, "-d", "200ms", "--by", "tid", "p*:begin*", "p*:end*"}, []string{"provider", "end"}},
		{[]string{"latency", "-p", pid, "-d", "200ms", "--by", "tid", "--json", "p*:begin*", "p*:end*"}, []string{"provider"}},
		{[]string{"latency", "-p", pid, "--by", "tid", "p*", "p*"}, []string{"provider"}},
		{[]string{"record", "-n", ten, "-p", pid, "-o", filepath.Join(dir, "trace"+harm)}, []string{"trace"}},
		{[]string{"record", "-n", ten, "-p", pid, "-o", filepath.Join(dir, "trace"+harm)}, []string{"trace"}}, // it is there
		{[]string{"report", filepath.Join(dir, "trace"+harm)}, []string{"", "provider"}},
		{[]string{"report", "--stat", filepath.Join(dir, "trace"+harm)}, []string{"provider"}},
		{[]string{"report", "--json", filepath.Join(dir, "trace"+harm)}, []string{"provider"}},
		{[]string{"report", odd}, []string{"none"}},
		{[]string{"recover", text}, []string{"text"}},
		{[]string{"recover", "-o", odd, text}, []string{"text"}},
		{[]string{"link", program}, []string{"program"}},
		{[]string{"link", odd}, []string{"none"}},
		{[]string{"link", "-o", odd + "/x", program}, nil},
		{[]string{"vet", "./" + harm}, nil},
		{[]string{"build", "-o", odd, "./" + harm}, nil},
		{[]string{"probe", "add", "-n", program}, nil},
		{[]string{"probe", "add", program}, nil},
		{[]string{"probe", "add", text}, []string{"text"}},
		{[]string{"probe", "del", "no" + harm}, nil},
		{[]string{"doctor", "-p", pid}, nil},
		{[]string{"doctor", "--json", "-p", pid}, nil},
		{[]string{"doctor", program}, nil},
		{[]string{"doctor", text}, []string{"text"}},
		{[]string{"key", "list", "-p", pid}, nil},
		{[]string{"arm", "-p", pid, "a" + harm}, nil},
		{[]string{"snapshot", "-p", pid, "a" + harm}, nil},
		{[]string{"a" + harm}, nil},
		{[]string{"list", "--" + harm}, nil},
		{[]string{"trace", "-d", harm, "-p", pid}, nil},
		{[]string{"help", harm}, nil},
		{[]string{"__complete", "stat", "-p", ""}, nil},
	} {
		r.check(t, dir)
	}
}

func init() { programs["hostile-agent"] = hostileAgent }

// hostileAgent has something else at the socket of an agent, which says what does harm in each string that it may.
func hostileAgent() {
	self, err := rundir.Self()
	check(err)
	dir, err := rundir.Create()
	check(err)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir.Inside(self.Socket()), Net: "unix"})
	check(err)
	fmt.Println("ready")
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		c, err := l.AcceptUnix()
		check(err)
		go func() {
			in := bufio.NewScanner(c)
			for in.Scan() {
				var r wire.Request
				check(json.Unmarshal(in.Bytes(), &r))
				e := json.NewEncoder(c)
				switch r.Do {
				case wire.Hello:
					e.Encode(&wire.Answer{Process: &wire.Process{Version: wire.Version, PID: self.PID, Start: self.Start, Executable: "/bin/executable" + harm, Go: "go" + harm}})
				case wire.List:
					fields := []event.Field{{Name: "field" + harm, Type: "type" + harm}, {Name: "f" + harm, Unavailable: event.Reason("because" + harm)}}
					for _, kind := range []string{wire.Marker, wire.Tracepoint, wire.Key, "kind" + harm} {
						e.Encode(&wire.Answer{More: true, Point: &wire.Point{Kind: kind, Name: "a:" + kind + harm, Format: "format" + harm + " %d",
							Fields: fields, Probes: []string{"probe" + harm}, Problem: "problem" + harm}})
					}
					e.Encode(&wire.Answer{})
				default:
					e.Encode(&wire.Answer{Error: &wire.Error{Code: "code" + harm, Text: "text" + harm, Hint: "help" + harm}})
				}
			}
		}()
	}
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// The agent of a program is whatever answers at its socket.
func TestHostileAgent(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", dir)
	p := exec.Command("hostile-agent")
	talk.Start(t, p).Expect("ready")
	pid := fmt.Sprint(p.Process.Pid)
	for _, r := range []hostileRun{
		{[]string{"list", "--engine", "agent", "-p", pid}, []string{"kind", "a:marker", "field", "type", "problem", "because"}},
		{[]string{"list", "--engine", "agent", "--json", "-p", pid}, []string{"kind", "probe"}},
		{[]string{"key", "list", "-p", pid}, []string{"a:key"}},
		{[]string{"key", "on", "-p", pid, "a:*"}, []string{"text"}},
		{[]string{"arm", "-p", pid, "a:*"}, []string{"text"}},
		{[]string{"stat", "--engine", "agent", "-d", "100ms", "-p", pid}, []string{"text"}},
		{[]string{"trace", "--engine", "agent", "-d", "100ms", "-p", pid}, []string{"text"}},
		{[]string{"record", "--engine", "agent", "-d", "100ms", "-p", pid}, []string{"text"}},
		{[]string{"record", "--flight", "1M", "-p", pid}, []string{"text"}},
		{[]string{"snapshot", "-p", pid}, nil},
		{[]string{"recover", "-p", pid}, nil},
		{[]string{"sessions"}, nil},
		{[]string{"sessions", "stop", "-p", pid, "x"}, nil},
	} {
		r.check(t, dir)
	}
}

// What a program left in its rings can be written by anybody whose program it was.
func TestHostileRing(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", dir)
	worker := filepath.Join(dir, "worker")
	if out, err := exec.Command("go", "build", "-o", worker, "../../../examples/agent").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := exec.Command(worker)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { p.Process.Kill(); p.Wait() }()
	pid := fmt.Sprint(p.Process.Pid)
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) { // until its agent answers
		out, err := exec.Command("waymark", "record", "--flight", "1M", "-p", pid).CombinedOutput()
		if err == nil {
			break
		}
		if time.Since(began) > scriptPatience {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	time.Sleep(100 * time.Millisecond) // some events
	p.Process.Kill()
	p.Wait()
	rings, err := filepath.Glob(filepath.Join(dir, "waymark", "*", "*.ring"))
	if err != nil || len(rings) != 1 {
		t.Fatalf("%q, %v", rings, err)
	}
	data, err := os.ReadFile(rings[0])
	if err != nil {
		t.Fatal(err)
	}
	// In the ring a text has its length, so another takes its place that is as long.
	changed := bytes.ReplaceAll(data, []byte("work:begin"), []byte("work\x1b[2J\x9b\n"))
	changed = bytes.ReplaceAll(changed, []byte("worker"), []byte("wo\x1b[2J"))
	if bytes.Equal(changed, data) {
		t.Fatal("the ring has no such texts")
	}
	other := filepath.Join(filepath.Dir(rings[0]), "session"+harm+".ring")
	for _, path := range []string{rings[0], other, filepath.Join(dir, "saved"+harm)} {
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []hostileRun{
		{[]string{"sessions"}, nil},
		{[]string{"recover", "-p", pid, "-o", filepath.Join(dir, "one")}, nil},
		{[]string{"recover", "-o", filepath.Join(dir, "two"), filepath.Join(dir, "saved"+harm)}, nil},
		{[]string{"report", filepath.Join(dir, "two")}, nil},
		{[]string{"report", "--json", filepath.Join(dir, "two")}, nil},
		{[]string{"report", "--stat", filepath.Join(dir, "two")}, nil},
		{[]string{"sessions", "remove", "-p", pid}, nil},
	} {
		r.check(t, dir)
	}
}

// A trace may be anybody's: its names, values, streams and damage.
func TestHostileTrace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trace"+harm)
	w, err := ctf.Create(dir, &ctf.Options{Clock: ctf.Clock{Freq: 1e9}})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	w.AddEnv(ctf.EnvEntry{Name: "hostname", Text: "host" + harm}, ctf.EnvEntry{Name: "tracer_name", Text: "tracer" + harm})
	number := ctf.Integer{Size: 32}
	class, err := w.StreamClass(&ctf.Struct{Fields: []ctf.Field{{Name: "vtid", Type: &number}, {Name: "procname", Type: &ctf.String{}}}}, nil)
	must(err)
	enum := &ctf.Enum{Integer: number, Labels: []ctf.Label{{Name: "label" + harm, Low: 1, High: 1}}}
	payload := &ctf.Struct{Fields: []ctf.Field{
		{Name: "text", Type: &ctf.String{}}, {Name: "color", Type: enum},
		{Name: "both", Type: &ctf.Struct{Fields: []ctf.Field{{Name: "inner", Type: &ctf.String{}}}}},
	}}
	begin, err := w.EventClass(class, "app:begin"+harm, payload)
	must(err)
	end, err := w.EventClass(class, "app:end"+harm, payload)
	must(err)
	s, err := w.Stream(class, "channel", 0)
	must(err)
	values := []ctf.Value{{Text: []byte("value" + harm)}, {Bits: 1}, {Elems: []ctf.Value{{Text: []byte("inner" + harm)}}}}
	for i, kind := range []*ctf.EventClass{begin, end} {
		must(s.Write(kind, uint64(i), []ctf.Value{{Bits: 9}, {Text: []byte("comm" + harm)}}, values))
	}
	must(w.Close())
	for _, r := range []hostileRun{
		{[]string{"report", dir}, []string{"begin", "value", "label", "inner", "comm"}},
		{[]string{"report", "--json", dir}, []string{"begin", "value", "label", "inner", "comm"}},
		{[]string{"report", "--stat", dir}, []string{"begin"}},
		{[]string{"report", "--stat", "--json", dir}, []string{"begin"}},
		{[]string{"report", "--latency", dir, "app:b*", "app:e*"}, []string{"begin", "end"}},
		{[]string{"report", dir, "--where", `color == "x"`}, nil},
		{[]string{"report", dir, "no" + harm}, nil},
	} {
		r.check(t, filepath.Dir(dir))
	}
	metadata, err := os.ReadFile(filepath.Join(dir, "metadata"))
	must(err)
	// Names that are quoted in errors about them.
	for _, damage := range [][2]string{
		{"integer", "integer" + harm}, {"freq", "freq" + harm}, {"_text", "_text" + harm}, {`"channel`, `"` + harm},
		{"/* CTF 1.8", "/* CTF " + harm}, {"id = 0;", "id = \"" + harm + "\";"}, {"hostname", "hostname" + harm}, {"event {", harm + " {"},
	} {
		must(os.WriteFile(filepath.Join(dir, "metadata"), bytes.ReplaceAll(metadata, []byte(damage[0]), []byte(damage[1])), 0o600))
		(&hostileRun{[]string{"report", dir}, nil}).check(t, filepath.Dir(dir))
	}
	must(os.WriteFile(filepath.Join(dir, "metadata"), metadata, 0o600))
	must(os.WriteFile(filepath.Join(dir, "stream"+harm), []byte(strings.Repeat(harm, 300)), 0o600))
	(&hostileRun{[]string{"report", dir}, []string{"stream"}}).check(t, filepath.Dir(dir))
}
