package guard

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// releasers is the number of threads among which links are divided. The release of each waits for the kernel's grace
// periods, tens of milliseconds, which releases at the same time share.
const releasers = 64

// divide prepares the end of this process, which releases the links that it holds.
//
// Why not close them: the kernel takes a uprobe out by writing to the target's memory, and gives up when the process that
// closes the link is killed meanwhile. The uprobe and its reference counter then stay for good. A process that is
// exiting is safe from that. SIGKILL reaches the threads of a process, to interrupt what they do, only until the process has
// begun to exit (complete_signal, kernel/signal.c): from then on SIGNAL_GROUP_EXIT is set, and exit_files releases what is left.
//
// A process releases its descriptors one after the other, though, and a table of descriptors for each thread lets the threads release
// theirs at the same time. While divide runs each link is in two tables, so that nothing is released by a close.
func divide() {
	links := heldLinks()
	if len(links) < 2 {
		return
	}
	n := min(len(links), releasers)
	var ready sync.WaitGroup
	failed := make([]bool, n)
	for i := range n {
		ready.Add(1)
		go func() {
			runtime.LockOSThread() // for good: this thread ends with the process
			failed[i] = unix.Unshare(unix.CLONE_FILES) != nil
			for j, fd := range links {
				if j%n != i && !failed[i] {
					unix.Close(fd)
				}
			}
			ready.Done()
			select {}
		}()
	}
	ready.Wait()
	if slices.Contains(failed, true) {
		return // by seccomp; the process then releases the links one after the other
	}
	for _, fd := range links {
		unix.Close(fd)
	}
}

// heldLinks returns the descriptors whose release takes a probe away.
func heldLinks() (links []int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		switch name, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.NewReplacer("_", "-", "[", "", "]", "").Replace(name) {
		case "anon-inode:bpf-link", "anon-inode:perf-event":
			links = append(links, fd)
		}
	}
	return links
}
