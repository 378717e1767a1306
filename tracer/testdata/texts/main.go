// Command texts marks what is hard to read from outside: strings of every size around the
// sizes of an event's slots, text that is not in memory yet, and the number of the goroutine
// that hits. It begins when its standard input has a line.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/waymark-trace/waymark/marker"
)

var (
	sized     = marker.New3[int, string, []byte]("texts:sized", "size %d text %s raw %x")
	cold      = marker.New1[[]byte]("texts:cold", "text %s")
	wild      = marker.New3[string, int, string]("texts:wild", "bad %s n %d good %s")
	goroutine = marker.New1[int]("texts:goroutine", "number %d")
)

// Sizes is what sized is hit with.
var sizes = []int{0, 1, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 100_000}

// coldText returns the beginning of this program's file, mapped where nobody has touched it:
// reading it takes a page fault, as reading a literal can.
func coldText() []byte {
	path, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	text, err := syscall.Mmap(int(f.Fd()), 0, 1<<20, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		log.Fatal(err)
	}
	return text[:4]
}

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
	cold.Mark(coldText())
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
