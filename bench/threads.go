package main

import (
	"sync/atomic"
	"time"
)

// worker is a thread that keeps to one CPU.
type worker struct {
	work chan func()
	done chan bool
}

const workerCount = 2

// startWorkers returns a worker for each of two CPUs, or why there are none.
func startWorkers() ([]*worker, []result) {
	var workers []*worker
	cpus, err := allowedCPUs()
	if err == nil && len(cpus) < workerCount {
		return nil, []result{skipped("pinned threads", "this process has %d CPUs, this needs %d", len(cpus), workerCount)}
	}
	for i := 0; err == nil && i < workerCount; i++ {
		w := &worker{work: make(chan func()), done: make(chan bool)}
		started := make(chan error)
		go func() {
			defer close(w.done)
			e := pinThread(cpus[i]) // for good: the thread ends with the goroutine
			started <- e
			if e != nil {
				return
			}
			for fn := range w.work {
				fn()
			}
		}()
		err = <-started
		workers = append(workers, w)
	}
	if err != nil {
		stopWorkers(workers)
		return nil, []result{skipped("pinned threads", "%v", err)}
	}
	return workers, nil
}

func stopWorkers(workers []*worker) {
	for _, w := range workers {
		close(w.work)
		<-w.done
	}
}

// together runs a loop on some of the workers at once, each n times, and returns how long the
// one took that took longest. They wait for each other by spinning: to be woken takes longer
// than some loops.
func together(workers []*worker, run func(n int)) func(n int) time.Duration {
	return func(n int) time.Duration {
		var ready atomic.Int32
		took := make(chan time.Duration, len(workers))
		for _, w := range workers {
			w.work <- func() {
				ready.Add(1)
				for int(ready.Load()) < len(workers) {
				}
				start := time.Now()
				run(n)
				took <- time.Since(start)
			}
		}
		var longest time.Duration
		for range workers {
			longest = max(longest, <-took)
		}
		return longest
	}
}

// threads returns the cases on one and on two pinned threads.
func threads(workers []*worker) []loop {
	var loops []loop
	if workers == nil {
		return nil
	}
	for _, l := range []loop{{name: typedName, run: typedLoop}, {name: atomicName, run: atomicLoop}} {
		one, two := threadsName(l.name, 1), threadsName(l.name, workerCount)
		loops = append(loops,
			loop{name: one, clock: together(workers[:1], l.run)},
			loop{name: two, clock: together(workers, l.run), to: one})
	}
	return loops
}
