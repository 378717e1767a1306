package tracer

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
)

// inversions reads all events and returns how many there are, and how many came after one with a later time.
func inversions(t *testing.T, tr *Tracer) (n, late uint64) {
	t.Helper()
	var e event.Event
	last := time.Duration(0)
	for {
		err := tr.Read(context.Background(), &e)
		if errors.Is(err, io.EOF) {
			return n, late
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
		if e.Time < last {
			late++
		}
		last = max(last, e.Time)
	}
}

// Events of several threads that hit as fast as they can come in the order of time, and those that do not are counted.
func TestTraceOrder(t *testing.T) {
	const threads, rounds = 8, 20000
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			p := startC(t, "storm", "8", "20000")
			target := PIDs(p.PID())
			tr, err := Trace(target, mustFind(t, target), &TraceOptions{Attach: Attach{BufferSize: 128 << 20, Strings: []string{"arg2"}}})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			p.run()
			p.until()
			if err := tr.Stop(); err != nil {
				t.Fatal(err)
			}
			n, late := inversions(t, tr)
			if late != tr.Late() || n != threads*rounds {
				t.Errorf("%d events, want %d; %d came after later ones, and Late is %d", n, threads*rounds, late, tr.Late())
			}
			if late > n/1000 { // whose thread lost its processor in the probe for a long time
				t.Errorf("%d of %d events are out of order", late, n)
			}
		})
	}
}

// An event does not wait for others to come.
func TestTraceOrderAlone(t *testing.T) {
	p := startC(t, "storm", "1", "1")
	target := PIDs(p.PID())
	tr, err := Trace(target, mustFind(t, target), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	p.run()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var e event.Event
	if err := tr.Read(ctx, &e); err != nil {
		t.Error(err)
	}
}
