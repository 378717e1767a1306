//go:build !((amd64 || arm64) && linux) || race

package clock

// Stamp returns the ticks of the clock and the address of this goroutine's descriptor.
type Stamp func() (ticks uint64, g uintptr)

// StampOf returns the function that stamps events with a clock. getg returns the address of the
// goroutine's descriptor.
func StampOf(k Kind, getg func() uintptr) Stamp {
	if k == Monotonic {
		return func() (uint64, uintptr) { return uint64(nanotime()), getg() }
	}
	return func() (uint64, uintptr) { return count(), getg() }
}
