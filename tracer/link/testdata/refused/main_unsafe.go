// Command refused switches markers, tracepoints and keys after it has denied itself a system call, named
// by its argument, and says what came of it: the same lines whenever patching is refused, and others
// whenever it works.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

var (
	one    = marker.New1[int]("refused:one", "n %d")
	two    = marker.New0("refused:two", "")
	traced = tracepoint.New1[int]("refused:traced")
	off    = statickey.New("refused:off")
	on     = statickey.NewOn("refused:on")
)

// deny makes a system call return EPERM in every thread from now on.
func deny(number uint32) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // seccomp_data.nr
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter))); errno != 0 {
		panic(errno)
	}
}

//go:noinline
func pass(n int) (taken int) {
	one.Mark(n)
	two.Mark()
	traced.Trace(n)
	if off.Enabled() {
		taken = call(taken)
	}
	if on.Enabled() {
		taken = call(taken) + 1
	}
	return taken
}

//go:noinline
func call(n int) int { return n + 1 }

func main() {
	var problems atomic.Int64
	marker.OnProblem(func(err error) { problems.Add(1) })
	switch os.Args[1] {
	case "pwrite64":
		deny(unix.SYS_PWRITE64)
	case "openat":
		deny(unix.SYS_OPENAT)
	case "membarrier":
		deny(unix.SYS_MEMBARRIER)
	}
	hits := 0
	show := func(what string, err error) {
		text := "works"
		if err != nil {
			text = "fails"
		}
		if err != nil && !errors.Is(err, marker.ErrNotPatched) {
			text = err.Error()
		}
		taken := pass(0)
		fmt.Println(what, text, "hits", hits, "taken", taken)
		hits = 0
	}
	if _, err := one.Register(func(int) { hits++ }); err != nil {
		panic(err)
	}
	show("start", nil)
	show("arm", one.Arm())
	show("arm again", one.Arm())
	_, err := traced.Register(func(int) { hits += 10 })
	show("trace", err)
	show("enable", off.Enable())
	show("disable", on.Disable())
	for range 1000 {
		if one.Arm() == nil && one.Disarm() != nil || off.Enable() == nil && off.Disable() != nil {
			panic("cannot be undone")
		}
	}
	// As a kernel tracer would. What goes wrong is told once.
	for _, m := range []*marker.Marker{&one.Marker, &two.Marker} {
		armed := (*uint32)(unsafe.Pointer(uintptr(unsafe.Pointer(m)) + markerabi.OffArmed))
		atomic.AddUint32(armed, 1)
	}
	time.Sleep(350 * time.Millisecond)
	show("traced", nil)
	fmt.Println("problems", problems.Load())
}
