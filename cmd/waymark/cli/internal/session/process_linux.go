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

// processes tells when the last of some processes ends. Without any they never do.
type processes struct {
	each []*process
	all  chan struct{} // closed when all ended
}

func openProcesses(pids []int) processes {
	var p processes
	for _, pid := range pids {
		if one := openProcess(pid); one != nil {
			p.each = append(p.each, one)
		}
	}
	if len(p.each) > 0 {
		p.all = make(chan struct{})
		go func() {
			for _, one := range p.each {
				select {
				case <-one.gone:
				case <-one.over:
					return
				}
			}
			close(p.all)
		}()
	}
	return p
}

func (p processes) ended() <-chan struct{} { return p.all }

func (p processes) close() {
	for _, one := range p.each {
		one.once.Do(func() { close(one.over) })
	}
}

// process tells when a process ends.
type process struct {
	pid   int
	start uint64        // what tells it from another with its number
	gone  chan struct{} // closed when it ended
	over  chan struct{}
	once  sync.Once
}

const (
	pollInterval = 100 * time.Millisecond // how often a process is looked at
	overInterval = time.Second            // how soon who waits for one that tells notices that nobody wants to know
)

func openProcess(pid int) *process {
	p := &process{pid: pid, gone: make(chan struct{}), over: make(chan struct{})}
	stat, err := procfs.ReadStat(pid)
	if err != nil {
		return nil // Find says what is wrong with it
	}
	p.start = stat.Start
	go p.watch()
	return p
}

func (p *process) watch() {
	// A pidfd becomes readable when every thread ended, before anybody waits for the process.
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		fd = -1 // before Linux 5.3: look at its state instead
	} else {
		defer unix.Close(fd)
	}
	for p.running(fd) {
		select {
		case <-p.over:
			return
		default:
		}
	}
	close(p.gone)
}

// running waits for a moment and reports whether the process still runs.
func (p *process) running(fd int) bool {
	if fd >= 0 {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(overInterval/time.Millisecond))
		return n == 0 || err == unix.EINTR
	}
	time.Sleep(pollInterval)
	stat, err := procfs.ReadStat(p.pid)
	return err == nil && stat.Start == p.start && stat.State != 'Z' && stat.State != 'X'
}
