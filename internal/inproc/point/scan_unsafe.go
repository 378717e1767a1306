package point

import (
	"slices"
	"time"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

// bounds are runtime.data, edata, bss and ebss, which assembly can name: points are
// package-level variables, so all of them lie there.
var bounds [4]uintptr

// Scan calls found with every word-aligned address in the program's data that has the magic of a
// point. It reads all of the data, some milliseconds for the largest of programs, and takes no lock.
// Initialized points were laid out by the compiler; the others were written by the program, which may
// be doing so now.
//
//go:norace
func Scan(magic [2]uint64, found func(at unsafe.Pointer, initialized bool)) {
	for i := 0; i < len(bounds); i += 2 {
		start, end := bounds[i], bounds[i+1]
		const word, size = unsafe.Sizeof(uintptr(0)), unsafe.Sizeof(magic)
		start = (start + word - 1) &^ (word - 1)
		for at := start; at+markerabi.OffMagic+size <= end; at += word {
			// Data is not of the heap: it neither moves nor is freed.
			p := *(*unsafe.Pointer)(unsafe.Pointer(&at))
			if *(*uint64)(unsafe.Add(p, markerabi.OffMagic)) == magic[0] && *(*uint64)(unsafe.Add(p, markerabi.OffMagic+8)) == magic[1] {
				found(p, i == 0)
			}
		}
	}
}

// Settled returns the points that are not being written now: their bytes between two members are
// the same a moment later. Points that the compiler laid out need no such test.
func Settled[P any](written []*P, from, to uintptr) (same []*P) {
	if len(written) == 0 {
		return nil
	}
	var before [][]uint32
	for _, p := range written {
		before = append(before, words(unsafe.Add(unsafe.Pointer(p), from), to-from))
	}
	time.Sleep(time.Millisecond)
	for i, p := range written {
		if slices.Equal(before[i], words(unsafe.Add(unsafe.Pointer(p), from), to-from)) {
			same = append(same, p)
		}
	}
	return same
}

// words copies memory that may be written meanwhile.
//
//go:norace
func words(p unsafe.Pointer, size uintptr) []uint32 {
	copied := make([]uint32, size/4)
	for i := range copied {
		copied[i] = *(*uint32)(unsafe.Add(p, 4*i))
	}
	return copied
}

// IsWhole reports whether a text that another goroutine may have been writing has both its pointer and its length.
func IsWhole(s string) bool { return (unsafe.StringData(s) != nil) == (len(s) > 0) }
