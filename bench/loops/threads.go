package main

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/bench/pin"
)

// together runs a loop on two threads at once, each with a CPU of its own, and returns how long
// the one took that took longer. They wait for each other by spinning: to be woken takes longer
// than some loops.
func together(run func(n int), n int) (longer time.Duration, err error) {
	if errCPUs != nil {
		return 0, errCPUs
	}
	if len(cpus) < 2 {
		return 0, errors.New("this process has one CPU")
	}
	type result struct {
		took time.Duration
		err  error
	}
	results := make(chan result)
	var ready atomic.Int32
	for _, cpu := range cpus[:2] {
		go func() {
			err := pin.Thread(cpu) // for good: the thread ends with the goroutine
			ready.Add(1)
			for ready.Load() < 2 {
				runtime.Gosched()
			}
			start := time.Now()
			run(n)
			results <- result{time.Since(start), err}
		}()
	}
	for range 2 {
		r := <-results
		if r.err != nil {
			err = r.err
		}
		longer = max(longer, r.took)
	}
	return longer, err
}
