package membarrier

import (
	"runtime"
	"sync"
	"syscall"
)

// From linux/membarrier.h. A command must have been registered by the process, once.
const (
	number = 324 // of the system call on x86-64

	privateExpedited         = 1 << 3
	registerPrivateExpedited = 1 << 4
	syncCore                 = 1 << 5
	registerSyncCore         = 1 << 6
)

type command struct {
	register, run uintptr
	once          sync.Once
	works         bool
}

var (
	memory = command{register: registerPrivateExpedited, run: privateExpedited}
	core   = command{register: registerSyncCore, run: syncCore}
)

// Memory makes every thread of the process pass a memory barrier.
func Memory() { memory.all() }

// Core makes every thread of the process pass a core serializing instruction before it runs
// on: none executes bytes that it had fetched before they were changed.
func Core() { core.all() }

func (c *command) all() {
	c.once.Do(func() { c.works = call(c.register) })
	if c.works && call(c.run) {
		return
	}
	// A seccomp filter may refuse it. Every thread that runs Go code is then stopped for some
	// microseconds, by a signal or by coming to the scheduler, which also is a barrier; and x86-64 keeps
	// instruction caches coherent, so that all that such a stop does not promise by the book is when.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}

func call(cmd uintptr) bool {
	_, _, errno := syscall.Syscall(number, cmd, 0, 0)
	return errno == 0
}
