package tracer

import (
	"context"
	"errors"
	"slices"

	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// Target is where to look for markers, and how: processes, or a file. PIDs, Path and
// Command.Target make one.
type Target struct {
	pids   []int
	path   string
	follow bool
	engine Engine
	names  bool // of FindNames
}

// PIDs is the target of running processes with all their threads: their executables and every
// library that they map now. Each costs a link in the kernel for each file; other processes that map
// the same files are left alone.
func PIDs(pids ...int) Target {
	var t Target
	for _, pid := range pids {
		if !slices.Contains(t.pids, pid) {
			t.pids = append(t.pids, pid)
		}
	}
	return t
}

// Path is the target of an executable or library: every process that maps it, now and later.
func Path(path string) Target { return Target{path: path} }

// Follow returns the target with the children that its processes have from now on, and theirs, each
// from its first instruction. It needs Linux 5.4 with BTF. Other processes that run the same files
// then pay for a hit, too, and their reference counters are raised: the kernel cannot tell
// them beforehand. They are not counted. At most 32768 processes at a time.
func (t Target) Follow() Target {
	t.follow = true
	return t
}

// By returns the target with an engine other than EngineAuto.
func (t Target) By(e Engine) Target {
	t.engine = e
	return t
}

// Engine returns the engine that the target was given by By, EngineAuto for none. Found.Target has the one that Find
// chose.
func (t Target) Engine() Engine { return t.engine }

// Find returns the markers of a target, by file and in the order of their notes: of processes those
// of the executables and every file mapped executable now, each once. The files read are the mapped
// ones even when they were deleted or replaced, or lie in another mount namespace, as far as the
// privilege at hand allows.
//
// A file that cannot be read, or whose notes are garbage, costs its own markers only; what
// was wrong is in the Problems of its markers' File. When a target has no marker at all and
// something was wrong, that is the error. Processes that are gone give ErrNoProcess,
// processes of other users a *PermissionError. Find reads files and never attaches.
func Find(ctx context.Context, t Target) ([]*Marker, error) { return t.find(ctx, false) }

// FindNames is Find without the probe locations of simple markers and their variables: Sites and
// Fields are empty. It is for lists of them: of a large program, finding these takes a second, and
// memory for most of its debugging information.
func FindNames(ctx context.Context, t Target) ([]*Marker, error) { return t.find(ctx, true) }

func (t Target) find(ctx context.Context, names bool) ([]*Marker, error) {
	t.names = names
	_, markers, err := t.resolve(ctx)
	return markers, err
}

// resolve returns the target with the engine that looks at it, and the markers that it finds.
func (t Target) resolve(ctx context.Context) (Target, []*Marker, error) {
	if err := t.check(); err != nil {
		return t, nil, err
	}
	if t.engine != EngineAuto {
		markers, err := find(ctx, t)
		return t, markers, err
	}
	return chooseEngine(ctx, t)
}

// check reports whether t names something.
func (t Target) check() error {
	switch {
	case len(t.pids) == 0 && t.path == "":
		return errors.New("target names nothing: give a PID or a path")
	case t.follow && len(t.pids) == 0:
		return errors.New("target: only processes can be followed")
	case len(t.pids) > 0 && slices.Min(t.pids) <= 0:
		return errors.New("target: a PID is positive")
	}
	return nil
}

// checkAttach reports whether t can be attached to at all, and returns it with the engine that has
// found the markers.
func (t Target) checkAttach(markers []*Marker, later *Later) (Target, error) {
	if err := t.check(); err != nil {
		return t, err
	}
	if len(markers) == 0 && (later == nil || len(t.pids) == 0) {
		return t, errors.New("attaching: no markers are selected")
	}
	if t.engine == EngineAuto {
		t.engine = EngineKernel
		if len(markers) > 0 && model.Declared(markers[0]) != "" {
			t.engine = EngineAgent
		}
	}
	return t, nil
}

// FindAll returns every running process that has markers, or that could not be looked at,
// in order of PID. Kernel threads are left out, and processes that end meanwhile are no
// error. Each file is read once however many processes map it.
func FindAll(ctx context.Context) ([]Process, error) { return model.FindAll(ctx) }
