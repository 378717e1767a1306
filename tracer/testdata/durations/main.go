// Command durations marks durations from -1 to 8 milliseconds, once its standard input has a line.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/waymark-trace/waymark/marker"
)

var took = marker.New2[int, time.Duration]("durations:took", "n %d took %s")

func main() {
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
	for n := range 10 {
		took.Mark(n, time.Duration(n-1)*time.Millisecond)
	}
	fmt.Println("done")
	os.Stdin.Read(make([]byte, 1))
}
