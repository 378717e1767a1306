package cli

import (
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// writeTickTrace writes a trace of examples/tick: 20 events of each of its two markers.
func writeTickTrace(t *testing.T, dir string) {
	t.Helper()
	w, err := recording.Create(dir, &recording.Options{Offset: 1_700_000_000 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Channel("kernel", "buffer_full")
	if err != nil {
		t.Fatal(err)
	}
	fields := []event.Field{{Name: "arg1", Type: "int32", Kind: event.Int32}}
	points := []*event.Point{{Provider: "tick", Name: "loop1", Fields: fields}, {Provider: "tick", Name: "loop2", Fields: fields}}
	for i := range 20 {
		for j, p := range points {
			e := event.Event{
				Time: time.Duration(2*i+j) * time.Millisecond, PID: 7, TID: 7, CPU: 1, Comm: "tick", Point: p,
				Values: []event.Value{event.Number(event.Int32, uint64(i))},
			}
			if err := c.Write(&e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
