package stats_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/waymark-trace/waymark/sink"
	"github.com/waymark-trace/waymark/sink/stats"
)

func BenchmarkCount(b *testing.B) {
	connect(b, stats.Options{Count: []string{"stattest:tick"}})
	b.ReportAllocs()
	for b.Loop() {
		tick.Mark()
	}
}

// An operation is a pair: two events.
func BenchmarkPair(b *testing.B) {
	for name, pair := range map[string]sink.Pair{"goroutine": byGoroutine, "integer": byID, "string": byName} {
		b.Run(name, func(b *testing.B) {
			connect(b, stats.Options{Latency: []sink.Pair{pair}})
			b.ReportAllocs()
			var goroutines atomic.Uint64
			b.RunParallel(func(pb *testing.PB) {
				n := goroutines.Add(1)
				name := strings.Repeat("x", int(n))
				for id := n << 32; pb.Next(); id++ {
					begin.Mark(id, name)
					end.Mark(name, id)
				}
			})
		})
	}
}

// The allocations that the benchmarks report hold as a test, too.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	connect(t, stats.Options{Count: []string{"stattest:tick"}, Latency: []sink.Pair{byGoroutine, byID, byName}})
	id := uint64(0)
	if n := testing.AllocsPerRun(10_000, func() {
		id++
		tick.Mark()
		begin.Mark(id, "name")
		end.Mark("name", id)
	}); n != 0 {
		t.Errorf("%v allocations for a pair and a tick, want none", n)
	}
}
