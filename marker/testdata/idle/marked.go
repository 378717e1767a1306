//go:build marked

package main

import (
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/tracepoint"
)

var (
	one = marker.New2[int, string]("idle:one", "n %d s %s")
	two = marker.New0("idle:two", "")

	typed = tracepoint.New2[int, *string]("idle:typed", "n", "s")
)

//go:noinline
func pass(n int, s string) {
	one.Mark(n, s)
	two.Mark()
	typed.Trace(n, nil)
}
