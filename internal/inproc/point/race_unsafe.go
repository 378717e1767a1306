//go:build race

package point

import (
	"runtime"
	"unsafe"
)

// A record passes from a goroutine that ended to one that got its descriptor. The scheduler
// orders the two, but the race detector does not see that, so each call of the record reports it.

func (c *caller) acquire() {
	for i := range c.calls {
		runtime.RaceAcquire(unsafe.Pointer(&c.calls[i]))
	}
}

func (c *Call) release() { runtime.RaceReleaseMerge(unsafe.Pointer(c)) }
