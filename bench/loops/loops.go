package main

import "github.com/waymark-trace/waymark/marker"

// Two arguments, a number and an address: what the kernel's own markers were measured with.
const format = "n %d at %p"

// Markers that nobody looks at.
var (
	off0 = marker.New2[int, uintptr]("bench:off0", format)
	off1 = marker.New2[int, uintptr]("bench:off1", format)
	off2 = marker.New2[int, uintptr]("bench:off2", format)
	off3 = marker.New2[int, uintptr]("bench:off3", format)
	off4 = marker.New2[int, uintptr]("bench:off4", format)
	off5 = marker.New2[int, uintptr]("bench:off5", format)
	off6 = marker.New2[int, uintptr]("bench:off6", format)
	off7 = marker.New2[int, uintptr]("bench:off7", format)
)

// Where the linker puts a loop can cost it a cycle. So bench adds copies of the functions in this
// file, each 7 bytes further than the one before by another increment at its begin, and counts them all. They are
// not inlined because each is to be compiled as it stands, alone.
var copies = map[string][]func(int){
	"empty":      {empty},
	"empty1":     {empty1},
	"empty8":     {empty8},
	"whole":      {whole},
	"whole1":     {whole1},
	"parts":      {parts},
	"parts8":     {parts8},
	"work":       {work},
	"work8":      {work8},
	"coldEmpty":  {coldEmpty},
	"coldEmpty1": {coldEmpty1},
	"coldEmpty8": {coldEmpty8},
	"coldParts":  {coldParts},
	"coldParts8": {coldParts8},
}

var (
	passed   int
	worked   uint64
	spent    uint64 // ticks, in loops that time their passes themselves
	from, to [4096]byte
)

//go:noinline
func empty(n int) {
	for range n {
	}
}

//go:noinline
func empty1(n int) {
	for i := range n {
		off0.Mark(i, 0)
	}
}

//go:noinline
func empty8(n int) {
	for i := range n {
		off0.Mark(i, 0)
		off1.Mark(i, 0)
		off2.Mark(i, 0)
		off3.Mark(i, 0)
		off4.Mark(i, 0)
		off5.Mark(i, 0)
		off6.Mark(i, 0)
		off7.Mark(i, 0)
	}
}

//go:noinline
func whole(n int) {
	for range n {
		copy(to[:], from[:])
	}
}

//go:noinline
func whole1(n int) {
	for i := range n {
		copy(to[:], from[:])
		off0.Mark(i, 0)
	}
}

//go:noinline
func parts(n int) {
	for range n {
		copy(to[:512], from[:512])
		copy(to[512:1024], from[512:1024])
		copy(to[1024:1536], from[1024:1536])
		copy(to[1536:2048], from[1536:2048])
		copy(to[2048:2560], from[2048:2560])
		copy(to[2560:3072], from[2560:3072])
		copy(to[3072:3584], from[3072:3584])
		copy(to[3584:], from[3584:])
	}
}

//go:noinline
func parts8(n int) {
	for i := range n {
		copy(to[:512], from[:512])
		off0.Mark(i, 0)
		copy(to[512:1024], from[512:1024])
		off1.Mark(i, 0)
		copy(to[1024:1536], from[1024:1536])
		off2.Mark(i, 0)
		copy(to[1536:2048], from[1536:2048])
		off3.Mark(i, 0)
		copy(to[2048:2560], from[2048:2560])
		off4.Mark(i, 0)
		copy(to[2560:3072], from[2560:3072])
		off5.Mark(i, 0)
		copy(to[3072:3584], from[3072:3584])
		off6.Mark(i, 0)
		copy(to[3584:], from[3584:])
		off7.Mark(i, 0)
	}
}

// Each step of the work needs the one before: a multiplication and a rotation.
const factor = 0x9e3779b97f4a7c15

func step(x uint64) uint64 { x *= factor; return x<<17 | x>>47 }

//go:noinline
func work(n int) {
	x := uint64(n)
	for range n {
		x = step(x)
		x = step(x)
		x = step(x)
		x = step(x)
		x = step(x)
		x = step(x)
		x = step(x)
		x = step(x)
	}
	worked = x
}

//go:noinline
func work8(n int) {
	x := uint64(n)
	for i := range n {
		x = step(x)
		off0.Mark(i, 0)
		x = step(x)
		off1.Mark(i, 0)
		x = step(x)
		off2.Mark(i, 0)
		x = step(x)
		off3.Mark(i, 0)
		x = step(x)
		off4.Mark(i, 0)
		x = step(x)
		off5.Mark(i, 0)
		x = step(x)
		off6.Mark(i, 0)
		x = step(x)
		off7.Mark(i, 0)
	}
	worked = x
}

// Before each pass of the cold loops no cache has the armed words, as in a big program whose
// markers are passed now and then. Throwing them out is not counted.

//go:noinline
func coldEmpty(n int) {
	for range n {
		start := flushed()
		spent += ticks() - start
	}
}

//go:noinline
func coldEmpty1(n int) {
	for i := range n {
		start := flushed()
		off0.Mark(i, 0)
		spent += ticks() - start
	}
}

//go:noinline
func coldEmpty8(n int) {
	for i := range n {
		start := flushed()
		off0.Mark(i, 0)
		off1.Mark(i, 0)
		off2.Mark(i, 0)
		off3.Mark(i, 0)
		off4.Mark(i, 0)
		off5.Mark(i, 0)
		off6.Mark(i, 0)
		off7.Mark(i, 0)
		spent += ticks() - start
	}
}

//go:noinline
func coldParts(n int) {
	for range n {
		start := flushed()
		copy(to[:512], from[:512])
		copy(to[512:1024], from[512:1024])
		copy(to[1024:1536], from[1024:1536])
		copy(to[1536:2048], from[1536:2048])
		copy(to[2048:2560], from[2048:2560])
		copy(to[2560:3072], from[2560:3072])
		copy(to[3072:3584], from[3072:3584])
		copy(to[3584:], from[3584:])
		spent += ticks() - start
	}
}

//go:noinline
func coldParts8(n int) {
	for i := range n {
		start := flushed()
		copy(to[:512], from[:512])
		off0.Mark(i, 0)
		copy(to[512:1024], from[512:1024])
		off1.Mark(i, 0)
		copy(to[1024:1536], from[1024:1536])
		off2.Mark(i, 0)
		copy(to[1536:2048], from[1536:2048])
		off3.Mark(i, 0)
		copy(to[2048:2560], from[2048:2560])
		off4.Mark(i, 0)
		copy(to[2560:3072], from[2560:3072])
		off5.Mark(i, 0)
		copy(to[3072:3584], from[3072:3584])
		off6.Mark(i, 0)
		copy(to[3584:], from[3584:])
		off7.Mark(i, 0)
		spent += ticks() - start
	}
}
