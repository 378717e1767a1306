package recorder

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// A stop of the world waits for who is pinned: invariant 6 of docs/rings.md depends on it, in every
// release of Go.
func TestQuiesce(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	var pinned, done atomic.Bool
	go func() {
		procPin()
		pinned.Store(true)
		for start := time.Now(); time.Since(start) < 50*time.Millisecond; {
		}
		done.Store(true)
		procUnpin()
	}()
	for !pinned.Load() {
		runtime.Gosched()
	}
	quiesce()
	if !done.Load() {
		t.Error("quiesce returned while a goroutine was pinned")
	}
}
