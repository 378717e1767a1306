// Command marks is testdata/marks.c in Go: its goroutines mark (thread, sequence) and write the same into a file for each.
package main

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	_ "github.com/waymark-trace/waymark/agent/auto"
	"github.com/waymark-trace/waymark/marker"
	"golang.org/x/sys/unix"
)

var (
	marked = marker.New3[uint32, uint64, string]("history:mark", "thread %d seq %d text %s")
	done   = marker.New3[uint32, uint64, uint64]("history:done", "thread %d seq %d check %x")
)

const (
	childMarks = 64
	marksMax   = 1 << 20
)

var (
	directed *control
	dir      string
	limits   []uint64
	// How children ended otherwise than they should, or were stopped.
	wrong, stops atomic.Uint64
)

func main() {
	runtime.LockOSThread() // so that it is the first thread which executes for goroutine 0
	dir = os.Args[1]
	directed = openControl(filepath.Join(dir, "control"))
	if len(os.Args) == 5 && os.Args[2] == "child" {
		child(number(os.Args[3]), number(os.Args[4]))
	}
	go func() { // whatever becomes of the test
		time.Sleep(10 * time.Minute)
		os.Exit(failure)
	}()
	directed.image++
	atomic.StoreUint64(&directed.pid, uint64(os.Getpid()))
	for _, arg := range os.Args[2:] {
		limits = append(limits, number(arg))
	}
	threads := directed.threads
	sums, counts := make([]uint64, threads), make([]uint64, threads)
	var all sync.WaitGroup
	for slot := uint64(1); slot < threads; slot++ {
		all.Go(func() { sums[slot], counts[slot] = work(slot) })
	}
	if limits == nil {
		go func() {
			for {
				armed := uint64(0)
				if marked.Enabled() || done.Enabled() {
					armed = 1
				}
				atomic.StoreUint64(&directed.armed, armed)
				time.Sleep(2 * time.Millisecond)
			}
		}()
	}
	sums[0], counts[0] = work(0)
	all.Wait()
	for limits == nil && atomic.LoadUint64(&directed.calm) != 0 {
		time.Sleep(time.Millisecond)
	}
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil && err != syscall.EINTR {
			break
		}
	}
	for slot := range sums {
		fmt.Printf("thread %d marked %d, sum %016x\n", slot, counts[slot], sums[slot])
	}
	fmt.Printf("%d children ended otherwise, %d were stopped\n", wrong.Load(), stops.Load())
	os.Exit(int(directed.status))
}

func work(slot uint64) (sum, seq uint64) {
	n := uint64(marksMax)
	if limits != nil {
		n = limits[slot]
	}
	if directed.locked != 0 {
		runtime.LockOSThread()
	}
	f := newNotes(0, 0, n)
	random := f.id
	for ; seq < n; seq++ {
		if limits == nil {
			f.pass()
			if atomic.LoadUint64(&directed.over) != 0 {
				break
			}
			if atomic.LoadUint64(&directed.exec) == slot+1 {
				execute()
			}
			random = scramble(random + seq + 1)
			if forks := atomic.LoadUint64(&directed.forks); random%1_000_000 < forks {
				f.reproduce(scramble(random))
			}
			if burst := directed.burst; burst != 0 && seq%burst == burst-1 {
				time.Sleep(time.Duration(directed.pause) * time.Microsecond)
			}
			f.pass()
		}
		sum = f.mark(seq, sum)
	}
	atomic.StoreUint64(&f.state, ended)
	return sum, seq
}

// mark has values live across both sites, which a probe that harms a register spoils.
//
//go:noinline
func (f *notes) mark(seq, sum uint64) uint64 {
	a, b, c, d, e := sum+seq, sum^seq, sum*3, bits.RotateLeft64(sum, 7), seq*5
	x := float64(sum & 0xffff)
	check := scramble(f.id<<40 ^ seq)
	text := letters[check%20 : check%20+check>>32%40]
	m := &f.marks[seq]
	atomic.StoreUint64(&m.begin, now())
	marked.Mark(uint32(f.id), seq, text)
	atomic.StoreUint64(&m.mid, now())
	done.Mark(uint32(f.id), seq, check)
	atomic.StoreUint64(&m.end, now())
	return scramble(a) ^ (b + c) ^ (d - e) ^ uint64(x*2)
}

const letters = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"

func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func now() uint64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		fail("reading the clock", err)
	}
	return uint64(t.Nano())
}

// execute replaces the program by itself, with all other threads in the middle of what they do.
func execute() {
	atomic.StoreUint64(&directed.exec, 0)
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		atomic.AddUint64(&directed.byFirst, 1)
	} else {
		atomic.AddUint64(&directed.byOther, 1)
	}
	fail("executing", syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}

func child(born, n uint64) {
	f := newNotes(1, born, childMarks)
	sum := uint64(0)
	for seq := range n {
		f.pass()
		sum = f.mark(seq, sum)
	}
	atomic.StoreUint64(&f.state, ended)
	os.Exit(int(n))
}

// reproduce makes a child, which marks too, and waits for it as a shell with job control does.
func (f *notes) reproduce(random uint64) {
	n := 1 + random%(childMarks-1)
	args := []string{os.Args[0], dir, "child", fmt.Sprint(now()), fmt.Sprint(n)}
	pid, err := syscall.ForkExec("/proc/self/exe", args, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		atomic.AddUint64(&directed.refused, 1)
		return
	}
	atomic.StoreUint64(&f.state, parked)
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err == nil && status.Stopped():
			stops.Add(1)
			continue
		case err != nil || !status.Exited() || status.ExitStatus() != int(n):
			fmt.Fprintf(os.Stderr, "child %d: wait4 %d, status %#x, %v, want exit %d\n", pid, got, status, err, n)
			wrong.Add(1)
		}
		return
	}
}

func number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		fail("reading arguments", err)
	}
	return n
}

// goroutine returns the number of the calling goroutine, as tracebacks show it.
func goroutine() uint64 {
	var b [64]byte
	return number(strings.Fields(string(b[:runtime.Stack(b[:], false)]))[1])
}
