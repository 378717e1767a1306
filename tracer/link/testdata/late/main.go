// Command late has markers that the compiler lays out, and two that are made while it runs.
package main

import (
	"fmt"
	"os"

	"github.com/waymark-trace/waymark/marker"
)

func key() string { return os.Getenv("LATE") }

var (
	plain   = marker.New1[int]("late:plain", "n %d")
	dynamic = marker.New1[int]("late:dynamic"+key(), "n %d") //waymark:ignore what is tested
	empty   = marker.New0("late:empty", "")
	text    = marker.New2[string, bool]("late:text", "s %s b %t")
)

//go:noinline
func local(n int) {
	m := marker.New1[int]("late:local", "n %d") //waymark:ignore what is tested
	m.Mark(n)
}

func main() {
	for i := range 3 {
		plain.Mark(i)
		dynamic.Mark(i)
		empty.Mark()
		text.Mark("x", i > 0)
		local(i)
	}
	fmt.Println("done")
}
