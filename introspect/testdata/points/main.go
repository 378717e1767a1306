// Command points has points of every kind and way of declaring. For each line of its standard
// input, "json" or "text", it prints its own introspection; for "mark" it passes its points
// once, and for "gone" it removes its executable.
package main

import (
	"bufio"
	"fmt"
	"net/http/httptest"
	"os"

	"github.com/waymark-trace/waymark/introspect"
	"github.com/waymark-trace/waymark/introspect/testdata/points/v3.x"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

type label string

type entry struct{ key string }

var (
	start   = marker.New2[label, int]("points:start", "path %s attempt %d")
	twice   = marker.New0("points:same", "")
	again   = marker.New0("points:same", "")
	unnamed = marker.New1[bool]("unnamed", "yes %t")
	unused  = marker.New1[int]("points:unused", "n %d")
	wrong   = tracepoint.New0("points:not-a-name")
	evict   = tracepoint.New2[*entry, error]("points:evict")
	verbose = statickey.NewOn("points:verbose")
)

// A point within a larger variable.
var group = struct {
	before int64
	inside marker.Marker0
}{7, marker.New0("points:inside", "")}

//go:noinline
func pass(i int) {
	start.Mark("/x", i)
	twice.Mark()
	again.Mark()
	unnamed.Mark(i > 0)
	group.inside.Mark()
	evict.Trace(&entry{"k"}, nil)
	if verbose.Enabled() {
		v3.Start.Mark(i)
	}
}

func logged(*marker.Event) {}

func main() {
	heap := marker.New0("points:heap", "")
	check(heap.Arm())
	_, err := heap.Register(func() {})
	check(err)
	_, err = marker.Register("points:later", "", logged, nil)
	check(err)
	_, err = evict.Register(func(*entry, error) { panic("once") })
	check(err)
	unused.Enabled()
	wrong.Enabled()

	in := bufio.NewScanner(os.Stdin)
	for n := 1; in.Scan(); n++ {
		switch in.Text() {
		case "json", "text":
			w := httptest.NewRecorder()
			introspect.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/?format="+in.Text(), nil))
			fmt.Printf("%s\n.\n", w.Body)
		case "mark":
			heap.Mark()
			pass(n)
			fmt.Println(".")
		case "gone":
			exe, err := os.Executable()
			check(err)
			check(os.Remove(exe))
			fmt.Println(".")
		}
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
