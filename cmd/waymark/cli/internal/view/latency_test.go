package view

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/histogram"
	"github.com/waymark-trace/waymark/tracer"
)

func latencySampleOf(all ...time.Duration) *LatencySample {
	l := &tracer.Latencies{Begins: uint64(len(all)) + 1, Ends: uint64(len(all))}
	for _, d := range all {
		l.Add(d)
	}
	return &LatencySample{
		At: time.Date(2026, 11, 21, 7, 44, 50, 0, time.UTC), Elapsed: 2 * time.Second, Interval: time.Second,
		All: l, Recent: l.Since(&histogram.Histogram{}),
	}
}

func TestLatencyPlain(t *testing.T) {
	out, written := bufferOutput(t)
	v := &LatencyPlain{Out: out, Title: func() string { return "a:b → a:c, joined by thread" }}
	for _, s := range []*LatencySample{latencySampleOf(20, 1000, 1100, time.Millisecond), latencySampleOf()} {
		s.All.Nested, s.All.Unread = 1, 2
		if err := v.Final(s, ByCommand); err != nil {
			t.Fatal(err)
		}
	}
	bar := strings.Repeat("█", histogramWidth)
	want := "a:b → a:c, joined by thread\n" +
		"    16ns – 32ns  1  " + bar + "\n" +
		"    32ns – 64ns  0\n" +
		"   64ns – 128ns  0\n" +
		"  128ns – 256ns  0\n" +
		"  256ns – 512ns  0\n" +
		" 512ns – 1.02µs  1  " + bar + "\n" +
		"1.02µs – 2.05µs  1  " + bar + "\n" +
		" 2.05µs – 4.1µs  0\n" +
		" 4.1µs – 8.19µs  0\n" +
		"8.19µs – 16.4µs  0\n" +
		"16.4µs – 32.8µs  0\n" +
		"32.8µs – 65.5µs  0\n" +
		" 65.5µs – 131µs  0\n" +
		"  131µs – 262µs  0\n" +
		"  262µs – 524µs  0\n" +
		" 524µs – 1.05ms  1  " + bar + "\n" +
		"4 pairs   p50 999ns   p90 1ms   p99 1ms   p99.9 1ms   max 1ms   mean 251µs   in 2.00 s, 2.00/s\n" +
		"1 begin without an end, 1 of them because another came before it; 2 hits whose key could not be read\n" +
		"a:b → a:c, joined by thread\nno pairs   in 2.00 s, 0/s\n" +
		"1 begin without an end, 1 of them because another came before it; 2 hits whose key could not be read\n"
	if d := cmp.Diff(want, string(written())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A histogram of every size fits every screen.
func TestLatencyLive(t *testing.T) {
	var all []time.Duration
	for d := time.Duration(1); d > 0; d *= 2 {
		all = append(all, d)
		out, written := bufferOutput(t)
		v := NewLatencyLive(out, LatencyPlain{Out: out, Title: func() string { return "a:b → a:c, joined by thread" }})
		width, height := 20+len(all), 7+len(all)/3
		v.Screen.Size = func() (int, int) { return width, height }
		for range 2 {
			if err := v.Interval(latencySampleOf(all...)); err != nil {
				t.Fatal(err)
			}
		}
		frames := framesOf(written())
		first := frames[0]
		lines := strings.Split(strings.TrimSuffix(first, "\n"), "\n")
		if len(lines) >= height {
			t.Errorf("%d lines on a screen of %d:\n%s", len(lines), height, first)
		}
		for _, line := range lines {
			if term.Width(line) > width {
				t.Errorf("more than %d cells: %s", width, line)
			}
		}
	}
}

// On a narrow screen bars are shorter and nothing is cut off.
func TestLatencyNarrow(t *testing.T) {
	out, written := bufferOutput(t)
	v := NewLatencyLive(out, LatencyPlain{Out: out, Title: func() string { return "a:b → a:c" }})
	v.Screen.Size = func() (int, int) { return 40, 24 }
	if err := v.Interval(latencySampleOf(1000, 1100, 2100, 2200)); err != nil {
		t.Fatal(err)
	}
	bar := strings.Repeat("█", 40-15-1-4)
	want := "a:b → a:c\n" +
		"512ns – 1.02µs  1  " + bar[:len(bar)/2] + "\n" +
		"1.02µs – 2.05µs  1  " + bar[:len(bar)/2] + "\n" +
		" 2.05µs – 4.1µs  2  " + bar + "\n" +
		"4 pairs   p50 1.1µs   p90 2.2µs\n" +
		"p99 2.2µs   p99.9 2.2µs   max 2.2µs\n" +
		"mean 1.6µs   in 2.00 s, 2.00/s\n" +
		"1 begin without an end\n" +
		"Ctrl-C ends it\n"
	want = strings.Replace(want, "512ns", " 512ns", 1)
	if d := cmp.Diff([]string{want}, framesOf(written())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// framesOf returns the lines of each frame that a live view has drawn.
func framesOf(written []byte) (all []string) {
	for _, frame := range strings.Split(string(written), "\r")[1:] {
		_, frame, _ = strings.Cut(frame, "\x1b[?7l")
		all = append(all, strings.ReplaceAll(strings.TrimSuffix(frame, "\x1b[J\x1b[?7h"), "\x1b[K", ""))
	}
	return all
}

func TestLatencyJSON(t *testing.T) {
	out, written := bufferOutput(t)
	v := &LatencyJSON{Out: out, Object: func() LatencyObject {
		return LatencyObject{From: []string{"http:request_start"}, To: []string{"http:request_end"}, Key: "id", ToKey: "request"}
	}}
	s := latencySampleOf(20, 1000, time.Millisecond)
	if err := v.Interval(s); err != nil {
		t.Fatal(err)
	}
	if err := v.Interval(latencySampleOf()); err != nil {
		t.Fatal(err)
	}
	if err := v.Final(s, ByDuration); err != nil {
		t.Fatal(err)
	}
	got := written()
	checkHarmless(t, got)
	golden(t, "latency.jsonl", got)
}

// groupedSample is the second of two samples with groups: the first had half of the pairs.
func groupedSample() *LatencySample {
	fields := []event.Field{{Name: "path", Kind: event.String}, {Name: "status", Kind: event.Int16}}
	key := func(path string, status event.Value) *tracer.Key {
		return &tracer.Key{Values: []event.Value{event.Text(event.String, []byte(path), len(path)), status}}
	}
	keys := []*tracer.Key{
		key("/a\x1b[31m", event.Number(event.Int16, 200)), key("/b", event.Number(event.Int16, 0xffff)), key("/c", event.Missing(event.OptimizedOut)),
	}
	var sampler LatencySampler
	all := &tracer.Latencies{Begins: 13, Ends: 12}
	for _, k := range keys {
		all.Keys = append(all.Keys, tracer.KeyLatency{Key: k, Fields: fields})
	}
	add := func(h *histogram.Histogram, d time.Duration) {
		h.Add(d)
		all.Add(d)
	}
	var s *LatencySample
	for i := range 2 {
		copied := *all
		copied.Keys = nil
		for j := range all.Keys {
			for range j + i {
				add(&all.Keys[j].Histogram, time.Duration(j+1)*time.Microsecond)
			}
			k := all.Keys[j]
			k.Histogram = k.Clone()
			copied.Keys = append(copied.Keys, k)
		}
		add(&all.Others, time.Second)
		copied.Histogram, copied.Others = all.Histogram.Clone(), all.Others.Clone()
		s = sampler.Sample(time.Date(2026, 11, 21, 7, 44, 50, 0, time.UTC), time.Duration(i+1)*time.Second, &copied)
	}
	return s
}

func TestLatencyGroups(t *testing.T) {
	out, written := bufferOutput(t)
	title := func() string { return "a:b → a:c, joined by thread" }
	table := LatencyTable{By: []string{"path", "status"}}
	s := groupedSample()
	if err := (&LatencyPlain{Out: out, Title: title, Table: table}).Final(s, ByCommand); err != nil {
		t.Fatal(err)
	}
	table.Top = 1
	v := &LatencyIntervals{Plain: LatencyPlain{Out: out, Title: title, Table: table}}
	for range 2 {
		if err := v.Interval(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Interval(&LatencySample{Elapsed: 3 * time.Second, All: s.All, Recent: &histogram.Histogram{}}); err != nil {
		t.Fatal(err)
	}
	j := &LatencyJSON{Out: out, Table: table, Object: func() LatencyObject {
		return LatencyObject{From: []string{"a:b"}, To: []string{"a:c"}, Key: "tid", ToKey: "tid"}
	}}
	if err := j.Interval(s); err != nil {
		t.Fatal(err)
	}
	j.Table.Top = 0
	if err := j.Final(s, ByDuration); err != nil {
		t.Fatal(err)
	}
	golden(t, "latency_groups.txt", written())
}

// Groups fit every screen.
func TestLatencyGroupsLive(t *testing.T) {
	for height := 5; height < 12; height++ {
		out, written := bufferOutput(t)
		v := NewLatencyLive(out, LatencyPlain{Out: out, Title: func() string { return "a:b → a:c" }, Table: LatencyTable{By: []string{"path", "status"}}})
		v.Screen.Size = func() (int, int) { return 200, height }
		if err := v.Interval(groupedSample()); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(written()), "\n"); n >= height && height > 7 {
			t.Errorf("%d lines on a screen of %d", n, height)
		}
	}
}
