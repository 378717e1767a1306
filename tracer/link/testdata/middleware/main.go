// Command middleware marks in closures that functions return: the compiler copies those of functions that it inlines.
package main

import (
	"os"
	"strconv"

	"github.com/waymark-trace/waymark/marker"
)

var (
	copied  = marker.New2[string, int]("middleware:copied", "path %s n %d")
	kept    = marker.New1[string]("middleware:kept", "path %s")
	generic = marker.New1[string]("middleware:generic", "value %s")
)

type handler interface{ serve(path string) }

type handlerFunc func(path string)

func (f handlerFunc) serve(path string) { f(path) }

func mw(h handler, n int) handler {
	return handlerFunc(func(path string) {
		copied.Mark(path, n)
		h.serve(path)
	})
}

//go:noinline
func outOfLine(h handler) handler {
	return handlerFunc(func(path string) {
		kept.Mark(path)
		h.serve(path)
	})
}

type set[T any] struct{ text func(T) string }

func (s set[T]) each() func(T) {
	return func(v T) { generic.Mark(s.text(v)) }
}

func main() {
	outOfLine(mw(handlerFunc(func(path string) { println(path) }), len(os.Args))).serve("/x")
	set[int]{strconv.Itoa}.each()(len(os.Args))
}
