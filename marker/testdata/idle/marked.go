//go:build marked

package main

import "github.com/waymark-trace/waymark/marker"

var (
	one = marker.New2[int, string]("idle:one", "n %d s %s")
	two = marker.New0("idle:two", "")
)

//go:noinline
func pass(n int, s string) {
	one.Mark(n, s)
	two.Mark()
}
