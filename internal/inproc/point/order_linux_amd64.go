//go:build !race

package point

import "github.com/waymark-trace/waymark/internal/inproc/membarrier"

// put publishes a word of the caller's record. x86-64 keeps stores in order, and the fence
// brings them out of the processors' buffers.
func put(word *uintptr, value uintptr) { *word = value }

// fence makes every thread of the process pass a memory barrier.
func fence() { membarrier.Memory() }
