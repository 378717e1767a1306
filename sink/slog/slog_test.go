package slogsink_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/marker"
	slogsink "github.com/waymark-trace/waymark/sink/slog"
)

var (
	types = marker.New8[bool, int8, uint64, float64, string, []byte, []byte, uintptr](
		"slogtest:types", "b %t i %d u %lu f %f s %s text %s raw %x p %x")
	here    = marker.New0("slogtest:here", "")
	written = marker.New1[int]("slogtest:written", "bytes %d")
	waited  = marker.New1[time.Duration]("slogtest:waited", "for %s")
	five    = marker.New5[int, string, bool, float64, uint8]("slogtest:five", "i %d s %s b %t f %f u %d")
)

func connect(t testing.TB, h slog.Handler, patterns ...string) *slogsink.Sink {
	t.Helper()
	s, err := slogsink.Connect(slog.New(h), slog.LevelInfo, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// keeper keeps records, which a handler may.
type keeper struct {
	mu      sync.Mutex
	records []slog.Record
	off     bool
	err     error
	inside  func()
}

func (k *keeper) Enabled(context.Context, slog.Level) bool { return !k.off }
func (k *keeper) WithAttrs([]slog.Attr) slog.Handler       { return k }
func (k *keeper) WithGroup(string) slog.Handler            { return k }
func (k *keeper) Handle(_ context.Context, r slog.Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.records = append(k.records, r)
	if k.inside != nil {
		k.inside()
	}
	return k.err
}

func TestAttributesAreTyped(t *testing.T) {
	k := &keeper{}
	connect(t, k, "slogtest:types")
	text, raw := []byte("ab"), []byte{0, 255}
	types.Mark(true, -8, 1<<63, 0.5, "x y", text, raw, 0xfe)
	copy(text, "??") // a record that is kept must not change

	var got []slog.Attr
	k.records[0].Attrs(func(a slog.Attr) bool { got = append(got, a); return true })
	want := []slog.Attr{
		slog.Bool("b", true), slog.Int64("i", -8), slog.Uint64("u", 1<<63), slog.Float64("f", 0.5),
		slog.String("s", "x y"), slog.String("text", "ab"), slog.String("raw", "00ff"), slog.Uint64("p", 0xfe),
	}
	if !slices.EqualFunc(want, got, slog.Attr.Equal) {
		t.Errorf("attributes are %v, want %v", got, want)
	}
	if r := k.records[0]; r.Message != "slogtest:types" || r.Level != slog.LevelInfo || r.Time.IsZero() {
		t.Errorf("record is %v", r)
	}
}

// TestSource compares with the line that runtime.Caller names, however the marker is called.
func TestSource(t *testing.T) {
	var out bytes.Buffer
	connect(t, slog.NewJSONHandler(&out, &slog.HandlerOptions{AddSource: true}), "slogtest:here")
	line := func() int { _, _, n, _ := runtime.Caller(1); return n }
	check := func(what string, want int) {
		t.Helper()
		text, _ := out.ReadBytes('\n')
		var got struct{ Source slog.Source }
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if filepath.Base(got.Source.File) != "slog_test.go" || got.Source.Line != want {
			t.Errorf("%s: source is %s:%d, want line %d", what, got.Source.File, got.Source.Line, want)
		}
	}

	want := line() + 1
	here.Mark()
	check("a call", want)

	func() {
		want = line() + 1
		here.Mark()
	}()
	check("a call that may be inlined", want)

	func() {
		for range 2 { // in a loop, so that the runtime calls them
			defer here.Mark()
		}
		want = line() + 1
	}()
	check("a deferred call, made where the function returns", want)
	check("another one", want)

	mark := here.Mark
	want = line() + 1
	mark()
	check("a method value", want)

	marker.OnProblem(func(error) {})
	defer marker.OnProblem(nil)
	p, err := here.Register(func() { panic("on purpose") })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Unregister()
	// Registered after the probe that panics, and so called on its way out.
	connect(t, slog.NewJSONHandler(&out, &slog.HandlerOptions{AddSource: true}), "slogtest:here")
	want = line() + 1
	here.Mark()
	check("the first sink", want)
	check("the sink behind a probe that panics", want)
}

func TestHandlerThatIsNotEnabled(t *testing.T) {
	k := &keeper{off: true}
	connect(t, k, "slogtest:*")
	here.Mark()
	if len(k.records) != 0 {
		t.Errorf("%d records, want none", len(k.records))
	}
}

func TestErrorsAreCounted(t *testing.T) {
	k := &keeper{err: errors.New("disk full")}
	s := connect(t, k, "slogtest:here")
	if n, err := s.Failed(); n != 0 || err != nil {
		t.Errorf("before: %d, %v", n, err)
	}
	here.Mark()
	here.Mark()
	if n, err := s.Failed(); n != 2 || !errors.Is(err, k.err) {
		t.Errorf("got %d, %v, want 2, %v", n, err, k.err)
	}
}

// A handler holds its lock while its writer marks: a record of that hit would wait for ever.
func TestHandlerThatMarks(t *testing.T) {
	k := &keeper{}
	s := connect(t, k, "slogtest:*")
	k.inside = func() { written.Mark(1); here.Mark() }
	here.Mark()
	k.inside = nil
	written.Mark(2)
	if len(k.records) != 2 || s.Skipped() != 1 {
		// here, inside of here, is not even delivered.
		t.Errorf("%d records, %d skipped, want 2 and 1", len(k.records), s.Skipped())
	}
}

func TestHandlerThatPanics(t *testing.T) {
	var problems []string
	marker.OnProblem(func(err error) { problems = append(problems, err.Error()) })
	defer marker.OnProblem(nil)
	k := &keeper{inside: func() { panic("handler broke") }}
	s := connect(t, k, "slogtest:*")
	here.Mark() // disconnects this marker from the sink
	here.Mark()
	k.inside = nil
	written.Mark(1)
	if len(problems) != 1 || !strings.Contains(problems[0], "handler broke") || len(k.records) != 2 || s.Skipped() != 0 {
		t.Errorf("problems %q, %d records, %d skipped", problems, len(k.records), s.Skipped())
	}
}

func TestManyGoroutines(t *testing.T) {
	var out bytes.Buffer
	connect(t, slog.NewTextHandler(&out, nil), "slogtest:*")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for range 100 {
				written.Mark(i)
			}
		})
	}
	wg.Wait()
	if n := bytes.Count(out.Bytes(), []byte("msg=slogtest:written bytes=")); n != 2000 {
		t.Errorf("%d lines, want 2000", n)
	}
}

func TestConnectRefuses(t *testing.T) {
	if _, err := slogsink.Connect(nil, slog.LevelInfo, "slogtest:*"); err == nil {
		t.Error("a nil logger: no error")
	}
	if _, err := slogsink.Connect(slog.Default(), slog.LevelInfo, "nowhere:*"); err == nil {
		t.Error("a glob without a match: no error")
	}
	if here.Enabled() {
		t.Error("a marker is armed")
	}
}

// nothing is a handler that costs nothing.
type nothing struct{ off bool }

func (n nothing) Enabled(context.Context, slog.Level) bool  { return !n.off }
func (n nothing) WithAttrs([]slog.Attr) slog.Handler        { return n }
func (n nothing) WithGroup(string) slog.Handler             { return n }
func (n nothing) Handle(context.Context, slog.Record) error { return nil }

func TestRecordsAreMadeWithoutAllocating(t *testing.T) {
	connect(t, nothing{}, "slogtest:five")
	if n := testing.AllocsPerRun(1000, func() { five.Mark(1, "two", true, 4, 5) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	for what, h := range map[string]slog.Handler{
		"off": nothing{off: true}, "nothing": nothing{}, "text": slog.NewTextHandler(io.Discard, nil),
	} {
		b.Run(what, func(b *testing.B) {
			connect(b, h, "slogtest:five")
			b.ReportAllocs()
			for b.Loop() {
				five.Mark(1, "two", true, 4, 5)
			}
		})
	}
}

// For comparison: the logger itself.
func BenchmarkLogger(b *testing.B) {
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	b.ReportAllocs()
	for b.Loop() {
		logger.LogAttrs(context.Background(), slog.LevelInfo, "slogtest:five",
			slog.Int("i", 1), slog.String("s", "two"), slog.Bool("b", true), slog.Float64("f", 4), slog.Uint64("u", 5))
	}
}

func TestDuration(t *testing.T) {
	var b bytes.Buffer
	connect(t, slog.NewTextHandler(&b, nil), "slogtest:waited")
	waited.Mark(3500 * time.Microsecond)
	if !strings.Contains(b.String(), " for=3.5ms\n") {
		t.Errorf("%q", b.String())
	}
}
