package main

import "github.com/waymark-trace/waymark/marker"

// Two arguments, a number and an address: what the kernel's own markers were measured with.
const format = "n %d at %p"

var off = marker.New2[int, uintptr]("bench:off", format)

// loopRounds is the number of rounds of loops within this process.
const loopRounds = 201

// The loops are not inlined because each is to be compiled as it stands, alone.

//go:noinline
func emptyLoop(n int) {
	for range n {
	}
}

//go:noinline
func offLoop(n int) {
	for i := range n {
		off.Mark(i, 0)
	}
}

var from, to [4096]byte

//go:noinline
func copyLoop(n int) {
	for range n {
		copy(to[:], from[:])
	}
}

//go:noinline
func offCopyLoop(n int) {
	for i := range n {
		copy(to[:], from[:])
		off.Mark(i, 0)
	}
}

func disabled(c config) ([]result, error) {
	return interleave(c.roundsOr(loopRounds), []loop{
		{name: "empty loop", run: emptyLoop},
		{name: "empty loop, marker", to: "empty loop", run: offLoop},
		{name: "copy 4096", run: copyLoop},
		{name: "copy 4096, marker", to: "copy 4096", run: offCopyLoop},
	}), nil
}

func (c config) roundsOr(n int) int {
	if c.rounds > 0 {
		return c.rounds
	}
	return n
}
