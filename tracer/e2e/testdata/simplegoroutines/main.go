// Command simplegoroutines passes a simple marker in several goroutines at a time, and prints which.
// It has no other markers.
package main

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"

	"github.com/waymark-trace/waymark/simple"
)

var total int

//go:noinline
func pass(own int) {
	simple.Anchor1("goroutines:pass", "own %d", own)
	total += own
}

// number is the goroutine's, as a traceback says it.
func number() (n int) {
	stack := make([]byte, 64)
	fmt.Fscanf(bytes.NewReader(stack[:runtime.Stack(stack, false)]), "goroutine %d ", &n)
	return n
}

func main() {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			own := number()
			for range 3 {
				mu.Lock()
				pass(own)
				mu.Unlock()
				runtime.Gosched()
			}
		})
	}
	all.Wait()
	fmt.Println(total)
}
