package tracer

import (
	"context"
	"errors"
)

// Find returns the markers of a target, by file and in the order of their notes.
//
//   - PID, PIDs: the executable and every file the processes map executable now, each once. The
//     files read are the mapped ones even when they were deleted or replaced, or lie in
//     another mount namespace, as far as the privilege at hand allows.
//   - Path: that file.
//   - Command: the executable that the command's first word names, sought in PATH as os/exec does.
//
// A file that cannot be read, or whose notes are garbage, costs its own markers only; what
// was wrong is in the Problems of its markers' File. When a target has no marker at all and
// something was wrong, that is the error. Processes that are gone give ErrNoProcess,
// processes of other users a *PermissionError. Find reads files and never attaches.
func Find(ctx context.Context, t Target) ([]*Marker, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return find(ctx, t)
}

// Process is a running process and its markers.
type Process struct {
	PID     int
	OwnPID  int // in its own PID namespace, when that is below the one of this process; else 0
	Comm    string
	Markers []*Marker // shared by the processes that map the same file
	// Err says why the process could not be looked at, or not all of it.
	Err error
}

// FindAll returns every running process that has markers, or that could not be looked at,
// in order of PID. Kernel threads are left out, and processes that end meanwhile are no
// error. Each file is read once however many processes map it.
func FindAll(ctx context.Context) ([]Process, error) { return findAll(ctx) }

// check reports whether t names exactly one thing.
func (t Target) check() error {
	n := 0
	if t.PID != 0 {
		n++
	}
	if len(t.PIDs) > 0 {
		n++
	}
	if t.Path != "" {
		n++
	}
	if len(t.Command) > 0 {
		n++
	}
	switch {
	case n == 0:
		return errors.New("target names nothing: give a PID, a path or a command")
	case n > 1:
		return errors.New("target names more than one of PID, PIDs, path and command")
	}
	if t.Follow && len(t.pids()) == 0 {
		return errors.New("target: only processes can be followed")
	}
	for _, pid := range t.pids() {
		if pid <= 0 {
			return errors.New("target: a PID is positive")
		}
	}
	return nil
}
