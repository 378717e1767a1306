// Command crash marks at full rate until it dies.
package main

/*
static void crash(void) { *(volatile int *)0 = 0; }
*/
import "C"

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/marker"
)

var event = marker.New3[uint64, uint64, string]("crash:event", "writer %d seq %d text %s")

func main() {
	dir, end := os.Args[1], os.Args[2]
	mode, err := strconv.Atoi(os.Args[3])
	check(err)
	writers, err := strconv.Atoi(os.Args[4])
	check(err)
	f, err := os.Create(filepath.Join(dir, "progress"))
	check(err)
	check(f.Truncate(int64(64 * writers)))
	memory, err := syscall.Mmap(int(f.Fd()), 0, 64*writers, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	check(err)
	s, err := recorder.Start(recorder.Options{Dir: dir, Name: "crash", Mode: ring.Mode(mode), Size: 4 << 20, MaxString: 16 << 10})
	check(err)
	if ring.Mode(mode) == ring.Discard {
		go consume(s.Path()) // or nothing would be written soon
	}
	var texts [26]string
	for i := range texts {
		texts[i] = strings.Repeat(string(rune('a'+i)), 16000)
	}
	for w := range uint64(writers) {
		begun := (*uint64)(unsafe.Pointer(&memory[64*w]))
		done := (*uint64)(unsafe.Pointer(&memory[64*w+8]))
		go func() {
			for seq := uint64(1); ; seq++ {
				atomic.StoreUint64(begun, seq)
				event.Mark(w, seq, texts[seq%26][:seq%16000])
				atomic.StoreUint64(done, seq)
			}
		}()
	}
	fmt.Println("marking")
	io.Copy(io.Discard, os.Stdin)
	switch end {
	case "panic":
		panic("as it was told")
	case "segv":
		C.crash()
	}
	select {}
}

// consume reads and gives back until the program ends.
func consume(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	check(err)
	r, err := ring.Open(f)
	check(err)
	for {
		for i := range r.Rings() {
			for {
				rec, err := r.Next(i)
				check(err)
				if rec == nil {
					break
				}
			}
			check(r.Consume(i))
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
