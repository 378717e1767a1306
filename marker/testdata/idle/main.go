// Command idle prints what it holds when main begins: goroutines, file descriptors and
// allocations so far. Built with the tag "marked" it has markers that it never arms.
package main

import (
	"fmt"
	"os"
	"runtime"
)

func main() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	pass(3, "a")
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	fmt.Println(runtime.NumGoroutine(), len(fds), m.Mallocs, after.Mallocs-m.Mallocs)
}
