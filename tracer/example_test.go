package tracer_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer"
)

// Example prints the events of a running process until it is interrupted.
func Example() {
	trace := func(pid int, patterns ...string) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		found, err := tracer.PIDs(pid).Find(ctx)
		if err != nil {
			return err
		}
		markers, err := found.Select(patterns...)
		if err != nil {
			return err
		}
		events, err := found.Trace(markers, &tracer.TraceOptions{Attach: tracer.Attach{Where: `path ~ "/api/*"`}})
		if err != nil {
			return err
		}
		defer events.Close()
		for e, err := range source.Events(ctx, events) {
			if errors.Is(err, context.Canceled) {
				break
			}
			if err != nil {
				return err
			}
			fmt.Print(events.Clock().Wall(e.Time).Format(time.StampMicro), " ", e.Point.FullName())
			for i, f := range e.Point.Fields {
				fmt.Printf(" %s=%s", f.Name, f.AppendText(nil, &e.Values[i]))
			}
			fmt.Println()
		}
		lost, err := events.Losses()
		fmt.Println(source.Total(lost), "events were lost")
		return err
	}

	main := func() {
		tracer.GuardMain()
		if err := trace(1234, "http:*"); err != nil {
			log.Fatal(err)
		}
	}
	_ = main
}

// The markers of a program, whether it runs or not. Find reads files and needs no privilege for that.
func ExampleFind() {
	markers, err := tracer.Find(context.Background(), tracer.Path("./server"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range markers {
		fmt.Println(m.FullName(), m.Format, len(m.Sites), "sites")
		for _, f := range m.Fields {
			fmt.Println("  ", f.Name, f.Type)
		}
	}
}

// A pattern chooses by provider and name, or by name in any provider.
func ExampleSelect() {
	markers := []*tracer.Marker{
		{Point: event.Point{Provider: "http", Name: "request_start"}},
		{Point: event.Point{Provider: "http", Name: "request_end"}},
		{Point: event.Point{Provider: "cache", Name: "miss"}},
	}
	chosen, err := tracer.Select(markers, []string{"http:*_start", "miss"})
	for _, m := range chosen {
		fmt.Println(m.FullName())
	}
	fmt.Println(err)
	_, err = tracer.Select(markers, []string{"http:begin"})
	var missing *tracer.NoMatchError
	fmt.Println(errors.As(err, &missing), missing.Available[0])
	// Output:
	// http:request_start
	// cache:miss
	// <nil>
	// true http:request_end
}

// Requests a second of a process, by status.
func ExampleCount() {
	found, err := tracer.PIDs(1234).Find(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	markers, err := found.Select("http:request_end")
	if err != nil {
		log.Fatal(err)
	}
	counter, err := found.Count(markers, &tracer.CountOptions{By: []string{"status"}})
	if err != nil {
		log.Fatal(err)
	}
	defer counter.Close()
	time.Sleep(time.Second)
	counts, err := counter.Read()
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range counts {
		fmt.Println(c.Marker.FullName(), c.Count)
		for _, k := range c.Keys {
			fmt.Println("  ", k.Key.Values[0].Int(), k.Count)
		}
	}
}

// The time of requests, measured in the kernel.
func ExampleLatency() {
	found, err := tracer.PIDs(1234).Find(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	begin, err := found.Select("http:request_start")
	if err != nil {
		log.Fatal(err)
	}
	end, err := found.Select("http:request_end")
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := found.Latency(begin, end, &tracer.LatencyOptions{Key: "id"})
	if err != nil {
		log.Fatal(err)
	}
	defer pairs.Close()
	time.Sleep(time.Second)
	took, err := pairs.Read()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(took.Count(), took.Percentile(50), took.Percentile(99), took.Max())
}

// A command traced from its first instruction to its end.
func ExampleStart() {
	ctx := context.Background()
	command, err := tracer.Start(ctx, []string{"./server", "-load", "10"}, &tracer.StartOptions{Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		log.Fatal(err)
	}
	found, err := command.Target().Find(ctx)
	if err != nil {
		log.Fatal(err)
	}
	events, err := found.Trace(found.Markers, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer events.Close()
	if err := command.Resume(); err != nil {
		log.Fatal(err)
	}
	go func() { // a Tracer does not end with its target
		if err := errors.Join(command.Wait(), events.Stop()); err != nil {
			log.Print(err)
		}
	}()
	for e, err := range source.Events(ctx, events) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Point.FullName(), e.Goroutine)
	}
}
