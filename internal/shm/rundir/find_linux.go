package rundir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/procfs"
)

// ErrNone says that a process has put nothing into a run-time directory.
var ErrNone = errors.New("there is no socket or ring of it")

// Owner is who a process is.
type Owner struct {
	Process
	UID int // the effective one
}

// OwnerOf returns who a process is, as it sees itself.
func OwnerOf(pid int) (Owner, error) {
	st, err := procfs.ReadStat(pid)
	if err != nil {
		return Owner{}, err
	}
	v, err := procfs.Status(pid, "Uid", "NSpid")
	if err != nil {
		return Owner{}, err
	}
	uids, pids := strings.Fields(v[0]), strings.Fields(v[1])
	o := Owner{Process{pid, st.Start}, 0}
	if len(uids) < 2 {
		return o, fmt.Errorf("status of process %d names no user", pid)
	}
	if o.UID, err = strconv.Atoi(uids[1]); err != nil {
		return o, fmt.Errorf("status of process %d: user: %w", pid, err)
	}
	if len(pids) > 0 { // the last is the number in its own namespace
		if o.PID, err = strconv.Atoi(pids[len(pids)-1]); err != nil {
			return o, fmt.Errorf("status of process %d: NSpid: %w", pid, err)
		}
	}
	return o, nil
}

// Of opens the directory in which a process has its socket, or else its rings. It looks
// where the process's own environment says, and through the process's own root: it may be in a container.
func Of(pid int) (*Dir, Owner, error) {
	o, err := OwnerOf(pid)
	if err != nil {
		return nil, o, err
	}
	root := fmt.Sprintf("/proc/%d/root", pid)
	if f, err := os.Open(root); err != nil {
		root = "" // not permitted: our own names may be its own, too
	} else {
		f.Close()
	}
	var wrong []error
	paths := candidates(o.UID, environment(pid, "XDG_RUNTIME_DIR"), tempOf(pid))
	if uid := os.Geteuid(); uid == o.UID { // it may have learnt it later than its program began
		paths = append(paths, candidates(uid, os.Getenv("XDG_RUNTIME_DIR"), os.TempDir())...)
	}
	for _, path := range paths {
		d, err := open(root+path, path, o.UID)
		if errors.Is(err, ErrNotPrivate) {
			wrong = append(wrong, err)
		}
		if err != nil {
			continue
		}
		if d.has(o.Socket()) || d.has(o.String()) {
			return d, o, nil
		}
		d.Close()
	}
	return nil, o, errors.Join(append([]error{ErrNone}, wrong...)...)
}

func (d *Dir) has(name string) bool {
	_, err := os.Lstat(d.Inside(name))
	return err == nil
}

func tempOf(pid int) string {
	if temp := environment(pid, "TMPDIR"); temp != "" {
		return temp
	}
	return "/tmp"
}

// maxEnvironment is as much as Linux gives a program.
const maxEnvironment = 6 << 20

// environment returns a variable of a process as it was when its program began, "" when it has none.
func environment(pid int, name string) string {
	f, err := os.Open(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return os.Getenv(name) // the best guess for a process that does not let us look
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxEnvironment))
	if err != nil {
		return os.Getenv(name)
	}
	for one := range bytes.SplitSeq(b, []byte{0}) {
		if value, ok := bytes.CutPrefix(one, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// All opens every directory that this process may look into: its user's, and for root everybody's.
func All() []*Dir {
	var all []*Dir
	var seen []fs.FileInfo
	add := func(path string, uid int) {
		d, err := open(path, path, uid)
		if err != nil {
			return
		}
		info, err := d.f.Stat()
		if err != nil {
			d.Close()
			return
		}
		for _, other := range seen {
			if os.SameFile(other, info) {
				d.Close()
				return
			}
		}
		all, seen = append(all, d), append(seen, info)
	}
	uid := os.Geteuid()
	for _, path := range candidates(uid, os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()) {
		add(path, uid)
	}
	if uid != 0 {
		return all
	}
	for _, pattern := range []string{"/run/user/*/waymark", "/dev/shm/waymark-*", filepath.Join(os.TempDir(), "waymark-*")} {
		paths, _ := filepath.Glob(pattern) // the patterns are well formed
		for _, path := range paths {
			digits := strings.TrimPrefix(filepath.Base(path), "waymark-")
			if digits == "waymark" {
				digits = filepath.Base(filepath.Dir(path))
			}
			if owner, err := strconv.Atoi(digits); err == nil {
				add(path, owner)
			}
		}
	}
	return all
}
