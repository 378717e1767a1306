package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/refcount"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// lasting is how long a counter must appear leaked before it is reported. Attaching raises a
// counter and changes an instruction within microseconds.
const lasting = 100 * time.Millisecond

// Counters returns the reference counters of a process: those that guard markers which Find
// returns. It reads the process's memory, which needs what ptrace needs.
func Counters(pid int, markers []*model.Marker) ([]Counter, error) {
	p, err := refcount.OpenProcess(pid, false)
	if err != nil {
		return nil, model.ProcessError("reading the memory of", pid, procfs.SysPtrace, err)
	}
	defer p.Close()
	all := countersOf(markers)
	var probes *held // once they are needed
	var unsure error
	comm, _ := procfs.Comm(pid)
	var out []Counter
	leaked := false
	for look := 0; look == 0 || look == 1 && leaked; look++ {
		if look > 0 {
			time.Sleep(lasting)
		}
		before := out
		out, leaked, probes = nil, false, nil
		for i := range all {
			states, err := all[i].states(p)
			if err != nil {
				return nil, model.ProcessError("reading the counters of", pid, procfs.SysPtrace, err)
			}
			for _, s := range states {
				c := all[i]
				c.PID, c.Comm, c.start = pid, comm, p.Start()
				c.Address, c.Value, c.Initial, c.Sites, c.Attached, c.Debugger = s.Address, s.Value, s.Initial, s.Sites, s.Attached, s.Debugger
				c.Leaked = s.Leaked()
				if s.Probed() {
					if probes == nil && unsure == nil {
						probes, unsure = findHeld()
					}
					if c.Unsure = unsure; unsure == nil {
						c.Leaked, err = c.unheld(probes, pid)
					}
					if err != nil {
						return nil, model.ProcessError("reading the counters of", pid, procfs.SysPtrace, err)
					}
				}
				leaked = leaked || c.Leaked
				out = append(out, c)
			}
		}
		for i := range out {
			out[i].Leaked = out[i].Leaked && (look == 0 || slices.ContainsFunc(before, out[i].sameAs))
		}
	}
	return out, nil
}

func (c *Counter) sameAs(o Counter) bool {
	return c.Address == o.Address && c.Value == o.Value && c.Leaked == o.Leaked
}

// countersOf returns the counters that markers have, each once, with all the sites it guards.
func countersOf(markers []*model.Marker) (all []Counter) {
	type key struct {
		file   *model.File
		offset uint64
	}
	index := map[key]int{}
	for _, m := range markers {
		for i := range m.Sites {
			s := &m.Sites[i]
			if s.CounterOffset == 0 {
				continue
			}
			k := key{m.File, uint64(s.CounterOffset)}
			at, ok := index[k]
			if !ok {
				at = len(all)
				index[k] = at
				all = append(all, Counter{Path: m.File.Path, file: m.File, offset: k.offset})
			}
			c := &all[at]
			c.sites = append(c.sites, uint64(s.Offset))
			if !slices.Contains(c.Markers, m.FullName()) {
				c.Markers = append(c.Markers, m.FullName())
			}
		}
	}
	return all
}

func (c *Counter) states(p *refcount.Process) ([]refcount.State, error) {
	f, err := model.Reopen(c.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return p.States(f, c.offset, c.sites)
}

// unheld reports whether no program holds a probe at a site of the counter.
func (c *Counter) unheld(probes *held, pid int) (bool, error) {
	f, err := model.Reopen(c.file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return !probes.has(f, c.Path, c.sites, pid), nil
}

// Repair restores the initial values of leaked counters, if process, counter and instructions are still what they were
// then: ErrChanged otherwise. It returns an error for each counter, nil where it succeeded. It needs what ptrace needs, and for uprobes that
// the kernel leaked what attaching needs.
func Repair(counters []Counter) []error {
	errs := make([]error, len(counters))
	leaked := map[*model.File][]*Counter{}
	for i := range counters {
		if c := &counters[i]; c.Leaked && c.Attached > 0 {
			leaked[c.file] = append(leaked[c.file], c)
		}
	}
	removed := map[*model.File]error{}
	for file, all := range leaked {
		removed[file] = removeLeaked(all)
	}
	for i := range counters {
		c := &counters[i]
		op := fmt.Sprintf("repairing the counter of %s in process %d", c.Markers[0], c.PID)
		err := removed[c.file]
		if err == nil {
			err = c.restore()
		}
		switch {
		case errors.Is(err, refcount.ErrNotLeaked):
			errs[i] = fmt.Errorf("%s: it %w", op, model.ErrChanged)
		case procfs.Gone(err):
			errs[i] = fmt.Errorf("%s: %w", op, model.ErrNoProcess)
		case errors.Is(err, os.ErrPermission):
			errs[i] = model.Permission(op, procfs.SysPtrace, err)
		case err != nil:
			errs[i] = fmt.Errorf("%s: %w", op, err)
		}
	}
	return errs
}

// restore restores the value of a counter whose leaked uprobe, if there was one, is gone.
func (c *Counter) restore() error {
	if !c.Leaked {
		return errors.New("it did not leak")
	}
	p, err := refcount.OpenProcess(c.PID, true)
	if err != nil {
		return err
	}
	defer p.Close()
	if p.Start() != c.start {
		return fmt.Errorf("the process is another one by now: %w", refcount.ErrNotLeaked)
	}
	f, err := model.Reopen(c.file)
	if err != nil {
		return err
	}
	defer f.Close()
	seen := refcount.State{Offset: c.offset, Address: c.Address, Value: c.Value, Initial: c.Initial,
		Sites: c.Sites, Attached: c.Attached, Debugger: c.Debugger}
	if c.Attached > 0 {
		states, err := p.States(f, c.offset, c.sites)
		at := slices.IndexFunc(states, func(s refcount.State) bool { return s.Address == c.Address })
		if err != nil || at < 0 {
			return cmp.Or(err, refcount.ErrNotLeaked)
		}
		if seen = states[at]; seen.Value == seen.Initial {
			return nil
		}
	}
	return p.Repair(f, c.sites, seen)
}
