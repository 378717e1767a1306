package script_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/recording"
	"github.com/waymark-trace/waymark/tracer/script"
)

var (
	requestStart = &event.Point{Provider: "http", Name: "request_start", Fields: []event.Field{
		{Name: "id", Kind: event.Uint64}, {Name: "path", Kind: event.String},
	}}
	requestEnd = &event.Point{Provider: "http", Name: "request_end", Fields: []event.Field{
		{Name: "id", Kind: event.Uint64}, {Name: "status", Kind: event.Int32}, {Name: "took", Kind: event.Duration},
		{Name: "cached", Kind: event.Bool}, {Name: "ratio", Kind: event.Float64}, {Name: "body", Kind: event.Bytes},
		{Name: "conn", Kind: event.Pointer}, {Name: "req.Method", Kind: event.String}, {Name: "small", Kind: event.Uint8},
	}}
	switched = &event.Point{Provider: "kernel", Name: "sched:sched_switch", Fields: []event.Field{{Name: "next_pid", Kind: event.Int32}}}
)

// writeTrace writes a trace of ten requests, one every 100 ms: request i takes i ms, and is of goroutine 100+i in thread 7.
func writeTrace(t testing.TB, dir string) {
	t.Helper()
	w, err := recording.Create(dir, &recording.Options{Offset: 1_700_000_000 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Channel("kernel", "buffer_full")
	if err != nil {
		t.Fatal(err)
	}
	record := func(at time.Duration, i int, p *event.Point, values ...event.Value) {
		e := event.Event{Time: at, PID: 42, TID: 7, CPU: 1, Comm: "server", Goroutine: int64(100 + i), Point: p, Values: values}
		if err := c.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	number := func(k event.Kind, v int64) event.Value { return event.Number(k, uint64(v)) }
	text := func(k event.Kind, s string) event.Value { return event.Text(k, []byte(s), len(s)) }
	paths := []string{"/", "/index", "/api/items", "/about"}
	for i := range 10 {
		at := time.Second + time.Duration(i)*100*time.Millisecond
		took := time.Duration(i) * time.Millisecond
		record(at, i, requestStart, number(event.Uint64, int64(i)), text(event.String, paths[i%4]))
		status := int64(200)
		if i%3 == 0 {
			status = 404
		}
		body := text(event.Bytes, "a\x00\xff")
		if i == 9 {
			body = event.Missing(event.Reason("page not present"))
		}
		record(at+took, i, requestEnd, number(event.Uint64, int64(i)), number(event.Int32, status), number(event.Duration, int64(took)),
			number(event.Bool, int64(i%2)), event.Number(event.Float64, math.Float64bits(float64(i)/4)), body,
			number(event.Pointer, 0xc000+int64(i)), text(event.String, "GET"), number(event.Uint8, int64(250+i%6)))
	}
	record(1950*time.Millisecond, 0, switched, number(event.Int32, 99))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// openTrace returns a reader of the trace of writeTrace.
func openTrace(t testing.TB) *recording.Reader {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "trace")
	writeTrace(t, dir)
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// runOn runs a script on a trace and returns its output, its warnings and its mistakes, as text.
func runOn(t testing.TB, r *recording.Reader, text string, args []string, o script.Options) string {
	t.Helper()
	var out bytes.Buffer
	program, err := checkOn(r, text, args)
	for _, e := range script.Errors(err) {
		fmt.Fprintf(&out, "error: %v\n", e)
	}
	if err != nil {
		return out.String()
	}
	for _, w := range program.Warnings {
		fmt.Fprintf(&out, "warning: %v\n", w)
	}
	o.Out = &out
	o.Message = func(severity, position, text string) { fmt.Fprintf(&out, "%s: %s: %s\n", position, severity, text) }
	result, err := program.Run(context.Background(), r, &o)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range result.Warnings {
		fmt.Fprintf(&out, "warning: %s\n", w)
	}
	if result.Status != 0 {
		fmt.Fprintf(&out, "status %d\n", result.Status)
	}
	return out.String()
}

func checkOn(r *recording.Reader, text string, args []string) (*script.Program, error) {
	s, err := script.Parse("t", text)
	if err != nil {
		return nil, err
	}
	return s.Check(&script.Target{Points: r.Points(), Has: r.Has, Args: args})
}
