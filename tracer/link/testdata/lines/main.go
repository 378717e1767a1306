// Command lines marks beside inlined code: each marker's name has the line that it is marked on.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

var (
	before = marker.New1[bool]("lines:l40", "b %t")
	chain  = marker.New1[string]("lines:l45", "s %s")
	helped = marker.New1[int]("lines:l32", "n %d")
	loop   = marker.New1[int]("lines:l53", "n %d")
	point  = tracepoint.New1[int]("lines:l54")
	key    = statickey.New("lines:l55")
)

var total int

func add(n int) int {
	total += n
	return total
}

func help(n int) {
	add(n)
	helped.Mark(add(n))
	add(n)
}

//go:noinline
func serve(path string) {
	ok := strings.HasPrefix(path, "/a")
	n := len(path)
	before.Mark(ok && strings.HasSuffix(path, "z"))
	if add(n) > 3 {
		path = strings.TrimPrefix(path, "/")
	}
	s := first(path)
	chain.Mark(s)
	help(n)
}

func first(s string) string { return s[:min(1, len(s))] }

func main() {
	for i := range len(os.Args) + 1 {
		loop.Mark(add(i))
		point.Trace(add(i))
		if key.Enabled() {
			add(i)
		}
		serve("/abc")
	}
	fmt.Println("done")
}
