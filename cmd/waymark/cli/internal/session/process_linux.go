package session

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/internal/procfs"
)

// linkedLater reports whether a process that has only executed its program will map libraries:
// then its dynamic linker is there, and has not run yet.
func linkedLater(pid int) bool {
	maps, err := procfs.Maps(pid)
	if err != nil {
		return false
	}
	files := map[procfs.File]bool{}
	for i := range maps {
		if maps[i].Executable && maps[i].Inode != 0 {
			files[maps[i].File()] = true
		}
	}
	return len(files) > 1
}

// executable is the path of what a process runs, whatever it is called where that lives.
func executable(pid int) string { return fmt.Sprintf("/proc/%d/exe", pid) }

// processes reports when the last of some processes has ended.
type processes struct {
	all  chan struct{} // closed when all have ended, nil without any
	over chan struct{}
}

func openProcesses(pids []int) processes {
	p := processes{over: make(chan struct{})}
	var running sync.WaitGroup
	for _, pid := range pids {
		if stat, err := procfs.ReadStat(pid); err == nil { // else Find reports why
			p.all = make(chan struct{})
			running.Go(func() { p.await(pid, stat.Start) })
		}
	}
	if all := p.all; all != nil {
		go func() {
			running.Wait()
			close(all)
		}()
	}
	return p
}

func (p processes) ended() <-chan struct{} { return p.all }

// close ends the waiting, as if the processes had ended.
func (p processes) close() {
	if p.over != nil {
		close(p.over)
	}
}

const (
	pollInterval = 100 * time.Millisecond // between two looks at a process without a pidfd
	overInterval = time.Second            // between two looks whether waiting is over, with a pidfd
)

// await returns when a process has ended, or waiting is over. The process is the one that started at start.
func (p processes) await(pid int, start uint64) {
	// A pidfd becomes readable when every thread has ended, before the process is waited for.
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1 // before Linux 5.3
	} else {
		defer unix.Close(fd)
	}
	for running(pid, start, fd) {
		select {
		case <-p.over:
			return
		default:
		}
	}
}

// running waits for a moment and reports whether a process still runs.
func running(pid int, start uint64, fd int) bool {
	if fd >= 0 {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(overInterval/time.Millisecond))
		return n == 0 || err == unix.EINTR
	}
	time.Sleep(pollInterval)
	stat, err := procfs.ReadStat(pid)
	return err == nil && stat.Start == start && stat.State != 'Z' && stat.State != 'X'
}
