// Command deferred marks by calls that Go delays, and by method values: the compiler makes closures of them.
package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/waymark-trace/waymark/marker"
)

var (
	deferred = marker.New2[int, string]("deferred:deferred", "n %d s %s")
	started  = marker.New1[uint16]("deferred:started", "n %d")
	none     = marker.New0("deferred:none", "")
	looped   = marker.New1[int64]("deferred:looped", "n %d")
	twice    = marker.New3[bool, float64, []byte]("deferred:twice", "b %t f %f raw %x")
	value    = marker.New1[int32]("deferred:value", "n %d")
	other    = marker.New1[int32]("deferred:other", "n %d")
	bound    = marker.New1[uint8]("deferred:bound", "n %d")
	literal  = marker.New1[int8]("deferred:literal", "n %d")
	pointed  = marker.New1[uint64]("deferred:pointed", "n %d")
	waits    sync.WaitGroup
)

//go:noinline
func once(n int, s string) {
	defer deferred.Mark(n, s)
	fmt.Fprint(os.Stderr)
}

//go:noinline
func loop(n int) {
	for i := range n {
		defer looped.Mark(int64(i))
	}
	defer none.Mark()
}

// Two closures in one function, whose places on the stack may be the same.
//
//go:noinline
func both(n int) {
	if n > 1 {
		defer twice.Mark(true, float64(n), []byte("x"))
		fmt.Fprint(os.Stderr)
		return
	}
	defer twice.Mark(false, 1, nil)
	defer deferred.Mark(n, "both")
	go started.Mark(uint16(n))
}

//go:noinline
func values(n int) {
	f := value.Mark
	f(int32(n))
	run(other.Mark)
	defer f(3)
	waits.Go(func() { run(other.Mark) })
}

//go:noinline
func run(f func(int32)) { f(2) }

//go:noinline
func calls(f func(uint8)) { f(1) }

//go:noinline
func through(m *marker.Marker1[uint64]) { m.Mark(1) }

func main() {
	n := len(os.Args)
	once(n, "x")
	go started.Mark(uint16(n))
	loop(3)
	both(n)
	both(n + 1)
	values(n)
	calls(bound.Mark)
	func() {
		defer func() { literal.Mark(int8(n)) }()
	}()
	through(&pointed)
	waits.Wait()
	fmt.Println("done")
}
