package main

import (
	"github.com/waymark-trace/waymark/marker"
)

// Two arguments, a number and an address: what the kernel's own markers were measured with.
var (
	off = marker.New2[int, uintptr]("bench:off", "n %d at %p")
	on  = marker.New2[int, uintptr]("bench:on", "n %d at %p")
)

// loopRounds is the number of rounds of loops within this process.
const loopRounds = 51

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

//go:noinline
func onLoop(n int) {
	for i := range n {
		on.Mark(i, 0)
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
		{"empty loop", "", emptyLoop},
		{"empty loop, marker", "empty loop", offLoop},
		{"copy 4096", "", copyLoop},
		{"copy 4096, marker", "copy 4096", offCopyLoop},
	}), nil
}

func enabled(c config) ([]result, error) {
	probe, err := on.Register(func(int, uintptr) {})
	if err != nil {
		return nil, err
	}
	defer probe.Unregister()
	if err := on.Arm(); err != nil {
		return nil, err
	}
	defer on.Disarm()
	return interleave(c.roundsOr(loopRounds), []loop{
		{"marker off", "", offLoop},
		{"empty probe", "marker off", onLoop},
	}), nil
}

func (c config) roundsOr(n int) int {
	if c.rounds > 0 {
		return c.rounds
	}
	return n
}
