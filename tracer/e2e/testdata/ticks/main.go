// Command ticks marks the same hundred hits on each run, in one thread: scripts on it are compared with bpftrace.
package main

import "github.com/waymark-trace/waymark/marker"

// The texts end with a NUL, at which bpftrace's str and scripts end them.
var tick = marker.New3[int, int64, string]("ticks:tick", "n %d number %d parity %s")

func main() {
	random := uint64(42)
	for i := range 100 {
		random = random*6364136223846793005 + 1442695040888963407
		number := int64(random >> 44)
		if i == 1 {
			number -= 2_000_000_000_000
		}
		parity := "even\x00"
		if i%2 == 1 {
			parity = "odd\x00"
		}
		tick.Mark(i, number, parity)
	}
}
