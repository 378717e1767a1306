package main

import (
	"runtime"
	"slices"
	"time"
)

// loop is code that does something n times.
type loop struct {
	name string
	to   string // the loop that it is compared with
	run  func(n int)

	// clock runs the loop and says how long that took, where the caller's clock would not do.
	clock func(n int) time.Duration
	// setup is called before each time the loop runs, and what it returns afterwards.
	setup func() (undo func())
	// over is a loop without what is measured; the difference is a result of its own.
	over string
	// allocs asks for the number of allocations.
	allocs bool
}

// roundTime is how long one loop runs in one round: long against the clock, short against
// the scheduler's tick and changes of the machine's speed.
const roundTime = 3 * time.Millisecond

// time returns the nanoseconds of one of n passes.
func (l *loop) time(n int) float64 {
	if l.setup != nil {
		defer l.setup()()
	}
	if l.clock != nil {
		return float64(l.clock(n).Nanoseconds()) / float64(n)
	}
	start := time.Now()
	l.run(n)
	return float64(time.Since(start).Nanoseconds()) / float64(n)
}

// interleave runs every loop once a round, and returns results with the medians.
func interleave(rounds int, loops []loop) []result {
	// Moving between CPUs in a round would count as the loop's own time.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	counts := make([]int, len(loops))
	for i := range loops {
		counts[i] = loops[i].calibrate()
	}
	runtime.GC() // nobody's garbage but the loop's own
	times := make([][]float64, len(loops))
	for range rounds {
		for i := range loops {
			times[i] = append(times[i], loops[i].time(counts[i]))
		}
	}

	byName := make(map[string][]float64)
	var results []result
	for i, l := range loops {
		byName[l.name] = times[i]
		results = append(results, figure(l.name, median(times[i]), l.to, median(byName[l.to])))
		if l.over != "" {
			results = append(results,
				further(l.name, "over the loop", median(times[i])-median(byName[l.over]), "ns"),
				further(l.name, "lower quartile over the loop", quartile(times[i])-quartile(byName[l.over]), "ns"))
		}
		if l.allocs {
			results = append(results, l.countAllocs())
		}
	}
	return results
}

// calibrate returns a number of passes that takes about roundTime.
func (l *loop) calibrate() int {
	for n := 1; ; n *= 2 {
		if took := l.time(n) * float64(n); took >= float64(roundTime)/4 {
			return max(1, int(float64(n)*float64(roundTime)/took))
		}
	}
}

// countAllocs returns the allocations of one pass, to a hundredth: the runtime's own count
// among them.
func (l *loop) countAllocs() result {
	if l.setup != nil {
		defer l.setup()()
	}
	const n = 10_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l.run(n)
	runtime.ReadMemStats(&after)
	hundredths := (after.Mallocs - before.Mallocs + n/200) / (n / 100)
	return further(l.name, "allocations", float64(hundredths)/100, "allocs")
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// quartile returns the lower one: what the machine does when it does little else.
func quartile(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(v))[len(v)/4]
}
