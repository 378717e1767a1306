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
}

// roundTime is how long one loop runs in one round: long against the clock and the
// scheduler's tick, short against changes of the machine's speed.
const roundTime = 20 * time.Millisecond

// interleave runs every loop once a round, and returns results with the medians.
func interleave(rounds int, loops []loop) []result {
	// Moving between CPUs in a round would count as the loop's own time.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	counts := make([]int, len(loops))
	for i, l := range loops {
		counts[i] = calibrate(l.run)
	}
	times := make([][]float64, len(loops))
	for range rounds {
		for i, l := range loops {
			start := time.Now()
			l.run(counts[i])
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/float64(counts[i]))
		}
	}

	medians := make(map[string]float64)
	var results []result
	for i, l := range loops {
		medians[l.name] = median(times[i])
		results = append(results, figure(l.name, medians[l.name], l.to, medians[l.to]))
	}
	return results
}

// calibrate returns a number of passes that takes about roundTime.
func calibrate(run func(n int)) int {
	for n := 1; ; n *= 2 {
		start := time.Now()
		run(n)
		if took := time.Since(start); took >= roundTime/4 {
			return max(1, int(float64(n)*float64(roundTime)/float64(took)))
		}
	}
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
