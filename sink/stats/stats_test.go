package stats_test

import (
	"encoding/json"
	"expvar"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/internal/test/diff"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink"
	"github.com/waymark-trace/waymark/sink/stats"
)

var (
	begin = marker.New2[uint64, string]("stattest:begin", "id %d name %s")
	end   = marker.New2[string, uint64]("stattest:end", "name %s id %d")
	tick  = marker.New0("stattest:tick", "")
)

var (
	byGoroutine = sink.Pair{Begin: "stattest:begin", End: "stattest:end"}
	byID        = sink.Pair{Begin: "stattest:begin", End: "stattest:end", Key: "id"}
	byName      = sink.Pair{Begin: "stattest:begin", End: "stattest:end", Key: "name"}
)

func connect(t testing.TB, o stats.Options) *stats.Stats {
	t.Helper()
	s, err := stats.Connect(o)
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

// near reports whether a latency is the expected one, within 1 %.
func near(got, want time.Duration) bool { return math.Abs(float64(got-want)) <= 0.01*float64(want) }

func TestLatenciesByGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connect(t, stats.Options{Latency: []sink.Pair{byGoroutine}})
		var wg sync.WaitGroup
		for i := range 100 { // goroutine i takes i+1 ms
			wg.Go(func() {
				begin.Mark(0, "")
				time.Sleep(time.Duration(i+1) * time.Millisecond)
				end.Mark("", 0)
			})
		}
		wg.Wait()
		p := s.Snapshot().Pairs[0]
		if p.Count != 100 || p.Open != 0 || p.Unended != 0 || p.Unbegun != 0 {
			t.Errorf("got %+v, want 100 complete pairs", p)
		}
		ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
		for _, c := range []struct {
			what      string
			got, want time.Duration
		}{{"mean", p.Latency.Mean, ms(50.5)}, {"p50", p.Latency.P50, ms(50)}, {"p90", p.Latency.P90, ms(90)}, {"p99", p.Latency.P99, ms(99)}, {"max", p.Latency.Max, ms(100)}} {
			if !near(c.got, c.want) {
				t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
			}
		}
		var sum uint64
		for i, b := range p.Latency.Buckets {
			sum += b.Count
			if b.To != 2*b.From || i > 0 && b.From != p.Latency.Buckets[i-1].To {
				t.Errorf("buckets are %v", p.Latency.Buckets)
			}
			// How many of 1 … 100 ms lie in it, but for those within 1 % of its bounds.
			if exact := b.To/time.Millisecond - b.From/time.Millisecond; b.To < ms(100) && math.Abs(float64(b.Count)-float64(exact)) > 1 {
				t.Errorf("%v … %v has %d, want %d", b.From, b.To, b.Count, exact)
			}
		}
		if sum != 100 {
			t.Errorf("buckets have %d, want all", sum)
		}
	})
}

// Begin and end on different goroutines, ends in another order than begins.
func TestLatenciesByArgument(t *testing.T) {
	for _, pair := range []sink.Pair{byID, byName} {
		synctest.Test(t, func(t *testing.T) {
			s := connect(t, stats.Options{Latency: []sink.Pair{pair}})
			names := []string{"a", "b", "c"}
			for i, name := range names {
				begin.Mark(uint64(i), name)
			}
			for i, name := range names { // after 1, 2 and 3 s
				done := make(chan bool)
				go func() {
					defer close(done)
					time.Sleep(time.Second)
					end.Mark(name, uint64(i))
				}()
				<-done
			}
			p := s.Snapshot().Pairs[0]
			if l := p.Latency; p.Count != 3 || !near(l.P50, 2*time.Second) || !near(l.Max, 3*time.Second) || !near(l.Mean, 2*time.Second) {
				t.Errorf("%v: got %+v, want 1, 2 and 3 s", pair, p)
			}
		})
	}
}

func TestWhatIsNoPairIsCounted(t *testing.T) {
	s := connect(t, stats.Options{Latency: []sink.Pair{byID}})
	end.Mark("", 1)    // no begin
	begin.Mark(2, "")  // open
	begin.Mark(3, "")  // gives way
	begin.Mark(3, "")  // ends
	end.Mark("", 3)    //
	end.Mark("", 3)    // no begin any more
	begin.Mark(4, "x") // open
	p := s.Snapshot().Pairs[0]
	p.Latency, p.Rate = stats.Latency{}, 0
	want := stats.Pair{Begin: "stattest:begin", End: "stattest:end", Key: "id", Count: 1, Open: 2, Unended: 1, Unbegun: 2}
	if d := diff.Of(want, p); d != "" {
		t.Errorf("pair (-want +got):\n%s", d)
	}
}

func TestRateIsOfTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connect(t, stats.Options{Count: []string{"stattest:tick"}})
		at := func(d time.Duration, count uint64, rate float64) {
			t.Helper()
			time.Sleep(d)
			if m := s.Snapshot().Markers[0]; m.Count != count || math.Abs(m.Rate-rate) > 0.01+rate/1000 {
				t.Errorf("after %v: got %+v, want %d and %.2f/s", s.Snapshot().Elapsed, m, count, rate)
			}
		}
		at(0, 0, 0)
		for range 500 { // for 5 s, 100 a second
			tick.Mark()
			time.Sleep(10 * time.Millisecond)
		}
		at(0, 500, 100)
		at(4500*time.Millisecond, 500, 500/9.5)
		at(time.Second, 500, 400/9.5) // the first second left the window
		at(time.Hour, 500, 0)
		tick.Mark()
		at(0, 501, 1/9.0)
	})
}

func TestCountsOfManyGoroutines(t *testing.T) {
	const goroutines, each = 50, 2000
	s := connect(t, stats.Options{Count: []string{"stattest:*"}, Latency: []sink.Pair{byGoroutine, byID}})
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			for range each {
				begin.Mark(uint64(i), "x")
				tick.Mark()
				end.Mark("x", uint64(i))
			}
		})
	}
	wg.Add(1)
	go func() { // reading meanwhile harms nothing
		defer wg.Done()
		for range 20 {
			_ = s.String()
		}
	}()
	wg.Wait()
	got := s.Snapshot()
	for _, m := range got.Markers {
		if m.Count != goroutines*each {
			t.Errorf("%s: %d, want %d", m.Name, m.Count, goroutines*each)
		}
	}
	for _, p := range got.Pairs {
		if p.Count != goroutines*each || p.Open+int(p.Unended+p.Unbegun) != 0 {
			t.Errorf("%+v, want %d complete pairs", p, goroutines*each)
		}
	}
	if len(got.Markers) != 3 {
		t.Errorf("markers are %v, want each once", got.Markers)
	}
}

func TestCloseKeepsTheNumbers(t *testing.T) {
	s := connect(t, stats.Options{Count: []string{"stattest:tick"}})
	tick.Mark()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	tick.Mark()
	if m := s.Snapshot().Markers[0]; m.Count != 1 || tick.Enabled() {
		t.Errorf("got %+v, enabled %v, want one of before Close", m, tick.Enabled())
	}
}

func TestConnectRefuses(t *testing.T) {
	for _, o := range []stats.Options{
		{},
		{Count: []string{"nowhere:*"}},
		{Latency: []sink.Pair{{Begin: "stattest:begin"}}},
		{Latency: []sink.Pair{{Begin: "stattest:begin", End: "stattest:end", Key: "attempt"}}},
		{Latency: []sink.Pair{{Begin: "stattest:begin", End: "no-name"}}},
	} {
		if s, err := stats.Connect(o); err == nil {
			t.Errorf("%+v: got %v, want an error", o, s)
		}
		if begin.Enabled() || len(begin.Info().Probes) > 0 {
			t.Errorf("%+v left something behind: %+v", o, begin.Info())
		}
	}
}

var _ expvar.Var = (*stats.Stats)(nil)

var handlers atomic.Int64

func TestHandler(t *testing.T) {
	s := connect(t, stats.Options{Count: []string{"stattest:tick"}, Latency: []sink.Pair{byID}})
	tick.Mark()
	begin.Mark(1, "")
	end.Mark("", 1)
	published := fmt.Sprintf("stattest%d", handlers.Add(1)) // expvar has a name for ever
	expvar.Publish(published, s)

	get := func(method, url, accept string) *http.Response {
		r := httptest.NewRequest(method, url, nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Result()
	}
	for _, c := range []struct {
		method, url, accept string
		status              int
		content             string
	}{
		{"GET", "/", "*/*", 200, "text/plain; charset=utf-8"},
		{"GET", "/", "application/json", 200, "application/json"},
		{"GET", "/?format=json", "text/html", 200, "application/json"},
		{"GET", "/?format=text", "application/json", 200, "text/plain; charset=utf-8"},
		{"HEAD", "/", "", 200, "text/plain; charset=utf-8"},
		{"GET", "/?format=xml", "", 400, "text/plain; charset=utf-8"},
		{"POST", "/", "", 405, "text/plain; charset=utf-8"},
	} {
		if r := get(c.method, c.url, c.accept); r.StatusCode != c.status || r.Header.Get("Content-Type") != c.content {
			t.Errorf("%s %s %s: got %d %s", c.method, c.url, c.accept, r.StatusCode, r.Header.Get("Content-Type"))
		} else if got := r.Header.Get("X-Content-Type-Options"); c.method == "GET" && got != "nosniff" {
			t.Errorf("%s %s %s: X-Content-Type-Options is %q", c.method, c.url, c.accept, got)
		}
	}

	var fromHTTP, fromExpvar stats.Snapshot
	if err := json.NewDecoder(get("GET", "/?format=json", "").Body).Decode(&fromHTTP); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(expvar.Get(published).String()), &fromExpvar); err != nil {
		t.Fatal(err)
	}
	for _, got := range []stats.Snapshot{fromHTTP, fromExpvar} {
		if len(got.Markers) != 3 || got.Markers[2].Count != 1 || got.Pairs[0].Count != 1 || got.Pairs[0].Latency.Max <= 0 {
			t.Errorf("got %+v", got)
		}
	}
	var text strings.Builder
	if err := fromHTTP.WriteText(&text); err != nil || !strings.Contains(text.String(), "stattest:begin → stattest:end by id\n  count 1 ") {
		t.Errorf("%v\n%s", err, &text)
	}
}
