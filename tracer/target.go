package tracer

import (
	"context"
	"errors"
	"slices"
)

// Target says where to look for markers. Exactly one of PID, PIDs, Path and Command is set.
type Target struct {
	// PID is a running process with all its threads: its executable and every library it
	// maps now.
	PID int
	// PIDs are several of them. Each costs a link in the kernel for each file; other
	// processes that map the same files are left alone.
	PIDs []int
	// Follow adds the children that these processes have from now on, and theirs, each from
	// its first instruction. It needs Linux 5.4 with BTF. Other processes that run the same files
	// then pay for a hit, too, and their reference counters are raised: the kernel cannot tell
	// them beforehand. They are not counted. At most 32768 processes at a time.
	Follow bool
	// Path is an executable or library: every process that maps it, now and later.
	Path string
	// Engine says who looks. Find, Count, Trace and Latency must be given the same.
	Engine Engine
	// Outline leaves out of simple markers where they are and what their variables are: Sites and
	// Fields are empty, and ErrOutline is why. It is for lists of them: of a large program, finding
	// these takes a second, and memory for most of what it has of debugging information.
	Outline bool
	// Command is started by Start and attached before its first instruction.
	Command []string
}

// pids returns the processes of PID or PIDs, each once.
func (t Target) pids() []int {
	if t.PID != 0 {
		return []int{t.PID}
	}
	var pids []int
	for _, pid := range t.PIDs {
		if !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

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
