package tracer

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
)

// checkRatio compares hits of a, b and c, which threads pass once, twice and three times in each turn. Each thread may
// be within one turn at the beginning and at the end.
func checkRatio(t *testing.T, what string, hits map[string]uint64, threads uint64) {
	t.Helper()
	a, b, c := hits["a"], hits["b"], hits["c"]
	off := func(n, times uint64) uint64 { return max(n, times*a) - min(n, times*a) }
	if off(b, 2) > 2*2*threads || off(c, 3) > 2*3*threads || a < 100 {
		t.Errorf("%s: %d, %d and %d hits, which differ from 1 : 2 : 3 by %d and %d", what, a, b, c, off(b, 2), off(c, 3))
	}
}

// awaitHits waits until there are some hundred.
func awaitHits(t *testing.T, hits func() uint64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); hits() < 500; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d hits in a minute", hits())
		}
	}
}

// All markers begin to count at one moment, and end at one, although attaching and detaching takes its time.
func TestCountTogether(t *testing.T) {
	const threads = 3
	for _, mode := range modes {
		for _, by := range [][]string{nil, {"comm"}} {
			t.Run(mode.String(), func(t *testing.T) {
				force(t, mode)
				p := startC(t, "ratio", "3")
				target := PIDs(p.PID())
				c, err := Count(target, mustFind(t, target), &CountOptions{By: by})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				hits := map[string]uint64{}
				read := func() map[string]uint64 {
					counts, err := c.Read()
					if err != nil {
						t.Fatal(err)
					}
					for _, n := range counts {
						hits[n.Marker.Name] = n.Count
					}
					return hits
				}
				awaitHits(t, func() uint64 { return read()["a"] })
				if err := c.Stop(); err != nil {
					t.Fatal(err)
				}
				checkRatio(t, "stopped", read(), threads)
				before := hits["c"]
				time.Sleep(10 * time.Millisecond)
				if read()["c"] != before {
					t.Errorf("%d hits, and later %d", before, hits["c"])
				}
				closeNow(t, c)
			})
		}
	}
}

// Begins and ends of pairs, and events, begin and end together, too.
func TestOthersTogether(t *testing.T) {
	const threads = 3
	p := startC(t, "ratio", "3")
	target := PIDs(p.PID())
	all := mustFind(t, target)
	l, err := Latency(target, one(t, all, "a"), one(t, all, "b"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tr, err := Trace(target, all, &TraceOptions{Attach: Attach{BufferSize: 256 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var got *Latencies
	read := func() uint64 {
		if got, err = l.Read(); err != nil {
			t.Fatal(err)
		}
		return got.Begins
	}
	awaitHits(t, read)
	if err := errors.Join(l.Stop(), tr.Stop()); err != nil {
		t.Fatal(err)
	}
	read()
	checkRatio(t, "pairs", map[string]uint64{"a": got.Begins, "b": got.Ends, "c": 3 * got.Begins}, threads)
	hits := map[string]uint64{}
	for {
		var e event.Event
		if err := tr.Read(context.Background(), &e); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		hits[e.Point.Name]++
	}
	if lost, err := tr.Losses(); err != nil || len(lost) > 0 {
		t.Skipf("events were lost: %v, %v", lost, err)
	}
	checkRatio(t, "events", hits, threads)
}
