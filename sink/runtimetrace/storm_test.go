package runtimetrace_test

import (
	"bytes"
	"math/rand/v2"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/sink"
	"github.com/waymark-trace/waymark/sink/runtimetrace"
)

// Goroutines that begin and end in any order, and end themselves, while traces start and stop: go tool
// trace reads every trace. It refuses one with a single region that does not nest.
func TestEveryTraceCanBeRead(t *testing.T) {
	connect(t, runtimetrace.Options{Log: []string{"tracetest:inner_*"}, Regions: []sink.Pair{outer, inner}, Tasks: []sink.Pair{job}})
	marks := []func(n int){
		func(int) { outerBegin.Mark("") },
		func(int) { outerEnd.Mark() },
		func(int) { innerBegin.Mark() },
		func(int) { innerEnd.Mark() },
		func(n int) { jobBegin.Mark(n) },
		func(n int) { jobEnd.Mark(n, true) },
	}
	var over atomic.Bool
	var lives atomic.Int64
	var wg sync.WaitGroup
	seed := peer.FixedSeed(t, 1)
	for number := range uint64(4) {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, number))
			for !over.Load() {
				var life sync.WaitGroup
				length := random.IntN(50)
				life.Go(func() {
					for range length {
						marks[random.IntN(len(marks))](random.IntN(10))
					}
				})
				life.Wait()
				lives.Add(1)
				time.Sleep(100 * time.Microsecond) // or traces become long
			}
		})
	}
	var traces [3]bytes.Buffer
	for i := range traces {
		if err := trace.Start(&traces[i]); err != nil {
			t.Skip("the runtime traces already: ", err)
		}
		for enough := lives.Load() + 50; lives.Load() < enough; {
			time.Sleep(20 * time.Millisecond)
		}
		trace.Stop()
	}
	over.Store(true)
	wg.Wait()
	for i := range traces {
		if n := len(annotations(t, traces[i].Bytes())); n == 0 {
			t.Errorf("trace %d: nothing was marked", i)
		}
	}
}
