package cli

import (
	"encoding/base64"
	"io"
	"math"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
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

func reference(e *tracer.Event) *referenceEvent {
	r := &referenceEvent{
		Time: e.Time.UTC().Format(timeFormat), Monotonic: e.Monotonic.Nanoseconds(),
		PID: e.PID, TID: e.TID, OwnPID: e.OwnPID, OwnTID: e.OwnTID, CPU: e.CPU, Comm: e.Comm, Goroutine: e.Goroutine,
		Marker: e.Marker.FullName(), Fields: jsonFields{},
	}
	for i, key := range fieldKeys(e.Marker.Fields) {
		f, v := &e.Marker.Fields[i], &e.Values[i]
		r.Fields = append(r.Fields, jsonField{key, referenceValue(f, v)})
		r.note(key, f, v)
	}
	return r
}

func referenceValue(f *tracer.Field, v *tracer.Value) any {
	switch kind := f.KindOf(v); {
	case f.Elem != event.Invalid:
		all := []any{}
		read, _ := elements(f, v)
		for _, bits := range read {
			all = append(all, referenceValue(&tracer.Field{Kind: f.Elem}, &tracer.Value{Bits: bits}))
		}
		return all
	case kind == event.Bool:
		return v.Bits != 0
	case kind == event.String:
		return string(whole(v))
	case kind == event.Bytes:
		return base64.StdEncoding.EncodeToString(v.Text)
	case kind.IsFloat():
		return jsonFloat(kind, v.Bits)
	case kind.Signed():
		return int64(v.Bits)
	default:
		return v.Bits
	}
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
		m := &tracer.Marker{Provider: name, Name: comm}
		e := &tracer.Event{
			Time: time.Unix(0, nanos), Monotonic: time.Duration(monotonic), PID: pid, TID: own, OwnPID: own, OwnTID: pid, CPU: pid,
			Comm: comm, Goroutine: int64(goroutine), Marker: m,
		}
		for kind := event.Bool; kind <= event.Pointer; kind++ {
			m.Fields = append(m.Fields, tracer.Field{Name: name, Kind: kind})
			e.Values = append(e.Values, tracer.Value{Bits: bits, Text: []byte(text), Len: length})
		}
		m.Fields = append(m.Fields, tracer.Field{Name: text, Kind: event.Bytes, Elem: event.Int16, Names: map[int64]string{1: comm}})
		e.Values = append(e.Values, tracer.Value{Text: []byte(text), Len: length})
		want, err := encodeJSON(reference(e))
		if err != nil {
			t.Fatal(err)
		}
		out, written := bufferOutput(t)
		v := newTraceJSON(out)
		for range 2 { // with what it remembers, too
			if err := v.event(e); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, '\n')
		if got := string(written()); got != string(want)+string(want) {
			t.Errorf("got  %swant %s", got, want)
		}
	})
}

func discardOutput(t testing.TB) *output {
	out, err := (&Env{Stdout: io.Discard}).openOutput("", false)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What prints an event allocates nothing: at hundreds of thousands a second the garbage would cost more.
func TestTraceViewsDoNotAllocate(t *testing.T) {
	m := &tracer.Marker{Provider: "http", Name: "request", Fields: []tracer.Field{
		{Name: "path", Kind: event.String}, {Name: "attempt", Kind: event.Int}, {Name: "at", Kind: event.Pointer}, {Name: "ratio", Kind: event.Float64},
	}}
	e := &tracer.Event{Time: time.Unix(1e9, 5), Comm: "server", PID: 1, TID: 2, Goroutine: 3, Marker: m, Values: []tracer.Value{
		{Text: []byte("/a path that is longer than thirty-two bytes"), Len: 44}, {Bits: 5}, {Bits: 0xc000}, {Bits: math.Float64bits(0.25)},
	}}
	out := discardOutput(t)
	for name, v := range map[string]traceView{"text": newTraceText(out, nil), "json": newTraceJSON(out)} {
		if n := testing.AllocsPerRun(1000, func() { v.event(e) }); n > 0.5 { // a timer now and then
			t.Errorf("%s: %v allocations an event", name, n)
		}
	}
}

func BenchmarkTraceViews(b *testing.B) {
	m := &tracer.Marker{Provider: "bench", Name: "hit", Fields: []tracer.Field{{Name: "n", Kind: event.Int}, {Name: "at", Kind: event.Uintptr, Verb: "%p"}}}
	e := &tracer.Event{Time: time.Unix(1e9, 5), Comm: "target", PID: 1, TID: 2, Goroutine: 3, Marker: m, Values: []tracer.Value{{Bits: 123456}, {}}}
	out := discardOutput(b)
	for name, v := range map[string]traceView{"text": newTraceText(out, nil), "json": newTraceJSON(out)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.Time = e.Time.Add(time.Microsecond)
				e.Values[0].Bits++
				v.event(e)
			}
		})
	}
}
