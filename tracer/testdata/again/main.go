// Command again marks as many pairs as its argument says for each line of input: first as it was started, then as
// the program that a thread other than its first one has executed. That one marks as many before it does
// anything else.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"github.com/waymark-trace/waymark/marker"
)

var (
	begin = marker.New1[int]("again:begin", "pair %d")
	end   = marker.New1[int]("again:end", "pair %d")
	early = marker.New0("again:early", "")
)

func main() {
	runtime.LockOSThread() // so that the other goroutine runs on another thread
	n, _ := strconv.Atoi(os.Args[1])
	executed := len(os.Args) > 2
	for range n {
		if executed {
			early.Mark()
		}
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	for i := range n {
		begin.Mark(i)
		end.Mark(i)
	}
	if executed {
		fmt.Println("done")
		return
	}
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		fmt.Println(syscall.Exec("/proc/self/exe", []string{os.Args[0], os.Args[1], "executed"}, nil))
		close(done)
	}()
	<-done
}
