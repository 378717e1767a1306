package point

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"unsafe"
)

// Goroutine returns the number of this goroutine: the one in tracebacks, which no other
// goroutine of the process ever has.
func Goroutine() uint64 {
	if offset := NumberOffset(); offset != 0 {
		return numberAt(getg(), offset)
	}
	return printedNumber()
}

var number struct {
	search sync.Once
	offset uintptr
}

// numberOffset returns the offset of the goroutine ID in the runtime's descriptors, 0 when it is
// unknown. The runtime has no interface for the ID; printing a traceback is the only documented way,
// and takes microseconds. So the offset is searched once, and accepted if it holds the printed IDs of
// several goroutines. No table of releases can go stale here.
func numberOffset() uintptr {
	var places []uintptr
	for at := uintptr(minNumber); at < searched; at += unsafe.Sizeof(at) {
		places = append(places, at)
	}
	for range 8 {
		done := make(chan bool)
		go func() {
			defer close(done)
			g, want := getg(), printedNumber()
			kept := places[:0]
			for _, at := range places {
				if numberAt(g, at) == want {
					kept = append(kept, at)
				}
			}
			places = kept
		}()
		<-done
	}
	if len(places) != 1 {
		return 0
	}
	return places[0]
}

const (
	minNumber = 8                              // descriptors begin with the bounds of the stack
	searched  = 32 * unsafe.Sizeof(uintptr(0)) // well below their size, well above the place so far, 19 words
)

// numberAt reads a word of a goroutine's own descriptor. Its number does not change while it lives.
func numberAt(g, offset uintptr) uint64 {
	return *(*uint64)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&g)), offset))
}

// printedNumber returns the number as the runtime prints it: "goroutine 123 [running]".
func printedNumber() uint64 {
	var room [64]byte
	text := bytes.TrimPrefix(room[:runtime.Stack(room[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(text, []byte(" "))
	n, _ := strconv.ParseUint(string(digits), 10, 64)
	return n
}
