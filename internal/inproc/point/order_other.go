//go:build !linux || !amd64 || race

package point

import "sync/atomic"

// put publishes a word of the caller's record, in the one order of all atomic operations.
func put(word *uintptr, value uintptr) { atomic.StoreUintptr(word, value) }

// fence has nothing to add to that.
func fence() {}
