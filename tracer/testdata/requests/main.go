// Command requests marks the begin and the end of requests in many goroutines, and counts and
// times them itself. It begins when its standard input has a line, and prints what it has
// counted as JSON.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/marker"
)

var (
	begin  = marker.New3[string, int64, bool]("req:begin", "path %s id %d even %t")
	end    = marker.New2[int64, float64]("req:end", "id %d load %f")
	queued = marker.New1[int64]("job:queued", "id %d")
	done   = marker.New2[int, int64]("job:done", "worker %d job %d")
	in     = marker.New1[int]("nest:in", "depth %d")
	out    = marker.New1[int]("nest:out", "depth %d")
)

// Paths are around the 64 bytes that a key keeps of a string.
var paths = []string{"", "/", "/ünï", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("a", 1000)}

// counted is what the program has counted and, in nanoseconds, timed: inside and around each
// pair of markers.
type counted struct {
	Paths        map[string]int
	Goroutines   map[string]int
	Inner, Outer []time.Duration
	Jobs         []time.Duration // from before queued to after done
}

func goroutine() string {
	var b [64]byte
	text, _, _ := bytes.Cut(bytes.TrimPrefix(b[:runtime.Stack(b[:], false)], []byte("goroutine ")), []byte(" "))
	return string(text)
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
	c := counted{Paths: map[string]int{}, Goroutines: map[string]int{}}
	var mu sync.Mutex
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range rounds {
				path := paths[(g+i)%len(paths)]
				before := time.Now()
				begin.Mark(path, int64(g*rounds+i), i%2 == 0)
				first := time.Now()
				time.Sleep(time.Duration(i%5) * 200 * time.Microsecond) // most wake on another thread
				last := time.Now()
				end.Mark(int64(g*rounds+i), 0.5)
				after := time.Now()
				mu.Lock()
				c.Paths[path]++
				c.Goroutines[goroutine()]++
				c.Inner, c.Outer = append(c.Inner, last.Sub(first)), append(c.Outer, after.Sub(before))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	jobs(&c, rounds)
	nest(3)
	if err := json.NewEncoder(os.Stdout).Encode(c); err != nil {
		panic(err)
	}
	os.Stdin.Read(make([]byte, 1))
}

// jobs begin in one goroutine and end in another, several at once.
func jobs(c *counted, rounds int) {
	type job struct {
		id     int64
		before time.Time
	}
	queue := make(chan job, 16)
	var workers sync.WaitGroup
	var mu sync.Mutex
	for w := range 4 {
		workers.Go(func() {
			for j := range queue {
				time.Sleep(100 * time.Microsecond)
				done.Mark(w, j.id)
				mu.Lock()
				c.Jobs = append(c.Jobs, time.Since(j.before))
				mu.Unlock()
			}
		})
	}
	for i := range rounds {
		before := time.Now()
		queued.Mark(int64(i))
		queue <- job{int64(i), before}
	}
	close(queue)
	workers.Wait()
}

func nest(depth int) {
	in.Mark(depth)
	if depth > 1 {
		nest(depth - 1)
	}
	out.Mark(depth)
}
