package recording_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// Example writes a trace of one event and reads it.
func Example() {
	tmp, err := os.MkdirTemp("", "recording")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "trace")
	if err := writeRequest(dir); err != nil {
		log.Fatal(err)
	}

	r, err := recording.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for e, err := range source.Events(context.Background(), r) {
		if err != nil {
			log.Fatal(err)
		}
		path, _ := e.Value("path")
		took, _ := e.Value("took")
		fmt.Println(r.Clock().Wall(e.Time).UTC().Format(time.RFC3339Nano), e.Point.FullName(), e.PID, path.Text(), time.Duration(took.Int()))
	}
	// Output: 2023-11-14T22:13:20.000000042Z http:request_end 7 /x 3.52ms
}

// writeRequest records an event with values of its own, as a program does that converts another
// format.
func writeRequest(dir string) error {
	trace, err := recording.Create(dir, &recording.Options{Offset: 1_700_000_000 * time.Second})
	if err != nil {
		return err
	}
	channel, err := trace.Channel("converted")
	if err != nil {
		return errors.Join(err, trace.Close())
	}
	point := &event.Point{Provider: "http", Name: "request_end", Fields: []event.Field{
		{Name: "path", Kind: event.String}, {Name: "took", Kind: event.Duration},
	}}
	err = channel.Write(&event.Event{
		Point: point, Time: 42, PID: 7, TID: 7, Comm: "server",
		Values: []event.Value{event.Text(event.String, []byte("/x"), 2), event.Number(event.Duration, uint64(3520*time.Microsecond))},
	})
	return errors.Join(err, trace.Close())
}

// The events of a running program, recorded until Ctrl-C, or until there are a million.
func ExampleRecord() {
	record := func(ctx context.Context, dir string, found *tracer.Found) error {
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
		events, err := found.Trace(found.Markers, nil)
		if err != nil {
			return err
		}
		defer events.Close()
		sum, err := recording.Record(ctx, dir, &recording.Options{Count: 1_000_000}, events)
		fmt.Println(sum.Saved(), "events,", sum.Total(), "lost")
		return err // of the disk, for one: the events before are in the trace
	}
	_ = record
}
