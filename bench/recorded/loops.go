package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/trace"
	"sync"

	"github.com/rs/zerolog"

	"github.com/waymark-trace/waymark/bench/pin"
	"github.com/waymark-trace/waymark/internal/clock"
	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/marker"
)

var (
	hit  = marker.New2[int, uintptr]("bench:hit", "n %d at %p")
	text = marker.New2[int, string]("bench:text", "n %d text %s")
	off  = marker.New2[int, uintptr]("other:off", "n %d at %p")
)

const thirtyTwo = "0123456789abcdef0123456789abcdef"

var loops = map[string]func(n int){
	"empty": func(n int) {
		for range n { // which the compiler keeps
		}
	},
	"off": func(n int) {
		for i := range n {
			off.Mark(i, 0)
		}
	},
	"two": func(n int) {
		for i := range n {
			hit.Mark(i, 0)
		}
	},
	"text": func(n int) {
		for i := range n {
			text.Mark(i, thirtyTwo)
		}
	},
	"clock": func(n int) {
		stamp := clock.StampOf(clock.Best(), point.G)
		for range n {
			stamp()
		}
	},
	"trace": func(n int) {
		ctx := context.Background()
		for range n {
			trace.Log(ctx, "bench", "n 1 at 0x0")
		}
	},
	"zerolog": func(n int) {
		log := zerolog.New(io.Discard).With().Timestamp().Logger()
		for i := range n {
			log.Info().Int("n", i).Uint64("at", 0).Msg("hit")
		}
	},
	"slog": func(n int) {
		log, ctx := slog.New(slog.NewJSONHandler(io.Discard, nil)), context.Background()
		for i := range n {
			log.LogAttrs(ctx, slog.LevelInfo, "hit", slog.Int("n", i), slog.Uint64("at", 0))
		}
	},
}

// pass runs a loop on pinned threads and returns the CPU time of all.
func pass(name string, threads, n int) (int64, error) {
	run := loops[name]
	if run == nil {
		return 0, fmt.Errorf("no loop %q", name)
	}
	cpus, err := pin.CPUs()
	if err != nil {
		return 0, err
	}
	if threads > len(cpus) {
		return 0, fmt.Errorf("%d threads, %d CPUs", threads, len(cpus))
	}
	if name == "trace" {
		if err := trace.Start(io.Discard); err != nil {
			return 0, err
		}
		defer trace.Stop()
	}
	times, errs := make([]int64, threads), make([]error, threads)
	var all sync.WaitGroup
	for i := range threads {
		all.Add(1)
		go func() { // the thread ends with its goroutine: it is never unlocked
			defer all.Done()
			if errs[i] = pin.Thread(cpus[i]); errs[i] != nil {
				return
			}
			before := threadTime()
			run(n)
			times[i] = threadTime() - before
		}()
	}
	all.Wait()
	var sum int64
	for _, t := range times {
		sum += t
	}
	return sum, errors.Join(errs...)
}
