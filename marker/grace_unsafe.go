package marker

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// grace lets Unregister wait until every call that could have seen the old list of probes
// has returned, without a lock on the calling side and without starving behind calls that
// began later. It is sleepable RCU (McKenney, "Sleepable RCU", LWN 2006) with one change:
// a call counts up and down in the same shard, so shards can be looked at one by one.
//
// A caller counts itself in before it loads the list. Otherwise the waiter could find the
// shard empty while the caller holds the old list.
//
// The waiter publishes the new list before it looks at any shard. Otherwise a caller that
// counts in after the look could still load the old list.
//
// The waiter waits for the other epoch, flips, then waits for this one. Otherwise a caller
// that read the epoch before an earlier flip, and counted in after it, would be missed.
type grace struct {
	waiting sync.Mutex // one waiter at a time
	epoch   atomic.Uint32
	shards  [shards]shard
}

const shards = 16 // a power of two: callers on different goroutines rarely share one

type shard struct {
	calls [2]atomic.Int64 // in progress, by epoch
	_     [48]byte        // to a cache line of its own
}

// turn remembers where a call was counted in.
type turn struct{ calls *atomic.Int64 }

func (g *grace) enter() turn {
	// Goroutine stacks lie at least 2 KiB apart, so the address of a local spreads callers.
	var local byte
	i := uintptr(unsafe.Pointer(&local)) >> 11 % shards
	t := turn{&g.shards[i].calls[g.epoch.Load()&1]}
	t.calls.Add(1)
	return t
}

func (g *grace) leave(t turn) { t.calls.Add(-1) }

// wait returns when every call that entered before it has left.
func (g *grace) wait() {
	g.waiting.Lock()
	defer g.waiting.Unlock()
	now := g.epoch.Load() & 1
	g.drain(now ^ 1)
	g.epoch.Add(1)
	g.drain(now)
}

func (g *grace) drain(epoch uint32) {
	pause := time.Microsecond
	for i := range g.shards {
		for g.shards[i].calls[epoch].Load() != 0 {
			if pause < time.Millisecond {
				runtime.Gosched()
				pause *= 2
			} else {
				time.Sleep(time.Millisecond)
			}
		}
	}
}

// insideProbe reports whether this goroutine is in a call from a marker to its probes.
func insideProbe() bool {
	pcs := make([]uintptr, 64)
	n := runtime.Callers(2, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 2*len(pcs))
		n = runtime.Callers(2, pcs)
	}
	frames := runtime.CallersFrames(pcs[:n])
	for more := n > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if strings.HasPrefix(f.Function, runPrefix) && strings.HasSuffix(f.Function, runSuffix) {
			return true
		}
	}
	return false
}

const (
	runPrefix = "github.com/waymark-trace/waymark/marker.(*Marker"
	runSuffix = ").run"
)
