package recording_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/waymark-trace/waymark/recording"
	"github.com/waymark-trace/waymark/tracer"
)

// Record the markers of process 1234 until Ctrl-C, or until there are a million events.
func ExampleRecord() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	target := tracer.Target{PID: 1234}
	markers, err := tracer.Find(ctx, target)
	if err != nil {
		log.Fatal(err)
	}
	events, err := tracer.Trace(target, markers, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer events.Close()
	sum, err := recording.Record(ctx, "trace", &recording.Options{Count: 1_000_000}, events)
	if err != nil {
		log.Print(err) // of the disk, for one: the events before are in the trace
	}
	fmt.Println(sum.Saved(), "events,", sum.Total(), "lost")
}
