// Command tracepoint shows how a program traces with types of its own, and everybody can look all the same.
//
//	sched       does the work and declares tracepoints, whose arguments are *Task:
//	            sched.Switch.Trace(prev, next)
//	schedprobe  registers probes with the tracepoints, which turn tasks into basic types and mark them:
//	            kernel:sched_switch "prev_pid %d next_pid %d prev_state %ld"
//	main        connects sinks to the markers by name; it imports neither their variables nor package marker
//
// Each of the three can change without the others: a task may get new fields, a sink may log,
// count or draw, and tools outside the process see kernel:sched_switch as main does:
//
//	go run ./examples/tracepoint
//	waymark build -o tasks ./examples/tracepoint && waymark trace 'kernel:*' -- ./tasks
package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/waymark-trace/waymark/examples/tracepoint/sched"
	"github.com/waymark-trace/waymark/examples/tracepoint/schedprobe"
	"github.com/waymark-trace/waymark/sink"
	slogsink "github.com/waymark-trace/waymark/sink/slog"
	"github.com/waymark-trace/waymark/sink/stats"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tracepoint:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	disconnect, err := schedprobe.Connect()
	if err != nil {
		return err
	}
	defer disconnect()
	work(w) // the markers are passed, and nobody looks

	log, err := slogsink.Connect(slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: withoutTime})),
		slog.LevelInfo, "kernel:sched_*")
	if err != nil {
		return err
	}
	counts, err := stats.Connect(stats.Options{
		Count: []string{"kernel:*"},
		// How long a task waits for its turn once it can run.
		Latency: []sink.Pair{{Begin: "kernel:sched_wakeup", End: "kernel:sched_switch", Key: "pid", EndKey: "next_pid"}},
	})
	if err != nil {
		return errors.Join(err, log.Close())
	}
	work(w)
	if err := errors.Join(log.Close(), counts.Close()); err != nil {
		return err
	}
	work(w) // nothing of the sinks is left

	for _, m := range counts.Snapshot().Markers {
		fmt.Fprintln(w, m.Name, m.Count)
	}
	for _, p := range counts.Snapshot().Pairs {
		fmt.Fprintln(w, p.Begin, "to", p.End, p.Count)
	}
	return nil
}

// work is what the program is for: one task counts primes, another one sleeps now and then.
func work(w io.Writer) {
	var s sched.Scheduler
	primes := 0
	s.Go("primes", func(yield func(int) bool) {
		for n := 2; n < 60; n++ {
			if isPrime(n) {
				primes++
			}
			if n%20 == 0 && !yield(0) {
				return
			}
		}
	})
	s.Go("naps", func(yield func(int) bool) {
		for _, ticks := range []int{1, 3} {
			if !yield(ticks) {
				return
			}
		}
	})
	s.Run()
	fmt.Fprintln(w, "primes below 60:", primes)
}

func isPrime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}

// withoutTime makes records of two runs alike.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
