package script_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/recording"
	"github.com/waymark-trace/waymark/tracer/script"
)

// writer writes events of points that it declares by their first event: values are texts or numbers, in the order of the fields.
type writer struct {
	t      *testing.T
	to     *recording.Channel
	points map[string]*event.Point
	at     time.Duration
}

func (w *writer) event(point string, pid, goid int, fields string, values ...any) {
	w.t.Helper()
	p := w.points[point]
	if p == nil {
		declared := event.Declared(point, "")
		p = &declared
		w.points[point] = p
		for i, name := range strings.Fields(fields) {
			f := event.Field{Name: name, Kind: event.Uint64}
			switch values[i].(type) {
			case string:
				f.Kind = event.String
			case int32:
				f.Kind = event.Int32
			case uintptr:
				f.Kind = event.Pointer
			}
			p.Fields = append(p.Fields, f)
		}
	}
	e := event.Event{Point: p, Time: w.at, PID: pid, TID: pid, Comm: "program", Goroutine: int64(goid)}
	for i, v := range values {
		k := p.Fields[i].Kind
		switch v := v.(type) {
		case string:
			e.Values = append(e.Values, event.Text(k, []byte(v), len(v)))
		case int:
			e.Values = append(e.Values, event.Number(k, uint64(v)))
		case int32:
			e.Values = append(e.Values, event.Number(k, uint64(v)))
		case uintptr:
			e.Values = append(e.Values, event.Number(k, uint64(v)))
		}
	}
	if err := w.to.Write(&e); err != nil {
		w.t.Fatal(err)
	}
}

// workload writes events of PostgreSQL, CPython, a JVM, libstdc++ and a Go server, all at once, three seconds long.
func workload(w *writer) {
	statements := []string{"SELECT 1", "UPDATE t SET x = 1", "SELECT 1", "VACUUM"}
	for i := range 60 {
		pid, goid, step := 100+i%3, 1+i%5, time.Duration(i%7)*time.Millisecond
		sql := statements[i%4]
		w.event("postgresql:query__start", pid, 0, "query", sql)
		w.event("postgresql:lwlock__wait__start", pid, 0, "tranche mode", "WALWrite", 1)
		w.event("python:gc__start", 300, 0, "generation", i%3)
		w.event("hotspot:mem__pool__gc__begin", 400, 0, "manager pool initial used committed max", "G1", "Eden", 0, 4096*(i+1), 0, 0)
		w.event("http:request_start", 500, goid, "path id", "/page/"+string(rune('0'+i%3)), i)
		w.at += step + time.Microsecond
		w.event("python:function__entry", 300, 0, "filename funcname lineno", "a.py", "f"+string(rune('0'+i*i%4)), 10+i)
		w.event("hotspot:object__alloc", 400, 0, "thread class bytes", 1, "[B", 16+i)
		w.event("hotspot:mem__pool__gc__end", 400, 0, "manager pool initial used committed max", "G1", "Eden", 0, 1024, 0, 0)
		w.event("libstdcxx:throw", 600, 0, "object type", uintptr(0x1000+i), uintptr(0x40))
		if i%2 == 0 {
			w.event("libstdcxx:catch", 600, 0, "object type", uintptr(0x1000+i), uintptr(0x40))
		}
		cache := "cache:hit"
		if i%4 == 0 {
			cache = "cache:miss"
		}
		w.event(cache, 500, goid, "key", "page")
		status := int32(200)
		if i%9 == 0 {
			status = 404
		}
		w.event("http:request_end", 500, goid, "path id status bytes", "/page/"+string(rune('0'+i%3)), i, status, 70+i)
		w.event("python:gc__done", 300, 0, "collected", i)
		w.event("postgresql:lwlock__wait__done", pid, 0, "tranche mode", "WALWrite", 1)
		w.at += 9 * time.Millisecond
		w.event("postgresql:query__done", pid, 0, "query", sql)
		w.at += 40 * time.Millisecond
	}
}

// TestExamples runs the scripts of examples/scripts on the workload, and compares their output with testdata/examples.
func TestExamples(t *testing.T) {
	t.Setenv("TZ", "UTC")
	time.Local = time.UTC
	dir := filepath.Join(t.TempDir(), "trace")
	to, err := recording.Create(dir, &recording.Options{Offset: 1_700_000_000 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	channel, err := to.Channel("kernel", "buffer_full")
	if err != nil {
		t.Fatal(err)
	}
	workload(&writer{t: t, to: channel, points: map[string]*event.Point{}})
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("../../examples/scripts/*.bt")
	if err != nil || len(scripts) < 12 {
		t.Fatal(scripts, err)
	}
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".bt")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := recording.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			args := map[string][]string{"sql-slow": {"14"}, "http-slow": {"--us=5500"}, "rate": {"cache:"}}[name]
			got := runOn(t, r, string(text), args, script.Options{})
			expectation := filepath.Join("testdata", "examples", name+".out")
			if *update {
				if err := os.WriteFile(expectation, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(expectation)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("gives\n%s\nwant\n%s", got, want)
			}
		})
	}
}
