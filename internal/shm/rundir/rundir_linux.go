package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Dir is an open directory.
type Dir struct {
	f    *os.File
	path string // as people know it
}

// candidates are where the directory of a user may be, the best first. xdg is that user's
// $XDG_RUNTIME_DIR, and temp the directory for temporary files, "" when they are not known.
func candidates(uid int, xdg, temp string) []string {
	user := "waymark-" + strconv.Itoa(uid)
	var all []string
	if filepath.IsAbs(xdg) {
		all = append(all, filepath.Join(xdg, "waymark"))
	}
	all = append(all, "/run/user/"+strconv.Itoa(uid)+"/waymark", "/dev/shm/"+user)
	if filepath.IsAbs(temp) && temp != "/dev/shm" {
		all = append(all, filepath.Join(temp, user))
	}
	return all
}

// Create opens the directory of this process's user and makes it where there is none. What is wrong
// with one candidate leads to the next: somebody else's directory in a place that is everybody's
// must not keep this user from working.
func Create() (*Dir, error) {
	var errs []error
	uid := os.Geteuid()
	for _, path := range candidates(uid, os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()) {
		err := os.Mkdir(path, 0o700)
		if errors.Is(err, fs.ErrNotExist) {
			continue // what it would lie in is not there
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			errs = append(errs, fmt.Errorf("making the run-time directory: %w", err))
			continue
		}
		d, err := open(path, path, uid)
		if err == nil {
			return d, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// open opens a directory by a path that may lead through /proc, and checks that it is this
// user's alone.
func open(by, path string, uid int) (*Dir, error) {
	fd, err := unix.Open(by, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ELOOP || err == unix.ENOTDIR {
		return nil, fmt.Errorf("run-time directory %s: %w", path, ErrNotPrivate)
	}
	if err != nil {
		return nil, fmt.Errorf("run-time directory %s: %w", path, err)
	}
	d := &Dir{os.NewFile(uintptr(fd), path), path}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		d.Close()
		return nil, fmt.Errorf("run-time directory %s: %w", path, err)
	}
	if int(st.Uid) != uid || st.Mode&0o077 != 0 {
		d.Close()
		return nil, fmt.Errorf("run-time directory %s belongs to user %d, mode %#o: %w", path, st.Uid, st.Mode&0o777, ErrNotPrivate)
	}
	return d, nil
}

// Path returns where the directory is, for people.
func (d *Dir) Path() string { return d.path }

// Inside returns a short path of a file in the directory that leads through its descriptor. It is
// valid in this process until Close.
func (d *Dir) Inside(name string) string {
	return "/proc/self/fd/" + strconv.Itoa(int(d.f.Fd())) + "/" + name
}

// Close closes the directory.
func (d *Dir) Close() error { return d.f.Close() }
