// Command numbered marks events with numbers, by several goroutines, as fast as it can: numbered WRITERS EACH [gc]. It begins
// when it is sent a line, or its input ends; with EACH 0 that end is the end.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	_ "github.com/waymark-trace/waymark/agent/auto"
	"github.com/waymark-trace/waymark/marker"
)

var event = marker.New2[uint32, uint64]("numbered:event", "writer %d seq %d")

func main() {
	writers, err := strconv.Atoi(os.Args[1])
	check(err)
	each, err := strconv.ParseUint(os.Args[2], 10, 64)
	check(err)
	in := bufio.NewReader(os.Stdin)
	_, _ = in.ReadString('\n') // or its end
	var over atomic.Bool
	if each == 0 {
		each = 1 << 62
		go func() {
			_, _ = in.ReadString('\n')
			over.Store(true)
		}()
	}
	if len(os.Args) > 3 {
		go func() {
			for {
				runtime.GC()
			}
		}()
	}
	var all sync.WaitGroup
	var marked atomic.Uint64
	for w := range writers {
		all.Go(func() {
			seq := uint64(0)
			for ; seq < each && !over.Load(); seq++ {
				event.Mark(uint32(w), seq)
			}
			marked.Add(seq)
		})
	}
	all.Wait()
	fmt.Println("marked", marked.Load())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
