package doctor

import (
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
	comm, _ := procfs.Comm(pid)
	var out []Counter
	leaked := false
	for look := 0; look == 0 || look == 1 && leaked; look++ {
		if look > 0 {
			time.Sleep(lasting)
		}
		before := out
		out, leaked = nil, false
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

// Repair restores the initial value of a leaked counter, if process, counter and
// instructions are still what they were then: ErrChanged otherwise. It needs what ptrace needs.
func (c *Counter) Repair() error {
	op := fmt.Sprintf("repairing the counter of %s in process %d", c.Markers[0], c.PID)
	if !c.Leaked {
		return fmt.Errorf("%s: it did not leak", op)
	}
	p, err := refcount.OpenProcess(c.PID, true)
	if err != nil {
		return model.ProcessError(op+" in", c.PID, procfs.SysPtrace, err)
	}
	defer p.Close()
	if p.Start() != c.start {
		return fmt.Errorf("%s: the process is another one by now: it %w", op, model.ErrChanged)
	}
	f, err := model.Reopen(c.file)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	defer f.Close()
	err = p.Repair(f, c.sites, refcount.State{Offset: c.offset, Address: c.Address, Value: c.Value, Initial: c.Initial,
		Sites: c.Sites, Attached: c.Attached, Debugger: c.Debugger})
	switch {
	case errors.Is(err, refcount.ErrNotLeaked):
		return fmt.Errorf("%s: it %w", op, model.ErrChanged)
	case procfs.Gone(err):
		return fmt.Errorf("%s: %w", op, model.ErrNoProcess)
	case errors.Is(err, os.ErrPermission):
		return model.Permission(op, procfs.SysPtrace, err)
	case err != nil:
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}
