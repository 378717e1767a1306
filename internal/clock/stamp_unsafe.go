//go:build (amd64 || arm64) && linux && !race

package clock

import "unsafe"

// Stamp returns the ticks of the clock and the address of this goroutine's descriptor.
type Stamp func() (ticks uint64, g uintptr)

// stampCode is the address of a function in assembly that returns both in the registers in which Go
// functions do. Called by its name it would go through a wrapper that moves them over the stack; a
// func value is a pointer to a code pointer, and has no wrapper.
var stampCode uintptr

// StampOf returns the function that stamps events with a clock. getg returns the address of the
// goroutine's descriptor where no instruction does.
func StampOf(k Kind, getg func() uintptr) Stamp {
	if k == counter {
		code := unsafe.Pointer(&stampCode)
		return *(*Stamp)(unsafe.Pointer(&code))
	}
	return func() (uint64, uintptr) { return uint64(nanotime()), getg() }
}
