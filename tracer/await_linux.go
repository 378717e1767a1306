package tracer

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// awaitEnd returns true when a process has ended, and false when over is closed before.
func awaitEnd(pid int, over <-chan struct{}) bool {
	state, err := model.Running(pid)
	if err != nil {
		return true
	}
	running := func() bool {
		now, err := model.Running(pid)
		return err == nil && now.Start == state.Start
	}
	process, err := openProcess(pid)
	if err != nil {
		return pollEnd(running, over)
	}
	defer process.Close()
	if !running() { // the descriptor may be of the number's next process
		return true
	}
	ended := make(chan bool, 1)
	go func() { ended <- awaitReadable(process) }()
	select {
	case ok := <-ended:
		return ok || pollEnd(running, over)
	case <-over:
		process.SetReadDeadline(time.Unix(1, 0)) // so that the goroutine ends
		<-ended
		return false
	}
}

// openProcess returns a descriptor of a process that the runtime's poller watches. To look at /proc
// from time to time instead wakes up to three threads each time, which was a quarter of the CPU time
// of an idle waymark record.
func openProcess(pid int) (*os.File, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil { // before Linux 5.10
		return nil, err
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	if err := process.SetReadDeadline(time.Time{}); err != nil { // the poller does not take it
		process.Close()
		return nil, err
	}
	return process, nil
}

// awaitReadable waits until the process of a descriptor has ended: every thread of it, whether it was
// waited for or not. It returns false if waiting failed or was ended.
func awaitReadable(process *os.File) bool {
	conn, err := process.SyscallConn()
	if err != nil {
		return false
	}
	ended := false
	err = conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		ended = n > 0
		return ended || err != nil && err != unix.EINTR
	})
	return err == nil && ended
}

// pollEnd does without a descriptor.
func pollEnd(running func() bool, over <-chan struct{}) bool {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for running() {
		select {
		case <-tick.C:
		case <-over:
			return false
		}
	}
	return true
}
