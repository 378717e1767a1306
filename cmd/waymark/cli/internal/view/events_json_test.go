package view

import (
	"encoding/base64"
	"io"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
)

// referenceEvent is an object of trace --json as encoding/json writes it.
type referenceEvent struct {
	Time      string     `json:"time"`
	Monotonic int64      `json:"monotonic_ns"`
	PID       int        `json:"pid"`
	TID       int        `json:"tid"`
	OwnPID    int        `json:"own_pid,omitempty"`
	OwnTID    int        `json:"own_tid,omitempty"`
	CPU       int        `json:"cpu"`
	Comm      string     `json:"comm"`
	Goroutine int64      `json:"goroutine,omitempty"`
	Marker    string     `json:"marker"`
	Fields    jsonFields `json:"fields"`
	jsonNotes
}

func reference(e *event.Event, wall source.Clock) *referenceEvent {
	r := &referenceEvent{
		Time: wall.Wall(e.Time).UTC().Format(timeFormat), Monotonic: e.Time.Nanoseconds(),
		PID: e.PID, TID: e.TID, OwnPID: e.NSPID, OwnTID: e.NSTID, CPU: e.CPU, Comm: e.Comm, Goroutine: e.Goroutine,
		Marker: e.Point.FullName(), Fields: jsonFields{},
	}
	for i, key := range fieldKeys(e.Point.Fields) {
		f, v := &e.Point.Fields[i], &e.Values[i]
		r.Fields = append(r.Fields, jsonField{key, referenceValue(f, v)})
		r.note(key, f, v)
	}
	return r
}

func referenceValue(f *event.Field, v *event.Value) any {
	switch kind := v.Kind(); {
	case f.Elem != event.Invalid:
		all := []any{}
		read, _ := f.Elements(v)
		for _, bits := range read {
			n := event.Number(f.Elem, bits)
			all = append(all, referenceValue(&event.Field{Kind: f.Elem}, &n))
		}
		return all
	case kind == event.Bool:
		return v.Bits() != 0
	case kind == event.String:
		return v.Text()
	case kind == event.Bytes:
		return base64.StdEncoding.EncodeToString(v.Bytes())
	case kind.IsFloat():
		return referenceFloat(v)
	case kind.Signed():
		return int64(v.Bits())
	default:
		return v.Bits()
	}
}

// referenceFloat returns a number, and a string for those that JSON has no number for.
func referenceFloat(v *event.Value) any {
	n := v.Float()
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	if v.Kind() == event.Float32 {
		return float32(n)
	}
	return n
}

// FuzzTraceJSON holds objects against those of encoding/json.
func FuzzTraceJSON(f *testing.F) {
	f.Add(int64(1), int64(0), 0, 0, 0, "comm", "field", "text", uint64(1), 9)
	f.Add(int64(1<<40), int64(-1), 7, 8, 9, "a\x1b[2J\"\\\xff", "\u202e</x>&", "\x00\u2028€\U000e0001\x7f", math.Float64bits(1e-7), -1)
	for _, n := range []float64{0, math.Copysign(0, -1), 1e-3, 9.99e-4, 1e15, 1e21, 1e20, math.Inf(1), math.NaN(), 5e-324, -123.456, math.MaxFloat64} {
		f.Add(int64(0), int64(5), 1, 0, 0, "c", "n", "", math.Float64bits(n), 3)
		f.Add(int64(0), int64(5), 1, 0, 0, "c", "n", "", uint64(math.Float32bits(float32(n))), 3)
	}
	f.Fuzz(func(t *testing.T, monotonic, nanos int64, pid, own, goroutine int, comm, name, text string, bits uint64, length int) {
		m := &event.Point{Provider: name, Name: comm}
		e := &event.Event{
			Time: time.Duration(monotonic), PID: pid, TID: own, NSPID: own, NSTID: pid, CPU: pid,
			Comm: comm, Goroutine: int64(goroutine), Point: m,
		}
		wall := wallTest(nanos - monotonic)
		for kind := event.Bool; kind <= event.Duration; kind++ {
			m.Fields = append(m.Fields, event.Field{Name: name, Kind: kind})
			v := event.Number(kind, bits)
			if kind.HasLength() {
				v = event.Text(kind, []byte(text), length)
			}
			e.Values = append(e.Values, v)
		}
		m.Fields = append(m.Fields, event.Field{Name: text, Kind: event.Bytes, Elem: event.Int16, Names: map[int64]string{1: comm}})
		e.Values = append(e.Values, event.Text(event.Bytes, []byte(text), length))
		want, err := encodeJSON(reference(e, wall))
		if err != nil {
			t.Fatal(err)
		}
		out, written := bufferOutput(t)
		v := NewTraceJSON(out, wall)
		for range 2 { // with what it remembers, too
			if err := v.Event(e); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, '\n')
		if got := string(written()); got != string(want)+string(want) {
			t.Errorf("got  %swant %s", got, want)
		}
	})
}

func discardOutput(t testing.TB) *term.Output {
	out, err := term.NewEnv(term.Streams{Stdout: io.Discard}).OpenOutput("", false)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What prints an event allocates nothing: at hundreds of thousands a second the garbage would cost more.
func TestTraceViewsDoNotAllocate(t *testing.T) {
	m := &event.Point{Provider: "http", Name: "request", Fields: []event.Field{
		{Name: "path", Kind: event.String}, {Name: "attempt", Kind: event.Int}, {Name: "at", Kind: event.Pointer}, {Name: "ratio", Kind: event.Float64},
	}}
	e := &event.Event{Time: 5, Comm: "server", PID: 1, TID: 2, Goroutine: 3, Point: m, Values: []event.Value{
		event.Text(event.String, []byte("/a path that is longer than thirty-two bytes"), 44), event.Number(event.Int, 5),
		event.Number(event.Pointer, 0xc000), event.Number(event.Float64, math.Float64bits(0.25)),
	}}
	out := discardOutput(t)
	for name, v := range map[string]TraceView{"text": NewTraceText(out, wallTest(1e18), nil), "json": NewTraceJSON(out, wallTest(1e18))} {
		if n := testing.AllocsPerRun(1000, func() { v.Event(e) }); n > 0.5 { // a timer now and then
			t.Errorf("%s: %v allocations an event", name, n)
		}
	}
}

func BenchmarkTraceViews(b *testing.B) {
	m := &event.Point{Provider: "bench", Name: "hit", Fields: []event.Field{{Name: "n", Kind: event.Int}, {Name: "at", Kind: event.Uintptr, Verb: "%p"}}}
	e := &event.Event{Time: 5, Comm: "target", PID: 1, TID: 2, Goroutine: 3, Point: m, Values: []event.Value{event.Number(event.Int, 123456), event.Number(event.Uintptr, 0)}}
	out := discardOutput(b)
	for name, v := range map[string]TraceView{"text": NewTraceText(out, wallTest(1e18), nil), "json": NewTraceJSON(out, wallTest(1e18))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.Time += time.Microsecond
				e.Values[0] = event.Number(event.Int, e.Values[0].Bits()+1)
				v.Event(e)
			}
		})
	}
}
