//go:build race

package point

import (
	"runtime"
	"unsafe"
)

// A record passes from a goroutine that ended to one that got its descriptor. The scheduler
// orders the two, which the race detector does not see: it is told.

func (c *Caller) acquire() { runtime.RaceAcquire(unsafe.Pointer(c)) }
func (c *Caller) release() { runtime.RaceReleaseMerge(unsafe.Pointer(c)) }
