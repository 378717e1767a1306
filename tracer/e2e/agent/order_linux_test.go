package agent_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// turning starts a target whose goroutines pass a, b, b, c, c, c in turns, and returns its markers.
func turning(t *testing.T, do string) (tracer.Target, []*tracer.Marker) {
	t.Helper()
	p := run(t, nil)
	p.ask(do)
	target := tracer.PIDs(p.PID()).By(tracer.EngineAgent)
	all, err := tracer.Find(t.Context(), target)
	must(t, err)
	markers, err := tracer.Select(all, []string{"turns:*"})
	must(t, err)
	return target, markers
}

// checkTurns compares the hits with 1 : 2 : 3. Each goroutine may be within a turn at the beginning and at the end.
func checkTurns(t *testing.T, hits map[string]uint64, goroutines uint64) {
	t.Helper()
	a, b, c := hits["turns:a"], hits["turns:b"], hits["turns:c"]
	off := func(n, times uint64) uint64 { return max(n, times*a) - min(n, times*a) }
	if off(b, 2) > 2*2*goroutines || off(c, 3) > 2*3*goroutines {
		t.Errorf("%d, %d and %d hits differ from 1 : 2 : 3 by %d and %d", a, b, c, off(b, 2), off(c, 3))
	}
}

// All markers begin to count at one moment and end at one.
func TestTogether(t *testing.T) {
	runtimeDir(t)
	target, markers := turning(t, "turn 3")
	turns := uint64(0)
	for range 40 {
		c, err := tracer.Count(target, markers, nil)
		must(t, err)
		defer c.Close()
		time.Sleep(2 * time.Millisecond)
		must(t, c.Stop())
		counts, err := c.Read()
		must(t, err)
		hits := map[string]uint64{}
		for _, n := range counts {
			hits[n.Marker.FullName()] = n.Count
		}
		checkTurns(t, hits, 3)
		turns += hits["turns:a"]
		must(t, c.Close())
	}
	if turns < 1000 {
		t.Errorf("%d turns were counted", turns)
	}
}

// Events of several rings, which are read one after the other while the program writes to all, come in the order of
// time, and those that do not are counted.
func TestOrder(t *testing.T) {
	runtimeDir(t)
	target, markers := turning(t, "stroll 8")
	tr, err := tracer.Trace(target, markers, &tracer.TraceOptions{Attach: tracer.Attach{BufferSize: 16 << 20}})
	must(t, err)
	defer tr.Close()
	time.AfterFunc(500*time.Millisecond, func() { _ = tr.Stop() })
	var e event.Event
	events, late, last := uint64(0), uint64(0), time.Duration(0)
	for {
		err := tr.Read(context.Background(), &e)
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if events++; e.Time < last {
			late++
		}
		last = max(last, e.Time)
	}
	if events < 1000 || late > events/1000 || late != tr.Late() {
		t.Errorf("%d events, of which %d came after later ones; Late is %d", events, late, tr.Late())
	}
}
