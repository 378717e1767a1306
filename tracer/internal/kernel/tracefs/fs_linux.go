package tracefs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// FS is a mounted tracefs.
type FS struct{ dir string }

// mounts are where it is mounted by convention: Documentation/trace/ftrace.rst. The second is
// an automount below debugfs.
var mounts = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// Find finds the mounted file system. Without the privilege to look, it is an error that wraps
// fs.ErrPermission.
func Find() (*FS, error) {
	var denied error
	for _, dir := range mounts {
		// Opening it follows the automount, which statfs alone would not.
		_, err := os.Stat(dir + "/uprobe_events")
		var st unix.Statfs_t
		if err == nil && unix.Statfs(dir, &st) == nil && st.Type == unix.TRACEFS_MAGIC {
			return &FS{dir}, nil
		}
		if errors.Is(err, os.ErrPermission) {
			denied = fmt.Errorf("looking for tracefs: %w", err)
		}
	}
	if denied != nil {
		return nil, denied
	}
	return nil, ErrNotMounted
}

// Dir returns where it is mounted.
func (f *FS) Dir() string { return f.dir }

// maxRead bounds what is read of a file: a line is at most 4 KiB.
const maxRead = 64 << 20

func (f *FS) read(name string) ([]byte, error) {
	file, err := os.Open(filepath.Join(f.dir, name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxRead+1))
	if err == nil && len(b) > maxRead {
		err = fmt.Errorf("%s has more than %d bytes", file.Name(), maxRead)
	}
	return b, err
}

// Events returns everybody's uprobe events, in the order in which they were defined.
func (f *FS) Events() ([]Event, error) {
	data, err := f.read("uprobe_events")
	if err != nil {
		return nil, err
	}
	all, err := parseEvents(data)
	if err != nil {
		return nil, fmt.Errorf("reading uprobe events: %w", err)
	}
	if profile, err := f.read("uprobe_profile"); err == nil {
		addHits(all, profile)
	}
	return all, nil
}

// Enabled reports whether ftrace has an event on. Whether perf has it open nobody says.
func (f *FS) Enabled(group, name string) bool {
	b, err := f.read(filepath.Join("events", Name(group, maxName), Name(name, maxName), "enable"))
	return err == nil && bytes.HasPrefix(b, []byte("1"))
}

// Define defines an event, or adds a place to one. It is EEXIST when the event has the place
// already, or other arguments.
func (f *FS) Define(e *Event) error {
	command, err := e.Command()
	if err != nil {
		return err
	}
	return f.write(command)
}

// Delete deletes an event with all its places. It is EBUSY while somebody uses it.
func (f *FS) Delete(group, name string) error {
	if strings.ContainsAny(group+name, "/ \t\n#") {
		return fmt.Errorf("%q:%q is not an event", group, name)
	}
	return f.write("-:" + group + "/" + name)
}

// write appends: a file that is opened with O_TRUNC loses everybody's events.
func (f *FS) write(command string) error {
	file, err := os.OpenFile(filepath.Join(f.dir, "uprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.Write([]byte(command + "\n"))
	if e := file.Close(); err == nil {
		err = e
	}
	var wrong *os.PathError
	if errors.As(err, &wrong) {
		err = wrong.Err // the path is always the same
	}
	if errors.Is(err, unix.EINVAL) {
		if why := f.reason(command); why != "" {
			err = fmt.Errorf("%s: %w", why, err)
		}
	}
	return err
}

// reason returns what error_log has about a command: groups of lines "[time] trace_uprobe:
// error: REASON", "  Command: COMMAND" and one that points at the place.
func (f *FS) reason(command string) (why string) {
	b, err := f.read("error_log")
	if err != nil {
		return ""
	}
	said := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if _, text, ok := strings.Cut(line, ": error: "); ok {
			said = text
		}
		// The kernel shows the command as far as it has read it.
		if c, ok := strings.CutPrefix(line, "Command: "); ok && c != "" && strings.HasPrefix(command, c) {
			why = said
		}
	}
	return strings.ToLower(why[:min(len(why), 1)]) + why[min(len(why), 1):]
}

// maxEntries bounds what is read of a directory.
const maxEntries = 1 << 16

func (f *FS) entries(dir string) ([]os.DirEntry, error) {
	d, err := os.Open(filepath.Join(f.dir, dir))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(maxEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
