package refcount

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"golang.org/x/sys/unix"
)

// file is a file and a reference counter in it.
type file struct {
	file    *os.File // of its own: flock is of an open file, not of a process
	device  uint64
	inode   uint64
	counter uint64 // offset in the file

	same map[procfs.File]bool // which mapped files it is
}

// newFile opens a file again, which stays the caller's.
func newFile(from *os.File, counter uint64) (*file, error) {
	f, err := os.Open("/proc/self/fd/" + strconv.Itoa(int(from.Fd())))
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		f.Close()
		return nil, err
	}
	return &file{f, uint64(st.Dev), st.Ino, counter, map[procfs.File]bool{}}, nil
}

func (f *file) close() error { return f.file.Close() }

// addresses returns the addresses of the counter in a process: one for each private writable
// mapping that holds it, which is the rule of valid_ref_ctr_vma.
func (f *file) addresses(pid int, maps []procfs.Mapping) (all []uint64) {
	for i := range maps {
		m := &maps[i]
		if m.Writable && m.Private && m.Inode == f.inode && f.isMapped(pid, m) && m.Offset <= f.counter && f.counter-m.Offset < m.End-m.Start {
			all = append(all, m.Start+(f.counter-m.Offset))
		}
	}
	return all
}

// isMapped reports whether a mapping of the inode's number is of this file. maps shows another device
// than stat on overlayfs and btrfs, so it is asked of the mapping itself.
func (f *file) isMapped(pid int, m *procfs.Mapping) bool {
	if is, known := f.same[m.File()]; known {
		return is
	}
	is := uint64(unix.Mkdev(m.Device.Major, m.Device.Minor)) == f.device
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.Start, m.End), &st); err == nil {
		is = uint64(st.Dev) == f.device && st.Ino == f.inode
		f.same[m.File()] = is
	}
	return is
}

// patience is how long lock waits. A repair holds the lock for microseconds.
const patience = time.Second

var errLocked = errors.New("another process has locked the file (flock) for a second")

// lock keeps other repairs from changing the file's counters meanwhile. It is best
// effort: unlock must be called in any case.
func (f *file) lock() error {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		err := unix.Flock(int(f.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return nil
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			return nil // a file system without locks
		}
		if time.Now().After(deadline) {
			return errLocked
		}
	}
}

func (f *file) unlock() { _ = unix.Flock(int(f.file.Fd()), unix.LOCK_UN) }
