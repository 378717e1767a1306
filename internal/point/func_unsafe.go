package point

import (
	"runtime"
	"unsafe"
)

// Func is a function of any type. Whoever made it of a func(A, B) calls it as one again.
type Func unsafe.Pointer

// Event is what a probe of any point's arguments was registered with. Package marker alone knows its
// type. It is no interface, because every program would then hold the methods of marker.Event.
type Event unsafe.Pointer

// Entry returns the program counter of a function that is not nil.
func Entry(f Func) uintptr { return **(**uintptr)(unsafe.Pointer(&f)) }

// FuncName returns the name of the function whose entry is at pc.
func FuncName(pc uintptr) string {
	if f := runtime.FuncForPC(pc); f != nil {
		return f.Name()
	}
	return "unknown"
}
