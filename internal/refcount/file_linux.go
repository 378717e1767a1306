package refcount

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"golang.org/x/sys/unix"
)

// File is a file and the reference counters in it.
type File struct {
	file     *os.File // of its own: flock is of an open file, not of a process
	device   uint64
	inode    uint64
	counters []uint64 // offsets in the file

	same map[procfs.File]bool // which mapped files it is
}

// NewFile takes an open file, which stays the caller's.
func NewFile(fd int, counters []uint64) (*File, error) {
	f, err := os.Open("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		f.Close()
		return nil, err
	}
	counters = slices.Clone(counters)
	slices.Sort(counters)
	return &File{f, uint64(st.Dev), st.Ino, slices.Compact(counters), map[procfs.File]bool{}}, nil
}

// Close closes it.
func (f *File) Close() error { return f.file.Close() }

// place is a counter in a process.
type place struct {
	file    *File
	offset  uint64
	address uint64
}

// places returns where mappings hold the file's counters. What counts as one is valid_ref_ctr_vma's
// rule: private and writable.
func (f *File) places(pid int, maps []procfs.Mapping) (all []place) {
	for i := range maps {
		m := &maps[i]
		if !m.Writable || !m.Private || m.Inode != f.inode || !f.isMapped(pid, m) {
			continue
		}
		for _, offset := range f.counters {
			if m.Offset <= offset && offset-m.Offset < m.End-m.Start {
				all = append(all, place{f, offset, m.Start + (offset - m.Offset)})
			}
		}
	}
	return all
}

// isMapped reports whether a mapping of the inode's number is of this file. maps shows another device
// than stat on overlayfs and btrfs, so it is asked of the mapping itself.
func (f *File) isMapped(pid int, m *procfs.Mapping) bool {
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

// patience is how long a lock is waited for. Ours are held for microseconds.
const patience = time.Second

var errLocked = errors.New("somebody has locked the file (flock) for a second")

// lock keeps other tracers of ours from changing the file's counters meanwhile. It is best
// effort: unlock must be called in any case.
func (f *File) lock() error {
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

func (f *File) unlock() { _ = unix.Flock(int(f.file.Fd()), unix.LOCK_UN) }
