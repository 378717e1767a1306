// Command idle prints what it holds when main begins: goroutines, allocations so far,
// allocations in main, and its lowest free file descriptor. Built with the tag "marked"
// it has markers and a tracepoint that it never arms. It imports no more than it must, so that what package
// marker brings with it shows.
package main

import (
	"runtime"
	"syscall"
)

func main() {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	pass(3, "a")
	runtime.ReadMemStats(&after)
	free, err := syscall.Dup(0)
	if err != nil {
		panic(err)
	}
	println(runtime.NumGoroutine(), before.Mallocs, after.Mallocs-before.Mallocs, free)
}
