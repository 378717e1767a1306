// Command texts marks what is hard to read from outside: strings of every size around the
// sizes of an event's slots, the text of a literal that nobody has read, and the number of
// the goroutine that hits. It begins when its standard input has a line.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/waymark-trace/waymark/marker"
)

var (
	sized     = marker.New3[int, string, []byte]("texts:sized", "size %d text %s raw %x")
	literal   = marker.New1[string]("texts:literal", "text %s")
	wild      = marker.New3[string, int, string]("texts:wild", "bad %s n %d good %s")
	goroutine = marker.New1[int]("texts:goroutine", "number %d")
)

// Sizes is what sized is hit with.
var sizes = []int{0, 1, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 100_000}

// cold lies among other cold text, a page or more away from any text that is read.
//
//go:noinline
func cold() string { return coldText[len(coldText)-10:] }

// number returns the running goroutine's number, from the first line of its stack.
func number() int {
	var b [64]byte
	text, _, _ := bytes.Cut(bytes.TrimPrefix(b[:runtimeStack(b[:])], []byte("goroutine ")), []byte(" "))
	n, _ := strconv.Atoi(string(text))
	return n
}

func main() {
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
	literal.Mark(cold())
	for i, n := range sizes {
		s := strings.Repeat(string(rune('a'+i)), n)
		sized.Mark(n, s, []byte(s))
	}
	if wild.Enabled() {
		wild.Mark(wildText(), 5, "good")
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			n := number()
			for range 20 {
				goroutine.Mark(n)
			}
		})
	}
	wg.Wait()
	fmt.Println("done")
	os.Stdin.Read(make([]byte, 1))
}
