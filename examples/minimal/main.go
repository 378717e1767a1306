// Command minimal is the smallest program with a marker: one declaration, one call.
//
//	go build -o minimal ./examples/minimal && waymark link minimal
//	waymark stat -- ./minimal
package main

import (
	"flag"
	"fmt"
	"time"

	"github.com/waymark-trace/waymark/marker"
)

var requestStart = marker.New2[string, int]("http:request_start", "path %s attempt %d")

func main() {
	n := flag.Int("n", 10, "how many times to pass the marker")
	pause := flag.Duration("pause", 0, "how long to wait between two passes")
	flag.Parse()
	for attempt := range *n {
		requestStart.Mark("/x", attempt)
		time.Sleep(*pause)
	}
	fmt.Printf("http:request_start %d\n", *n)
}
