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
	uid  int
}

// UID returns the user that the directory belongs to.
func (d *Dir) UID() int { return d.uid }

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
	xdg := os.Getenv("XDG_RUNTIME_DIR")
	for _, path := range candidates(uid, xdg, os.TempDir()) {
		d, err := create(path, uid, path == filepath.Join(xdg, "waymark"))
		if err == nil {
			return d, nil
		}
		if !errors.Is(err, fs.ErrNotExist) { // what it would lie in is there
			errs = append(errs, err)
		}
	}
	return nil, errors.Join(errs...)
}

// create opens a directory and makes it where there is none. With checked it must lie in a directory of this
// user alone, as the XDG specification has it: variables survive sudo -E and su, and name another user's directory then.
func create(path string, uid int, checked bool) (*Dir, error) {
	by := path
	if checked {
		parent, err := open(filepath.Dir(path), filepath.Dir(path), uid)
		if err != nil {
			return nil, fmt.Errorf("XDG_RUNTIME_DIR: %w", err)
		}
		defer parent.Close()
		by = parent.Inside(filepath.Base(path))
	}
	if err := os.Mkdir(by, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making the run-time directory: %w", err)
	}
	return open(by, path, uid)
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
	d := &Dir{os.NewFile(uintptr(fd), path), path, uid}
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
