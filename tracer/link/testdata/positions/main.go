// Command positions passes 4096 sites at every place relative to words, cache lines and pages,
// of each of two shapes, while another goroutine toggles them, and checks that each pass
// behaves by one state or the other at every site, and by the settled one when it is settled.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/marker"
)

var point = marker.New0("positions:point", "")

func short(hits *int)
func near(hits *int)

const sites = 4096

func main() {
	duration, err := time.ParseDuration(os.Args[1])
	if err != nil {
		panic(err)
	}
	// state is odd when settled; then its second bit says on.
	var state, passes, settled atomic.Int64
	var stop atomic.Bool
	state.Store(1)
	failed := make(chan string, 2)
	for _, pass := range []func(*int){short, near} {
		go func() {
			for !stop.Load() {
				hits := 0
				before := state.Load()
				pass(&hits)
				after := state.Load()
				passes.Add(1)
				if before != after || before&1 == 0 {
					continue
				}
				settled.Add(1)
				want := 0
				if before&2 != 0 {
					want = sites
				}
				if hits != want {
					failed <- fmt.Sprintf("%d hits in a settled pass, want %d", hits, want)
					return
				}
			}
			failed <- ""
		}()
	}
	toggles := 0
	for end := time.Now().Add(duration); time.Now().Before(end); toggles++ {
		state.Add(1)
		if toggles%2 == 0 {
			err = point.Arm()
		} else {
			err = point.Disarm()
		}
		if err != nil {
			panic(err)
		}
		state.Add(1)
		for seen := settled.Load(); settled.Load() < seen+2 && len(failed) == 0; {
			runtime.Gosched()
		}
	}
	stop.Store(true)
	for range 2 {
		if s := <-failed; s != "" {
			fmt.Println(s)
			os.Exit(1)
		}
	}
	fmt.Println(toggles, "toggles", passes.Load(), "passes", settled.Load(), "settled")
}
