// Command loops passes markers in loops, when told to, and says how long that took. bench links
// it twice, with and without --optimize: the same code lies at the same addresses then.
//
// It reads commands, one a line, and answers each with a line:
//
//	time LOOP N    runs each copy of the loop N times: the nanoseconds of each copy
//	allocs LOOP N  runs it N times: the number of allocations
//	both LOOP N    runs it N times on each of two pinned threads at once: the nanoseconds
//	arm PROBE      connects the probes of that name: "ok"
//	disarm PROBE   disconnects them: "ok"
//	ticks          cycles of the time stamp counter in a second
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/bench/pin"
)

// The CPUs that this process may run on. This thread keeps to the first of them, bench to the second.
var (
	cpus    []int
	errCPUs error
)

func main() {
	runtime.LockOSThread()
	cpus, errCPUs = pin.CPUs()
	if errCPUs == nil {
		errCPUs = pin.Thread(cpus[0])
	}
	defer runtime.KeepAlive(kept)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer, err := obey(strings.Fields(in.Text()))
		if err != nil {
			fmt.Fprintf(os.Stderr, "loops: %s: %v\n", in.Text(), err)
			os.Exit(1)
		}
		fmt.Println(answer)
	}
}

var errCommand = errors.New("no such command")

func obey(words []string) (string, error) {
	if len(words) == 1 && words[0] == "ticks" {
		return strconv.FormatUint(tickRate(), 10), nil
	}
	if len(words) < 2 {
		return "", errCommand
	}
	name := words[1]
	switch words[0] {
	case "arm":
		return "ok", arm(name)
	case "disarm":
		return "ok", disarm(name)
	}
	loops := loopsOf(name)
	if len(words) < 3 || loops == nil {
		return "", errCommand
	}
	n, err := strconv.Atoi(words[2])
	if err != nil {
		return "", err
	}
	switch words[0] {
	case "time":
		var times []string
		for _, run := range loops {
			times = append(times, strconv.FormatFloat(timed(run, n), 'f', 0, 64))
		}
		return strings.Join(times, " "), nil
	case "allocs":
		return strconv.FormatUint(allocations(loops[0], n), 10), nil
	case "both":
		took, err := together(loops[0], n)
		return strconv.FormatInt(took.Nanoseconds(), 10), err
	}
	return "", errCommand
}

// timed returns the nanoseconds that a loop took: by its own count of ticks where it keeps one.
func timed(run func(int), n int) float64 {
	spent = 0
	start := time.Now()
	run(n)
	took := float64(time.Since(start).Nanoseconds())
	if spent > 0 {
		return float64(spent) * 1e9 / float64(tickRate())
	}
	return took
}

func allocations(run func(int), n int) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run(n)
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

var rate uint64

// tickRate measures the time stamp counter against the clock, once.
func tickRate() uint64 {
	for rate == 0 {
		start, from := time.Now(), ticks()
		time.Sleep(50 * time.Millisecond)
		n := ticks() - from
		if n == 0 {
			return 1e9 // ticks are nanoseconds here
		}
		rate = uint64(float64(n) / time.Since(start).Seconds())
	}
	return rate
}
