// Command simplego passes simple markers in functions of many shapes, over and over. The test
// counts how often each is passed, with another package in the place of simple, and compares the
// hits at the addresses that link found.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/waymark-trace/waymark/simple"
)

const rounds = 200

type node struct {
	n, m int
	s    string
	next *node
	arr  [8]int
	f    func(int) int
}

type shape interface{ area(int) int }

type square struct{ side int }

var (
	total   int
	global  *node
	names   = map[string]int{}
	sink    any
	list    []int
	errLate = errors.New("late")
)

//go:noinline
func work(n int) int { return n*7 + total&1 }

//go:noinline
func fails(n int) (int, error) {
	if n%3 == 0 {
		return 0, errLate
	}
	return n, nil
}

func main() {
	if len(os.Args) > 5 {
		fmt.Println(dropped(1))
	}
	debug.SetGCPercent(5) // write barriers are on for part of the time
	sink = 1
	sum := 0
	for n := range rounds {
		p, q := &node{n: n}, &node{m: n}
		if n%11 == 0 {
			runtime.GC()
		}
		if n%6 == 0 {
			q = nil
		}
		sum += chooses(n) + loops([]int{n, 2, 3, n + 1, 5, 6, n * 2, 8}) + panics(n, make([]int, 10), q)
		pointers(p, q, n%8)
		sum += inlines(n, p) + virtual(square{n}, n) + generic([]int{n, 1}) + len(generic([]string{"a", "b"})) + int(generic([]float64{1}))
		sum += closures(n%5) + iterates(n%20) + len(branches(n, strconv.Itoa(n))) + table(n) + jumps(n) + channels(n%6) + maps(n, strconv.Itoa(n%9))
		if deferred(n) != nil {
			sum++
		}
		sum += grows(n%40) + many(1, n, 3, 4, 5, 6, 7, 8)
	}
	ended := make(chan int)
	go func() { ended <- grows(3000) }() // its stack grows under way
	sum += <-ended
	fmt.Fprintln(os.Stderr, sum != 0)
	simple.Mark0("x:exit", "")
}
