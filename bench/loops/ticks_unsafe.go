//go:build amd64

package main

import (
	"unsafe"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

func ticks() uint64

//go:noescape
func flush(words *[8]unsafe.Pointer)

func oneByte()
func stepped()

// words are the armed words of the markers that nobody looks at.
var words = [8]unsafe.Pointer{
	word(unsafe.Pointer(&off0)), word(unsafe.Pointer(&off1)), word(unsafe.Pointer(&off2)), word(unsafe.Pointer(&off3)),
	word(unsafe.Pointer(&off4)), word(unsafe.Pointer(&off5)), word(unsafe.Pointer(&off6)), word(unsafe.Pointer(&off7)),
}

func word(marker unsafe.Pointer) unsafe.Pointer { return unsafe.Add(marker, markerabi.OffArmed) }

// flushed throws the armed words out of all caches and returns the ticks then.
func flushed() uint64 {
	flush(&words)
	return ticks()
}
