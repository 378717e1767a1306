// Command texts marks types by their String methods, ten times for every line that it reads. It
// prints how often these methods were called.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	_ "github.com/waymark-trace/waymark/agent/auto"
	"github.com/waymark-trace/waymark/marker"
)

type (
	state int
	title string
)

var (
	changed = marker.New3[marker.Text[state], int, marker.Text[title]]("texts:changed", "state %s n %d title %v")
	calls   int
)

func (s state) String() string {
	calls++
	if s == 7 {
		panic("seven")
	}
	return "state " + strconv.Itoa(int(s))
}

func (t title) String() string { return "the " + string(t) }

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		line := title(in.Text())
		for i := range 10 {
			changed.Mark(marker.TextOf(state(i)), i, marker.TextOf(line))
		}
		fmt.Println(calls)
	}
}
