// Command tricky marks in the ways that once misled link about types.
package main

import (
	"time"

	"github.com/waymark-trace/waymark/marker"
	other "github.com/waymark-trace/waymark/tracer/link/testdata/tricky/time"
)

// delay is not formatted as a time.Duration, because it has no String method.
type delay time.Duration

var (
	direct  = marker.New1[int32]("tricky:direct", "x %v")
	pointed = marker.New1[int64]("tricky:pointed", "x %v")
	first   = marker.New2[int8, string]("tricky:first", "a %v b %v")
	second  = marker.New2[uint16, float64]("tricky:second", "a %v b %v")
	generic = marker.New1[uint32]("tricky:generic", "x %v")
	method  = marker.New1[int16]("tricky:method", "x %v")
	took    = marker.New3[time.Duration, other.Duration, delay]("tricky:took", "a %s b %d c %d")
	unused  = marker.New1[int16]("tricky:unused", "x %v")
)

var sink *marker.Marker1[int32]

// viaPointer loads the address of one marker and marks another.
//
//go:noinline
func viaPointer(p *marker.Marker1[int64], v int64) {
	sink = &direct
	p.Mark(v)
}

//go:noinline
func branches(n int) {
	m, s := &first, "x"
	if n > 3 {
		second.Mark(uint16(n), 1)
		m.Mark(1, s)
	} else {
		first.Mark(2, s)
		second.Mark(3, 4)
	}
}

//go:noinline
func viaGeneric[T marker.Basic](m *marker.Marker1[T], v T) { m.Mark(v) }

func main() {
	direct.Mark(7)
	viaPointer(&pointed, 8)
	pointed.Mark(9)
	branches(1)
	branches(5)
	viaGeneric(&generic, 10)
	generic.Mark(11)
	f := method.Mark
	f(12)
	took.Mark(13, 14, 15)
	if unused.Enabled() {
		println("enabled")
	}
}
