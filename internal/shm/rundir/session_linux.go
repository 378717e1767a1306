package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxEntries bounds how much of a directory is looked at.
const maxEntries = 16 << 10

// names returns what is in the directory, sorted.
func (d *Dir) names() ([]string, error) {
	f, err := os.Open(d.Inside("."))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", d.path, err)
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries)
	slices.Sort(names)
	if len(names) == 0 {
		return nil, nil // io.EOF, or nothing to be seen
	}
	return names, err
}

// Processes returns the processes that have a socket here, or rings.
func (d *Dir) Processes() ([]Process, error) {
	names, err := d.names()
	var all []Process
	for _, name := range names {
		if p, ok := ParseProcess(strings.TrimSuffix(name, socketSuffix)); ok && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Process) int { return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Start, b.Start)) })
	return all, err
}

// Own opens the directory for this process's rings and makes it where there is none. As long as it
// is open, everybody sees by its lock that the process lives, in whatever namespace of numbers they are.
func (d *Dir) Own(p Process) (*Dir, error) {
	if err := os.Mkdir(d.Inside(p.String()), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making a directory for rings: %w", err)
	}
	own, err := open(d.Inside(p.String()), d.path+"/"+p.String(), os.Geteuid())
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(own.f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		own.Close()
		return nil, fmt.Errorf("locking %s: %w", own.path, err)
	}
	return own, nil
}

// Rings opens the directory of a process's rings; dead says that nobody records there any more.
func (d *Dir) Rings(p Process) (rings *Dir, dead bool, err error) {
	if rings, err = open(d.Inside(p.String()), d.path+"/"+p.String(), d.uid); err != nil {
		return nil, false, err
	}
	fd := int(rings.f.Fd())
	if dead = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil; dead {
		_ = unix.Flock(fd, unix.LOCK_UN) // closing it would do
	}
	return rings, dead, nil
}

// InMemory reports whether what is in the directory takes memory, and not room on a disk.
func (d *Dir) InMemory() bool {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(d.f.Fd()), &s); err != nil {
		return true // as it usually is
	}
	kind := uint32(s.Type) // which some platforms have as a signed one
	return kind == unix.TMPFS_MAGIC || kind == unix.RAMFS_MAGIC
}

// Ring is a ring file.
type Ring struct {
	Session  string
	Size     int64
	Modified time.Time
}

// List returns the rings in a directory that Rings or Own opened.
func (d *Dir) List() ([]Ring, error) {
	names, err := d.names()
	var all []Ring
	for _, name := range names {
		session, ok := strings.CutSuffix(name, RingSuffix)
		if !ok || CheckSession(session) != nil {
			continue
		}
		info, err := os.Lstat(d.Inside(name))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		all = append(all, Ring{session, info.Size(), info.ModTime()})
	}
	return all, err
}

// Open opens a file in the directory: a regular one that the directory's user owns. Others are
// refused before they can do harm: opening a FIFO would wait for good.
func (d *Dir) Open(name string, flags int) (*os.File, error) {
	path := d.path + "/" + name
	fd, err := unix.Openat(int(d.f.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return f, nil
}

// Remove removes a file of the directory.
func (d *Dir) Remove(name string) error {
	if err := unix.Unlinkat(int(d.f.Fd()), name, 0); err != nil {
		return fmt.Errorf("removing %s/%s: %w", d.path, name, err)
	}
	return nil
}

// RemoveProcess removes the directory of a process's rings once it is empty.
func (d *Dir) RemoveProcess(p Process) error {
	return unix.Unlinkat(int(d.f.Fd()), p.String(), unix.AT_REMOVEDIR)
}
