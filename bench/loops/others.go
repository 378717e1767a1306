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

var others = map[string]func(int){
	"atomic":      atomicLoop,
	"slogOff":     func(n int) { slogLoop(slogOff, n) },
	"slogText":    func(n int) { slogLoop(slogText, n) },
	"slogJSON":    func(n int) { slogLoop(slogJSON, n) },
	"trace":       traceLoop,
	"spanOff":     spanOffLoop,
	"spanGuarded": spanGuardedLoop,
	"spanOn":      spanOnLoop,
}

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

func tracing() (undo func() error, err error) {
	return func() error { trace.Stop(); return nil }, trace.Start(io.Discard)
}
