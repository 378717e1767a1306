package point

import (
	"runtime"
	"unsafe"
)

// Func is a function of any type. Code that made it from a func(A, B) calls it as one again.
type Func unsafe.Pointer

// Event points to the data with which a probe of any point was registered. Only package marker
// knows its type. It is not an interface, because then every program would link the methods of
// marker.Event.
type Event unsafe.Pointer

// Entry returns the program counter of a function that is not nil.
func Entry(f Func) uintptr { return **(**uintptr)(unsafe.Pointer(&f)) }

// FuncName returns the name of the function with its entry at pc.
func FuncName(pc uintptr) string {
	if f := runtime.FuncForPC(pc); f != nil {
		return f.Name()
	}
	return "unknown"
}
