package tracer

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
)

// bucketError is what Histogram promises, a 64th.
const bucketError = 1.0 / 64

// rank returns the nearest-rank percentile of durations, which it sorts.
func rank(all []time.Duration, p float64) time.Duration {
	slices.Sort(all)
	return all[max(int(math.Ceil(float64(len(all))*p/100)), 1)-1]
}

// checkLatency compares a histogram with what a program has timed inside of each pair and
// around it: each pair lies between, so every percentile does.
func checkLatency(t *testing.T, l *Latencies, inner, outer []time.Duration) {
	t.Helper()
	if l.Count() != uint64(len(inner)) {
		t.Errorf("%d pairs, want %d", l.Count(), len(inner))
	}
	for _, p := range []float64{1, 10, 50, 90, 99, 99.9, 100} {
		got, low, high := float64(l.Percentile(p)), float64(rank(inner, p)), float64(rank(outer, p))
		if got < low*(1-bucketError) || got > high*(1+bucketError) {
			t.Errorf("p%g is %v, the program timed %v inside and %v around", p, l.Percentile(p), rank(inner, p), rank(outer, p))
		}
	}
	if low, high := rank(inner, 100), rank(outer, 100); l.Max() < low || l.Max() > high {
		t.Errorf("the maximum is %v, not between %v and %v", l.Max(), low, high)
	}
	if low, high := mean(inner), mean(outer); l.Mean() < low || l.Mean() > high {
		t.Errorf("the mean is %v, not between %v and %v", l.Mean(), low, high)
	}
}

func mean(all []time.Duration) (sum time.Duration) {
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(len(all))
}

// counters are what Latencies counts besides pairs.
func counters(l *Latencies) [5]uint64 {
	return [5]uint64{l.Begins, l.Ends, l.Nested, l.Unread, l.Full}
}

func TestLatencyC(t *testing.T) {
	const threads, rounds = 4, 500
	for _, mode := range modes {
		for _, by := range []LatencyOptions{{}, {Key: "arg1", EndKey: "arg2"}} {
			t.Run(fmt.Sprint(mode, by.Key), func(t *testing.T) {
				force(t, mode)
				p := startC(t, "pairs", fmt.Sprint(threads), fmt.Sprint(rounds))
				target := PIDs(p.PID())
				all := mustFind(t, target)
				l, err := Latency(target, one(t, all, "begin"), one(t, all, "end"), &by)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				if begin, _ := l.Key(); by.Key == "" && begin != "tid" {
					t.Errorf("pairs of a C program are joined by %s", begin)
				}
				p.run()
				var inner, outer []time.Duration
				for _, line := range p.until() {
					var in, out time.Duration
					fmt.Sscan(line, (*int64)(&in), (*int64)(&out))
					inner, outer = append(inner, in), append(outer, out)
				}
				got, err := l.Read()
				if err != nil {
					t.Fatal(err)
				}
				checkLatency(t, got, inner, outer)
				hits := uint64(threads * (rounds + 1))
				nested := uint64(0)
				if by.Key != "" {
					nested = threads - 1 // the last begins all say -2
				}
				if diff := cmp.Diff([5]uint64{hits, hits, nested, 0, 0}, counters(got)); diff != "" {
					t.Errorf("begins, ends, nested, unread, full (-want +got):\n%s", diff)
				}
				closeNow(t, l)
				if _, err := l.Read(); err != os.ErrClosed {
					t.Errorf("Read after Close: %v, want os.ErrClosed", err)
				}
				closeNow(t, l)
			})
		}
	}
}

// More keys than there is room for: what is measured has its own begin's time and no other's, nothing is in the way of
// what comes after it, and whatever is forgotten is missing from the pairs by exactly as many.
func TestLatencyForgets(t *testing.T) {
	const room = 1000
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			p := startC(t, "open")
			target := PIDs(p.PID())
			all := mustFind(t, target)
			l, err := Latency(target, one(t, all, "begin"), one(t, all, "end"), &LatencyOptions{Key: "arg1", MaxOpen: room})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			var hits [2]uint64 // of begin and end
			after := func(what string, from, to uint64) *Latencies {
				t.Helper()
				p.Tell(fmt.Sprint(what, " ", from, " ", to))
				p.Expect(what)
				for side, other := range []string{"end", "begin"} {
					if what != other {
						hits[side] += to - from
					}
				}
				got, err := l.Read()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([5]uint64{hits[0], hits[1], 0, 0, 0}, counters(got)); diff != "" {
					t.Errorf("%s %d %d: begins, ends, nested, unread, full (-want +got):\n%s", what, from, to, diff)
				}
				return got
			}
			pairs := func(want uint64, got *Latencies) {
				t.Helper()
				if got.Count() != want {
					t.Fatalf("%d pairs, want %d", got.Count(), want)
				}
			}
			for i := range uint64(3) {
				pairs(500*(i+1), after("pair", 0, 500))
			}
			after("begin", 10000, 16000)
			pairs(11500, after("pair", 20000, 30000))
			pairs(12000, after("pair", 0, 500))
			// Of those that are open for long there are as many left as there is room, and not twice.
			got := after("end", 10000, 16000).Count() - 12000
			if got < room/4 || got > 2*room {
				t.Errorf("of 6000 begins %d were remembered, there is room for %d", got, room)
			}
			pairs(12000+got, after("end", 10000, 16000))
			pairs(12000+got, after("begin", 10000, 10001))
			pairs(12001+got, after("end", 10000, 10001))
		})
	}
}

func one(t *testing.T, all []*Marker, pattern string) []*Marker {
	t.Helper()
	m, err := Select(all, []string{pattern})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// requests is what testdata/requests prints.
type requests struct {
	Paths, Goroutines  map[string]uint64
	Inner, Outer, Jobs []time.Duration
}

func TestGoRequests(t *testing.T) {
	path := linked(t, gobuild.Config{}, "testdata/requests")
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			const rounds = 500
			p := startTick(t, path, rounds)
			target := PIDs(p.PID())
			all := mustFind(t, target)
			pairs := map[string]*Pairs{}
			for name, o := range map[string]LatencyOptions{"req:begin req:end": {}, "job:queued job:done": {Key: "id", EndKey: "job"}, "nest:in nest:out": {}, "nest:in nest:out outermost": {Attach: Attach{Where: "depth == 3"}}} {
				sides := strings.Fields(name)
				l, err := Latency(target, one(t, all, sides[0]), one(t, all, sides[1]), &o)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				pairs[name] = l
			}
			if by, _ := pairs["req:begin req:end"].Key(); by != "goroutine" {
				t.Errorf("pairs of a Go program are joined by %s", by)
			}
			byPath, err := Count(target, one(t, all, "req:*"), &CountOptions{By: []string{"path"}})
			if err != nil {
				t.Fatal(err)
			}
			defer byPath.Close()
			byGoroutine, err := Count(target, one(t, all, "req:*"), &CountOptions{By: []string{"goroutine", "load", "even"}})
			if err != nil {
				t.Fatal(err)
			}
			defer byGoroutine.Close()
			p.run()
			var want requests
			if err := json.Unmarshal([]byte(p.Line()), &want); err != nil {
				t.Fatal(err)
			}

			wantPaths := map[string]uint64{}
			for path, n := range want.Paths {
				wantPaths[fmt.Sprintf("%q/%d", path[:min(len(path), source.KeyText)], len(path))] = n
			}
			got, _ := keyed(t, byPath, "begin")
			if diff := cmp.Diff(wantPaths, got); diff != "" {
				t.Errorf("by path (-want +got):\n%s", diff)
			}
			none := map[string]uint64{"error: " + errNone.Error(): 8 * rounds}
			if got, _ := keyed(t, byPath, "end"); !cmp.Equal(none, got) {
				t.Errorf("without a path: %v", got)
			}
			wantEnds := map[string]uint64{}
			for g, n := range want.Goroutines {
				wantEnds[g+" 0.5 error: "+errNone.Error()] = n
			}
			got, _ = keyed(t, byGoroutine, "end")
			if diff := cmp.Diff(wantEnds, got); diff != "" {
				t.Errorf("by goroutine (-want +got):\n%s", diff)
			}

			read := func(name string) *Latencies {
				l, err := pairs[name].Read()
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			checkLatency(t, read("req:begin req:end"), want.Inner, want.Outer)
			jobs := read("job:queued job:done")
			if counters(jobs) != [5]uint64{rounds, rounds} || jobs.Count() != rounds || jobs.Max() > rank(want.Jobs, 100) || jobs.Percentile(0) < 100*time.Microsecond {
				t.Errorf("jobs: %v, %d pairs from %v to %v", counters(jobs), jobs.Count(), jobs.Percentile(0), jobs.Max())
			}
			// in in in out out out: the innermost is a pair, two begins were nested, two ends are left.
			if nest := read("nest:in nest:out"); counters(nest) != [5]uint64{3, 3, 2} || nest.Count() != 1 {
				t.Errorf("nested: %v, %d pairs", counters(nest), nest.Count())
			}
			// The begins between are in the way of that one.
			if nest := read("nest:in nest:out outermost"); counters(nest) != [5]uint64{1} || nest.Count() != 0 {
				t.Errorf("outermost of nested: %v, %d pairs", counters(nest), nest.Count())
			}
		})
	}
}
