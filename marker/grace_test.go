package marker

import (
	"testing"
	"time"
)

// A call that read the epoch before a flip and counted in after it is waited for all the same.
func TestGraceWaitsForStaleEpoch(t *testing.T) {
	var g grace
	stale := g.epoch.Load() & 1
	g.wait() // flips
	late := turn{&g.shards[3].calls[stale]}
	late.calls.Add(1)

	done := make(chan struct{})
	go func() {
		g.wait()
		close(done)
	}()
	select {
	case <-done:
		t.Fatal("wait returned while a call was in progress")
	case <-time.After(50 * time.Millisecond):
	}
	g.leave(late)
	<-done
}
