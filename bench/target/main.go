// Command target is what the tracers benchmark traces: it passes a marker when told to and
// says how long that took.
//
// It reads commands, one a line, and answers each with a line:
//
//	on        waits until somebody is connected to the marker: "on", or "late" after 20 s
//	off       waits until nobody is: "off", or "late"
//	mark N    passes the marker N times: the nanoseconds that took
//	pair N    passes it and another one in turn, N times each: the same
//	pace N EVERY FIRST
//	          passes it N times, one every so many nanoseconds or as fast as it can, with numbers that
//	          begin with the first: the same
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/marker"
)

var (
	hit  = marker.New2[int, uintptr]("bench:hit", "n %d at %p")
	back = marker.New0("bench:back", "")
)

func main() {
	runtime.LockOSThread() // so that it stays where the benchmark put it
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		word, rest, _ := strings.Cut(in.Text(), " ")
		switch word {
		case "on":
			fmt.Println(await(true, "on"))
		case "off":
			fmt.Println(await(false, "off"))
		case "mark":
			measure(mark, rest)
		case "pair":
			measure(pair, rest)
		case "pace":
			var n, first int
			var every time.Duration
			if _, err := fmt.Sscanf(rest, "%d %d %d", &n, &every, &first); err != nil {
				fail(in.Text())
			}
			start := time.Now()
			pace(n, every, first)
			fmt.Println(time.Since(start).Nanoseconds())
		default:
			fail(in.Text())
		}
	}
}

func measure(pass func(int), times string) {
	n, err := strconv.Atoi(times)
	if err != nil {
		fail(times)
	}
	start := time.Now()
	pass(n)
	fmt.Println(time.Since(start).Nanoseconds())
}

func fail(command string) {
	fmt.Fprintln(os.Stderr, "target: no such command:", command)
	os.Exit(1)
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

//go:noinline
func pair(n int) {
	for i := range n {
		hit.Mark(i, 0)
		back.Mark()
	}
}

// pace spins between passes, as sleeping would be too coarse.
func pace(n int, every time.Duration, first int) {
	start := time.Now()
	for i := range n {
		for every > 0 && time.Since(start) < time.Duration(i)*every {
		}
		hit.Mark(first+i, 0)
	}
}
