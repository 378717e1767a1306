package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

// everything is a marker with a field of every kind that JSON treats in its own way.
func everything() *tracer.Marker {
	m := &tracer.Marker{
		Point: event.Point{Provider: "app", Name: "every", Format: "…"}, Typed: true, Counted: true,
		File:  &tracer.File{Path: "/srv/app\x1b[2J", BuildID: "00ff", Go: "go1.26.8"},
		Sites: []sdt.Site{{Note: sdt.Note{Args: "8@0(%rax)", Semaphore: 0x5a47f0}, Address: 0x4acb20, Offset: 0xacb20}},
	}
	for _, f := range []struct {
		name string
		kind event.Kind
	}{
		{"ok", event.Bool}, {"min", event.Int64}, {"max", event.Uint64}, {"address", event.Pointer},
		{"half", event.Float64}, {"tenth", event.Float32}, {"none", event.Float64}, {"path", event.String},
		{"cut", event.String}, {"odd", event.String}, {"data", event.Bytes}, {"gone", event.Int}, {"twice", event.Int8}, {"twice", event.Int8},
	} {
		m.Fields = append(m.Fields, event.Field{Name: f.name, Type: f.kind.String(), Kind: f.kind})
	}
	m.Fields[0].Verb = "%t"
	m.Fields[11].Unavailable = "operand \"8@%xmm0\": not a register that is saved"
	return m
}

func everyValue() []event.Value {
	text := func(k event.Kind, s string, length int) event.Value { return event.Text(k, []byte(s), length) }
	return []event.Value{
		event.Number(event.Bool, 1), event.Number(event.Int64, 1<<63), event.Number(event.Uint64, math.MaxUint64), event.Number(event.Pointer, 0xc000012345),
		event.Number(event.Float64, math.Float64bits(0.5)), event.Number(event.Float32, uint64(math.Float32bits(0.1))), event.Number(event.Float64, math.Float64bits(math.NaN())),
		text(event.String, "</x>&\"\\\n\x1b\x7f\u009b\u202e€\U000e0001", 24), text(event.String, "abc\xe2\x82", 1000),
		text(event.String, "a\xff", 2), text(event.Bytes, "\x00\x01\xff", 5), {}, event.Number(event.Int8, 1), event.Number(event.Int8, math.MaxUint64),
	}
}

// wallTest is a clock that was 0 so many nanoseconds after 1970.
type wallTest int64

func (c wallTest) Wall(t time.Duration) time.Time { return time.Unix(0, int64(c)+int64(t)) }

func TestTraceJSON(t *testing.T) {
	m := everything()
	m.Fields[7].Name = "path"
	at := time.Date(2026, 11, 21, 4, 44, 45, 120, time.UTC).UnixNano()
	full := &event.Event{
		Time: 5365155918203, PID: 12, TID: 13, CPU: 1,
		Comm: "a\x1b[2Jb\xff", Goroutine: 18, Point: &m.Point, Values: everyValue(),
	}
	text := full.Values[7].Bytes()
	full.Values[7] = event.Text(event.String, text, len(text))
	out, written := bufferOutput(t)
	v := NewTraceJSON(out, nil)
	bare := &event.Event{Point: &event.Point{Provider: "p", Name: "n"}}
	for _, e := range []*event.Event{full, bare} {
		v.wall = wallTest(at - int64(e.Time))
		if err := v.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Summary(&TraceSummary{Events: 2, Lost: 1, Elapsed: 1500 * time.Millisecond, End: ByInterrupt}); err != nil {
		t.Fatal(err)
	}
	got := written()
	checkHarmless(t, got)
	golden(t, "trace.jsonl", got)
	for line := range bytes.Lines(got) {
		var object struct{ Fields map[string]any }
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&object); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if n, ok := object.Fields["max"]; ok && n != json.Number("18446744073709551615") {
			t.Errorf("the largest uint64 is %v", n)
		}
	}
}

func TestStatJSON(t *testing.T) {
	out, written := bufferOutput(t)
	v := &StatJSON{Out: out}
	s := &Sample{
		At: time.Date(2026, 11, 21, 4, 44, 45, 0, time.UTC), Elapsed: 2 * time.Second, Interval: time.Second,
		Rows: []StatRow{
			{RowID: RowID{Marker: everything()}, Count: 30, Delta: 10},
			{RowID: RowID{Marker: &tracer.Marker{Point: event.Point{Provider: "p", Name: "n"}, File: &tracer.File{Path: "/lib/p.so"}}}},
		},
	}
	if err := v.Interval(s); err != nil {
		t.Fatal(err)
	}
	if err := v.Final(s, ByDuration); err != nil {
		t.Fatal(err)
	}
	table, rows := keyRows()
	table.Top = 4
	s.Rows = rows
	v.Table = table
	if err := v.Interval(s); err != nil {
		t.Fatal(err)
	}
	if err := v.Final(s, ByInterrupt); err != nil {
		t.Fatal(err)
	}
	got := written()
	checkHarmless(t, got)
	golden(t, "stat.jsonl", got)
}

func TestListJSON(t *testing.T) {
	m := everything()
	m.File.Problems = []error{errors.New("note 3: no name")}
	out, written := bufferOutput(t)
	err := ListJSON(out, []Group{
		{Processes: []tracer.Process{{PID: 7, Comm: "app", Markers: []*tracer.Marker{m}}}, Markers: []*tracer.Marker{m}},
		{Processes: []tracer.Process{{PID: 8, Comm: "init", Err: errors.New("reading /proc/8/maps: permission denied")}}},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := written()
	checkHarmless(t, got)
	golden(t, "list.jsonl", got)
}

// checkHarmless fails for characters that a terminal might act on.
func checkHarmless(t *testing.T, got []byte) {
	t.Helper()
	for line := range bytes.Lines(got) {
		if !json.Valid(line) {
			t.Errorf("not JSON: %s", line)
		}
		if s := string(bytes.TrimSuffix(line, []byte("\n"))); term.Printable(s) != s {
			t.Errorf("not harmless: %q", s)
		}
	}
}
