package recorder

import "runtime"

// quiesce returns when every goroutine that was pinned to its P when it was called has been
// unpinned: the world cannot be stopped while one is. It is the grace period of "RCU-sched", with
// the runtime's stop of the world in the place of a pass through the scheduler on every processor.
// TestQuiesce holds ReadMemStats to it.
func quiesce() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}
