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
// returns, and markers without one where the kernel leaked a probe. It reads the process's memory, which needs what ptrace needs.
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
			if all[i].offset == 0 {
				c, err := all[i].probed(p, &probes)
				if err != nil {
					return nil, model.ProcessError("reading the code of", pid, procfs.SysPtrace, err)
				}
				if c != nil {
					c.PID, c.Comm, c.start, leaked = pid, comm, p.Start(), true
					out = append(out, *c)
				}
				continue
			}
			states, err := all[i].states(p)
			if err != nil {
				return nil, model.ProcessError("reading the counters of", pid, procfs.SysPtrace, err)
			}
			for _, s := range states {
				c := all[i]
				c.PID, c.Comm, c.start = pid, comm, p.Start()
				c.Address, c.Value, c.Initial, c.Sites, c.Attached, c.Debugger = s.Address, s.Value, s.Initial, s.Sites, s.Attached, s.Debugger
				c.Leaked = s.Leaked()
				if s.Traced() {
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
	return c.Address == o.Address && c.Value == o.Value && c.Leaked == o.Leaked && c.Attached == o.Attached && slices.Equal(c.Markers, o.Markers)
}

// countersOf returns the counters that markers have, each once, with all the sites it guards; and for each marker with sites that have no
// counter one at offset 0, with these sites.
func countersOf(markers []*model.Marker) (all []Counter) {
	type key struct {
		file   *model.File
		offset uint64
		marker string // of sites without a counter
	}
	index := map[key]int{}
	for _, m := range markers {
		for i := range m.Sites {
			s := &m.Sites[i]
			k := key{m.File, uint64(s.CounterOffset), ""}
			if s.CounterOffset == 0 {
				k.marker = m.FullName()
			}
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

// probed returns the state of sites without a counter, nil unless the kernel has leaked a probe there.
func (c *Counter) probed(p *refcount.Process, probes **held) (*Counter, error) {
	f, err := model.Reopen(c.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := p.Probed(f, c.sites)
	if n == 0 || err != nil {
		return nil, err
	}
	if debugger, err := procfs.TracerPID(p.PID()); debugger != 0 || err != nil {
		return nil, err // the breakpoints may be the debugger's
	}
	if *probes == nil {
		if *probes, err = findHeld(); err != nil {
			return nil, nil // it may be a tracer's
		}
	}
	if (*probes).has(f, c.Path, c.sites, p.PID()) {
		return nil, nil
	}
	found := *c
	found.Sites, found.Attached, found.Leaked = len(c.sites), n, true
	return &found, nil
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
		op := fmt.Sprintf("repairing %s in process %d", c.Markers[0], c.PID)
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
	if c.offset == 0 {
		if n, err := p.Probed(f, c.sites); n > 0 || err != nil {
			return cmp.Or(err, refcount.ErrNotLeaked)
		}
		return nil
	}
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
