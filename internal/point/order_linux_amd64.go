//go:build !race

package point

import (
	"runtime"
	"sync"
	"syscall"
)

// put publishes a word of the caller's record. x86-64 keeps stores in order, and the fence
// brings them out of the processors' buffers.
func put(word *uintptr, value uintptr) { *word = value }

// Of membarrier(2); see linux/membarrier.h.
const (
	sysMembarrier       = 324
	privateExpedited    = 1 << 3
	registerPrivateExpd = 1 << 4
)

var membarrier struct {
	register sync.Once
	works    bool
}

// fence makes every thread of the process pass a memory barrier. Without membarrier, which
// a seccomp filter may refuse, the world is stopped for some microseconds: every thread that
// runs Go code passes a barrier on its way into and out of that.
func fence() {
	membarrier.register.Do(func() {
		_, _, errno := syscall.Syscall(sysMembarrier, registerPrivateExpd, 0, 0)
		membarrier.works = errno == 0
	})
	if membarrier.works {
		if _, _, errno := syscall.Syscall(sysMembarrier, privateExpedited, 0, 0); errno == 0 {
			return
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}
