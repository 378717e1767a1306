// Command quiet is a program that nobody traces: it works, prints what came of it, then how many
// goroutines it has and how much memory is resident. With an argument it then waits for ever.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

var (
	sorted  = marker.New2[int, string]("quiet:sorted", "n %d text %s")
	hashed  = tracepoint.New1[uint64]("quiet:hashed")
	verbose = statickey.New("quiet:verbose")
	strict  = statickey.NewOn("quiet:strict")
)

//go:noinline
func work(n int) (hash uint64) {
	words := make([]string, n)
	for i := range words {
		words[i] = strings.Repeat(string(rune('a'+i*7%26)), i%5+1)
	}
	sort.Strings(words)
	for i, w := range words {
		sorted.Mark(i, w)
		for _, c := range []byte(w) {
			hash = (hash ^ uint64(c)) * 1099511628211
			hashed.Trace(hash)
		}
		if verbose.Enabled() {
			fmt.Println(w)
		}
		if strict.Enabled() && len(w) == 0 {
			panic("empty")
		}
	}
	return hash
}

// ballast is what a small program has besides: a hundredth of it is some pages.
var ballast = make([]byte, 16<<20)

func main() {
	for i := range ballast {
		ballast[i] = byte(i)
	}
	var hash uint64
	for n := range 500 {
		hash += work(n)
	}
	fmt.Println("hash", hash)
	fmt.Fprintln(os.Stderr, runtime.NumGoroutine())
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS:") {
			fmt.Fprint(os.Stderr, strings.TrimPrefix(line, "VmRSS:"))
		}
	}
	if len(os.Args) > 1 {
		select {}
	}
}
