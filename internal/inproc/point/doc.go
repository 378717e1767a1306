// Package point is the common state of traced markers and tracepoints: the list of probes, the
// calls in progress, and the number of hits. It imports only the standard library and does nothing
// until it is called.
//
// # How a probe is called without a lock, and Unregister still waits
//
// Every goroutine that calls probes has a record, found by the address of its g, in which it
// notes the points it is in. Only that goroutine writes its record, so entering and leaving
// are plain stores. It is the hazard pointer (M. Michael, IEEE TPDS 15(6), 2004) turned
// around: it protects the fact that a probe is not running, not memory.
//
//  1. A caller notes the point in its record, then loads the list of probes.
//     Otherwise Unregister could find no caller inside while one holds the old list.
//  2. Unregister publishes the new list, then fences, then reads every record.
//     Otherwise it could read before a note becomes visible, while that caller loads the old list.
//  3. The fence orders all threads of the process, not only its own: where callers store
//     plainly, membarrier(2) or a stop of the world does it; elsewhere callers' stores are
//     sequentially consistent and no fence is needed.
//     Otherwise the caller's store could still sit in its processor's buffer.
//  4. The note is a count, odd while the goroutine is inside. Unregister waits until it
//     changes. Otherwise a caller that always comes back would starve it.
//  5. A record is published in the table before its goroutine first notes anything, and never
//     leaves it. Otherwise a caller could be overlooked. Records are as many as the runtime's
//     own descriptors of goroutines, which it reuses and never frees.
//
// The same record tells a probe that marks its own point from another goroutine's call, exactly.
package point
