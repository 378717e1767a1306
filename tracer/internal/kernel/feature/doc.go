// Package feature asks the running kernel what it can do.
//
// An answer is one of three: supported (nil), not supported (an error that wraps
// ErrNotSupported), or could not tell (any other error). Only the first two are remembered.
// Nothing is concluded from version numbers: distributions backport.
package feature

import (
	"errors"
	"sync"
)

// ErrNotSupported says that the kernel does not have a feature.
var ErrNotSupported = errors.New("not supported by this kernel")

// Generation is the form of instruction at which the kernel replaces a uprobe's breakpoint
// by a call, which saves an exception for each hit.
type Generation uint8

const (
	// Breakpoint kernels have no such form.
	Breakpoint Generation = iota
	// Nop5 kernels optimize 5-byte nops: Linux 6.18 to 7.1.
	Nop5
	// Nop10 kernels optimize 10-byte nops: Linux 7.2 (554ba38456da "uprobes/x86: Move
	// optimized uprobe from nop5 to nop10"). A probe on a nop5 works, unoptimized.
	Nop10
)

var generationNames = [...]string{"breakpoint", "nop5", "nop10"}

func (g Generation) String() string { return generationNames[g] }

// answer remembers a conclusive answer.
type answer[T any] struct {
	mu    sync.Mutex
	known bool
	value T
	err   error
}

func (a *answer[T]) get(ask func() (T, error)) (T, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known {
		return a.value, a.err
	}
	v, err := ask()
	if err == nil || errors.Is(err, ErrNotSupported) {
		a.known, a.value, a.err = true, v, err
	}
	return v, err
}

var generation answer[Generation]

// UprobeGeneration returns the kernel's generation of optimized uprobes. The error is nil or
// says that it could not be told; probing at a plain location is right everywhere.
func UprobeGeneration() (Generation, error) { return generation.get(askGeneration) }
