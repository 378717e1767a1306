// Command outside runs a web server, prints its events and records them: outside DIR COMMAND…
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/recording"
)

func main() {
	tracer.GuardMain()
	ctx := context.Background()
	server := must(tracer.Start(ctx, os.Args[2:], &tracer.StartOptions{Stdout: os.Stdout, Stderr: os.Stderr}))
	found := must(server.Target().Find(ctx))
	for _, m := range found.Markers {
		fmt.Println("found", m.FullName(), m.Format)
	}
	begin, end := must(found.Select("http:request_start")), must(found.Select("http:request_end"))
	latency := must(found.Latency(begin, end, nil))
	events := must(found.Trace(found.Markers, nil))
	trace := must(recording.Create(os.Args[1], nil))
	channel := must(trace.Channel("kernel", source.BufferFull))
	check(server.Resume())
	for e, err := range source.Events(ctx, events) {
		check(err)
		check(channel.Write(e))
		fmt.Print("event ", e.Point.FullName())
		for i, f := range e.Point.Fields {
			if v := &e.Values[i]; v.Kind() == event.String {
				fmt.Printf(" %s=%q", f.Name, v.Text())
			} else {
				fmt.Printf(" %s=%d", f.Name, v.Int())
			}
		}
		fmt.Println()
	}
	check(server.Wait())
	check(trace.Close())
	took, lost := must(latency.Read()), must(events.Losses())
	fmt.Println("latency", took.Count(), source.Total(lost), int64(took.Percentile(50)), int64(took.Percentile(99)), int64(took.Max()))
}

func must[T any](value T, err error) T { check(err); return value }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
