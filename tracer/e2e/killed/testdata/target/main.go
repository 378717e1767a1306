// Command target passes markers until it is told to end, and answers whether they are armed.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	_ "github.com/waymark-trace/waymark/agent/auto"
	"github.com/waymark-trace/waymark/marker"
)

var (
	begin = marker.New2[string, int]("killed:begin", "item %s n %d")
	end   = marker.New2[int, bool]("killed:end", "n %d even %t")
	other = marker.New1[float64]("killed:other", "x %g")
)

func main() {
	var over atomic.Bool
	ended := make(chan struct{})
	go func() {
		for n := 0; !over.Load(); n++ {
			begin.Mark("item", n)
			end.Mark(n, n%2 == 0)
			other.Mark(float64(n))
			time.Sleep(200 * time.Microsecond)
		}
		close(ended)
	}()
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan() && in.Text() != "end"; {
		fmt.Println("armed", begin.Enabled() || end.Enabled() || other.Enabled())
	}
	over.Store(true)
	<-ended
	fmt.Println("ended")
	os.Exit(7)
}
