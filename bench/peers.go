package main

import (
	"context"
	"io"
	"log/slog"
	"runtime/trace"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
)

// What else says where a program is, in the form in which it costs least.

const atomicName = "atomic counter"

var (
	counter atomic.Uint64

	slogOff  = slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError}))
	slogText = slog.New(slog.NewTextHandler(io.Discard, nil))
	slogJSON = slog.New(slog.NewJSONHandler(io.Discard, nil))

	spanOff  = otel.SpanFromContext(context.Background()) // records nothing
	provider = sdk.NewTracerProvider()                    // exports nothing
)

//go:noinline
func atomicLoop(n int) {
	for range n {
		counter.Add(1)
	}
}

//go:noinline
func slogLoop(log *slog.Logger, n int) {
	ctx := context.Background()
	for i := range n {
		log.LogAttrs(ctx, slog.LevelInfo, "hit", slog.Int("n", i), slog.Uint64("at", 0))
	}
}

//go:noinline
func traceLoop(n int) {
	ctx := context.Background()
	for range n {
		trace.Log(ctx, "bench", "n 1 at 0x0")
	}
}

// spanEvents is how many events a span has: as many as the SDK keeps by default.
const spanEvents = 128

//go:noinline
func spanOffLoop(n int) {
	for i := range n {
		spanOff.AddEvent("hit", otel.WithAttributes(attribute.Int("n", i), attribute.Int("at", 0)))
	}
}

// spanGuardedLoop asks first, as OpenTelemetry recommends.
//
//go:noinline
func spanGuardedLoop(n int) {
	for i := range n {
		if spanOff.IsRecording() {
			spanOff.AddEvent("hit", otel.WithAttributes(attribute.Int("n", i), attribute.Int("at", 0)))
		}
	}
}

//go:noinline
func spanOnLoop(n int) {
	tracer := provider.Tracer("bench")
	for i := 0; i < n; {
		_, span := tracer.Start(context.Background(), "bench")
		for end := min(n, i+spanEvents); i < end; i++ {
			span.AddEvent("hit", otel.WithAttributes(attribute.Int("n", i), attribute.Int("at", 0)))
		}
		span.End()
	}
}

func tracing() (undo func()) {
	if trace.Start(io.Discard) != nil {
		return func() {} // somebody traces already
	}
	return trace.Stop
}

func peers() []loop {
	onto := func(log *slog.Logger) func(n int) { return func(n int) { slogLoop(log, n) } }
	return []loop{
		{name: atomicName, run: atomicLoop, to: typedName, allocs: true},
		{name: "slog, level off", run: onto(slogOff), to: offName, allocs: true},
		{name: "slog, text", run: onto(slogText), to: typedName, allocs: true},
		{name: "slog, JSON", run: onto(slogJSON), to: typedName, allocs: true},
		{name: "runtime/trace.Log, off", run: traceLoop, to: offName, allocs: true},
		{name: "runtime/trace.Log, on", run: traceLoop, to: typedName, setup: tracing, allocs: true},
		{name: "OpenTelemetry event, off", run: spanOffLoop, to: offName, allocs: true},
		{name: "OpenTelemetry event, off and guarded", run: spanGuardedLoop, to: offName, allocs: true},
		{name: "OpenTelemetry event, recording", run: spanOnLoop, to: typedName, allocs: true},
	}
}
