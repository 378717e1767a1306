package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

// Watch is a set of processes and the news of them. Programs that are attached with it look at
// processes of the set only. The kernel keeps it: who ends is out before its number can be
// used again, and with Follow a child is in before its first instruction.
type Watch struct {
	programs              prog.Watch
	set, ring, held, work *ebpf.Map
	reader                *ringbuf.Reader
	stops                 stopper // nil without WatchOptions.Pause
	closed                bool
}

// WatchOptions are what a Watch does by itself.
type WatchOptions struct {
	// Follow adds the children of processes, from now on.
	Follow bool
	// Pause holds the thread that has executed another program, or whose dynamic linker has
	// mapped something, until Release.
	Pause bool
}

const (
	// maxWatched is how many processes a set holds, the kernel's default for all there are.
	maxWatched = 32768
	// newsSize is the size of the ring in bytes: at 16 a piece, news of 4096 processes.
	newsSize = 64 << 10
)

// NewWatch returns an empty set. It needs a kernel that describes its types.
func NewWatch(o WatchOptions) (*Watch, error) {
	types, err := loadKernelTypes()
	if err != nil {
		return nil, err
	}
	pids, err := ownPIDNamespace()
	if err != nil {
		return nil, err
	}
	pids.Types = types
	pids.Raised = true
	w := &Watch{}
	type making struct {
		to   **ebpf.Map
		spec *ebpf.MapSpec
	}
	maps := []making{
		{&w.set, prog.ProcessSet("waymark_set", maxWatched)},
		{&w.ring, &ebpf.MapSpec{Name: "waymark_news", Type: ebpf.RingBuf, MaxEntries: newsSize}},
	}
	if o.Pause {
		maps = append(maps, making{&w.held, prog.HeldTasks("waymark_held", maxWatched)})
		if types.HasWork() {
			maps = append(maps, making{&w.work, prog.HeldWork("waymark_work", maxWatched)})
		}
	}
	for _, m := range maps {
		if *m.to, err = newMap(m.spec); err != nil {
			w.Close()
			return nil, fmt.Errorf("creating map %s: %w", m.spec.Name, err)
		}
	}
	if w.reader, err = ringbuf.NewReader(w.ring); err != nil {
		w.Close()
		return nil, fmt.Errorf("mapping the ring of news: %w", err)
	}
	w.programs = prog.Watch{Set: w.set.FD(), News: w.ring.FD(), PIDs: pids, Follow: o.Follow}
	if o.Pause {
		w.stops = newStopper()
		w.programs.Hold = prog.Hold{By: prog.HoldByReturn, Mapped: true, Tasks: w.held.FD()}
		if w.work != nil {
			w.programs.Hold.By, w.programs.Hold.Work = prog.HoldByWork, w.work.FD()
		}
	}
	return w, nil
}

// Add puts a process into the set. Call it once something is attached with the watch, and look
// afterwards whether the process is still the one that was meant.
func (w *Watch) Add(pid int) error {
	if err := w.set.Put(uint32(pid), uint32(0)); err != nil {
		return fmt.Errorf("watching process %d: %w", pid, err)
	}
	return nil
}

// Remove takes a process out.
func (w *Watch) Remove(pid int) { _ = w.set.Delete(uint32(pid)) }

// Empty reports whether there is no process in the set.
func (w *Watch) Empty() bool {
	var pid uint32
	return errors.Is(w.set.NextKey(nil, &pid), ebpf.ErrKeyNotExist)
}

// Next waits for news. After Close the error is os.ErrClosed. With WatchOptions.Pause news of what was executed or
// mapped have to be passed to Release.
func (w *Watch) Next() (prog.News, error) {
	r, err := w.reader.Read()
	if err != nil {
		return prog.News{}, err
	}
	return prog.DecodeNews(r.RawSample)
}

// linkers is the unit for where dynamic linkers pass when they have mapped something.
func (w *Watch) linkers(files []File) []unit {
	u := unit{name: "waymark_mapped", sleepable: w.programs.Hold.Mapped, assemble: func(m prog.Means) asm.Instructions { return w.programs.Mapped(m.Sleepable) }}
	for i := range files {
		for _, offset := range files[i].Linker {
			u.sites = append(u.sites, placed{i, -1, spot{Offset: offset}})
		}
	}
	if len(u.sites) == 0 {
		return nil
	}
	return []unit{u}
}

// Close frees everything. What was attached with the watch is closed before. Further calls do
// nothing.
func (w *Watch) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	var err error
	if w.reader != nil {
		err = w.reader.Close()
	}
	w.releaseAll()
	return errors.Join(err, closeAll([]*ebpf.Map{w.set, w.ring, w.held, w.work})) // nil has nothing to close
}
