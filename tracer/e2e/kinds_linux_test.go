package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// operand is what a marker of allkinds passes: its size in bytes, and its value in pass i.
// A nil value is an address that nobody can know beforehand.
type operand struct {
	size  int
	value func(i int) uint64
}

func is(size int, v int64) operand {
	return operand{size, func(int) uint64 { return uint64(v) }}
}

func plus(size int, v, factor int64) operand {
	return operand{size, func(i int) uint64 { return uint64(v + factor*int64(i)) }}
}

var (
	address = operand{8, nil}
	odd     = operand{1, func(i int) uint64 { return uint64(i % 2) }}
)

func float(size int, f float64) operand {
	if size == 4 {
		return is(4, int64(math.Float32bits(float32(f))))
	}
	return is(8, int64(math.Float64bits(f)))
}

// kinds is what the program in tracer/link/testdata/allkinds marks in every pass, as
// operands in the order of its notes.
var kinds = map[string][]operand{
	"none":     nil,
	"signed":   {plus(8, -1, -1), is(1, -8), is(2, -16), is(4, -32), is(8, -64)},
	"unsigned": {plus(8, 0, 1), is(1, 200), is(2, 60000), is(4, 4000000000), is(8, -1)},
	"floats":   {float(4, 1.5), float(8, -2.25), odd},
	"texts":    {address, is(8, int64(len("a text"))), address, is(8, int64(len("raw\x00bytes")))},
	"named":    {is(4, -5), address, is(8, 5), address, is(8, 4)},
	"strung":   {address, is(8, int64(len("phase -7"))), plus(8, 0, 1), address, is(8, int64(len(`"word"`)))},
	"address":  {is(8, 0x1000), is(8, 0)},
	"eight": {address, is(8, 2), plus(4, -5, -1), odd, float(8, 2.5), is(1, 250), is(2, -3),
		address, is(8, 3), is(8, 0)},
}

// same reports whether a tool's number is the operand's value: tools differ in whether they
// print narrow signed values with a sign.
func (o operand) same(got uint64, i int) bool {
	if o.value == nil {
		return got != 0
	}
	mask := ^uint64(0) >> (64 - 8*o.size)
	return got&mask == o.value(i)&mask
}

// parseNumber reads a decimal number, signed or not.
func parseNumber(s string) (uint64, error) {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(n), nil
	}
	return strconv.ParseUint(s, 0, 64)
}

// checkOperands compares what a tool printed for a hit of a marker in pass i.
func checkOperands(t *testing.T, tool, marker string, i int, got []string) {
	t.Helper()
	want := kinds[marker]
	if len(got) != len(want) {
		t.Errorf("%s: %s has %d arguments %q, want %d", tool, marker, len(got), got, len(want))
		return
	}
	for j, text := range got {
		n, err := parseNumber(text)
		if err != nil || !want[j].same(n, i) {
			t.Errorf("%s: %s, pass %d, argument %d is %q", tool, marker, i, j+1, text)
		}
	}
}

// allkinds builds and links the program, at a path that every tool's syntax takes.
func allkinds(t *testing.T, c gobuild.Config) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "waymark")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "allkinds")
	if _, err := link.File(gobuild.Build(t, c, "../link/testdata/allkinds"), path, link.Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a tool and returns what it printed on standard output.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

// command is a program that waits for its tracer before its first instruction.
type command struct {
	*tracer.Command
	exited  chan error
	target  tracer.Target
	markers []*tracer.Marker
}

// start starts a command and finds its markers that match.
func start(t *testing.T, argv []string, patterns ...string) *command {
	t.Helper()
	c, err := tracer.Start(context.Background(), argv, &tracer.StartOptions{Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	s := &command{Command: c, exited: make(chan error, 1), target: tracer.PIDs(c.PID())}
	go func() { s.exited <- c.Wait() }()
	t.Cleanup(func() { c.Signal(os.Kill) })
	all, err := tracer.Find(context.Background(), s.target)
	if err == nil {
		s.markers, err = tracer.Select(all, patterns)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// finish lets the command run to its end.
func (s *command) finish(t *testing.T) {
	t.Helper()
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-s.exited; err != nil {
		t.Fatal(err)
	}
}

// traced runs the program under our own tracer and returns its events.
func traced(t *testing.T, path string, passes int) []*event.Event {
	t.Helper()
	c := start(t, []string{path, "-n", fmt.Sprint(passes)}, "kinds:*")
	tr, err := tracer.Trace(c.target, c.markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	c.finish(t)
	if err := tr.Stop(); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(drain(t, tr))
}

// checkEvents compares our own events, with names and text, to what the program marked.
func checkEvents(t *testing.T, events []*event.Event, passes int) {
	t.Helper()
	if len(events) != passes*len(kinds) {
		t.Errorf("waymark: %d events, want %d", len(events), passes*len(kinds))
	}
	hits := make(map[string]int)
	for _, ev := range events {
		name := ev.Point.Name
		i := hits[name]
		hits[name]++
		var flat []string
		for j, v := range ev.Values {
			f := ev.Point.Fields[j]
			if v.Err() != nil {
				t.Errorf("waymark: %s %s: %v", name, f.Name, v.Err())
			}
			if f.Kind.HasLength() {
				flat = append(flat, "1", fmt.Sprint(v.Len()))
			} else {
				flat = append(flat, fmt.Sprint(v.Bits()))
			}
			if want := texts[name+" "+f.Name]; want != string(v.Bytes()) {
				t.Errorf("waymark: %s %s is %q, want %q", name, f.Name, v.Bytes(), want)
			}
			if f.Kind == event.Invalid {
				t.Errorf("waymark: %s %s has no kind", name, f.Name)
			}
		}
		checkOperands(t, "waymark", name, i, flat)
		if ev.Goroutine != 1 {
			t.Errorf("waymark: %s on goroutine %d, want 1", name, ev.Goroutine)
		}
	}
}

var texts = map[string]string{
	"texts s": "a text", "texts b": "raw\x00bytes", "named label": "label", "named blob": "blob", "eight s": "/x", "eight raw": "abc",
	"strung phase": "phase -7", "strung quoted": `"word"`,
}
