// Command debugged passes one site while debuggers sit on it. It reads commands, one a line, and answers each
// with a line:
//
//	arm, disarm  "ok" or the error
//	pass         passes the site ten times: how often its probe was called
//	done         calls done, where debuggers wait: "done"
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/waymark-trace/waymark/marker"
)

var hit = marker.New1[int]("debugged:hit", "n %d")

var calls int

func main() {
	if _, err := hit.Register(func(int) { calls++ }); err != nil {
		panic(err)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var err error
		switch in.Text() {
		case "arm":
			err = hit.Arm()
		case "disarm":
			err = hit.Disarm()
		case "pass":
			calls = 0
			for i := range 10 {
				pass(i)
			}
			fmt.Println(calls)
			continue
		case "done":
			done()
			fmt.Println("done")
			continue
		}
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("ok")
	}
}

//go:noinline
func pass(n int) {
	hit.Mark(n) // a line of its own
}

//go:noinline
func done() {}
