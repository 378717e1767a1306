// Command target is what the tracers benchmark traces: it passes a marker when told to and
// says how long that took.
//
// It reads commands, one a line, and answers each with a line:
//
//	on        waits until somebody is connected to the marker: "on", or "late" after 20 s
//	off       waits until nobody is: "off", or "late"
//	mark N    passes the marker N times: the nanoseconds that took
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/waymark-trace/waymark/marker"
)

var hit = marker.New2[int, uintptr]("bench:hit", "n %d at %p")

func main() {
	runtime.LockOSThread() // so that it stays where the benchmark put it
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var n int
		switch {
		case in.Text() == "on":
			fmt.Println(await(true, "on"))
		case in.Text() == "off":
			fmt.Println(await(false, "off"))
		default:
			if _, err := fmt.Sscanf(in.Text(), "mark %d", &n); err != nil {
				fmt.Fprintln(os.Stderr, "target: no such command:", in.Text())
				os.Exit(1)
			}
			start := time.Now()
			mark(n)
			fmt.Println(time.Since(start).Nanoseconds())
		}
	}
}

const patience = 20 * time.Second

func await(on bool, answer string) string {
	for start := time.Now(); hit.Enabled() != on; time.Sleep(time.Millisecond) {
		if time.Since(start) > patience {
			return "late"
		}
	}
	return answer
}

//go:noinline
func mark(n int) {
	for i := range n {
		hit.Mark(i, 0)
	}
}
