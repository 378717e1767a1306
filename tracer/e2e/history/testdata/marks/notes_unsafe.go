package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// control is how the test directs the program, in memory that they and all children share.
type control struct {
	gate, over, next, pid, image, threads, burst, pause, forks, locked, exec, status, calm uint64

	refused, byFirst, byOther, armed uint64
}

// notes are what a thread writes of its marks. They are a file's, so they outlive the program.
type notes struct {
	id, pid, tid, image, child, born, state, goroutine uint64

	marks [marksMax]struct{ begin, mid, end uint64 }
}

const (
	running = iota
	parked
	ended
)

const failure = 99

func openControl(path string) *control {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		fail("opening the control", err)
	}
	return (*control)(mapped(f, int(unsafe.Sizeof(control{}))))
}

func newNotes(child, born, max uint64) *notes {
	id := atomic.AddUint64(&directed.next, 1)
	path := filepath.Join(dir, fmt.Sprint(id))
	file, err := os.OpenFile(path+".making", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		fail("making notes", err)
	}
	size := int64(unsafe.Offsetof(notes{}.marks)) + int64(max)*int64(unsafe.Sizeof(notes{}.marks[0]))
	if err := file.Truncate(size); err != nil {
		fail("making notes", err)
	}
	// Only the first max of the marks are mapped.
	f := (*notes)(mapped(file, int(size)))
	f.id, f.pid, f.image, f.child, f.born, f.goroutine = id, uint64(os.Getpid()), directed.image, child, born, goroutine()
	if directed.locked != 0 {
		f.tid = uint64(unix.Gettid())
	}
	if err := os.Rename(path+".making", path+".marks"); err != nil {
		fail("making notes", err)
	}
	return f
}

func mapped(f *os.File, size int) unsafe.Pointer {
	defer f.Close()
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		fail("mapping "+f.Name(), err)
	}
	return unsafe.Pointer(&b[0])
}

// pass returns once the gate is open. A thread that has seen it closed after it said that it runs has not marked since.
func (f *notes) pass() {
	for {
		atomic.StoreUint64(&f.state, running)
		if atomic.LoadUint64(&directed.gate) == 0 {
			return
		}
		atomic.StoreUint64(&f.state, parked)
		time.Sleep(500 * time.Microsecond)
	}
}

func fail(what string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	os.Exit(failure)
}
