// Command agent is a program that can be looked at without privilege: it imports the agent.
//
//	agent             works until it is interrupted
//	agent -n 100      works a hundred times
//
// Look at it with waymark list, stat, trace and record, with -p and its number; switch its key with
// waymark key on. At its end it prints how often it worked.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/waymark-trace/waymark/agent/auto"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

var (
	begin   = marker.New2[string, int]("work:begin", "item %s n %d")
	end     = marker.New2[int, bool]("work:end", "n %d even %t")
	verbose = statickey.New("work:verbose")
	done    = tracepoint.New2[*item, error]("work:done", "item", "err")
)

type item struct{ n int }

func main() {
	times := flag.Int("n", 1<<30, "work so `many` times")
	pause := flag.Duration("pause", time.Millisecond, "pause before each time")
	flag.Parse()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	n := 0
	for ; n < *times && !over(stop, *pause); n++ {
		work(&item{n})
	}
	fmt.Println("worked", n, "times")
}

// over waits for a moment, and reports whether it is all over.
func over(stop <-chan os.Signal, pause time.Duration) bool {
	select {
	case <-stop:
		return true
	case <-time.After(pause):
		return false
	}
}

func work(i *item) {
	begin.Mark("item", i.n)
	if verbose.Enabled() {
		fmt.Println("verbose: item", i.n)
	}
	done.Trace(i, nil)
	end.Mark(i.n, i.n%2 == 0)
}
