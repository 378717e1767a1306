package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"golang.org/x/sys/unix"
)

// Watch is a set of processes and the news of them. Programs that are attached with it look at
// processes of the set only. The kernel keeps it: who ends is out before its number can be
// used again, and with Follow a child is in before its first instruction.
type Watch struct {
	programs          prog.Watch
	set, paused, ring *ebpf.Map
	reader            *ringbuf.Reader
	closed            bool
}

// WatchOptions are what a Watch does by itself.
type WatchOptions struct {
	// Follow adds the children of processes, from now on.
	Follow bool
	// Pause stops a process that has executed another program, or whose dynamic linker has
	// mapped something, until Continue. Jobs of interactive shells are not stopped: their
	// shell would take it for Ctrl-Z.
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
	w := &Watch{}
	for _, m := range []struct {
		to   **ebpf.Map
		spec *ebpf.MapSpec
	}{
		{&w.set, prog.ProcessSet("waymark_set", maxWatched)},
		{&w.paused, prog.ProcessSet("waymark_paused", maxWatched)},
		{&w.ring, &ebpf.MapSpec{Name: "waymark_news", Type: ebpf.RingBuf, MaxEntries: newsSize}},
	} {
		if *m.to, err = newMap(m.spec); err != nil {
			w.Close()
			return nil, fmt.Errorf("creating map %s: %w", m.spec.Name, err)
		}
	}
	if w.reader, err = ringbuf.NewReader(w.ring); err != nil {
		w.Close()
		return nil, fmt.Errorf("mapping the ring of news: %w", err)
	}
	w.programs = prog.Watch{Set: w.set.FD(), Paused: w.paused.FD(), News: w.ring.FD(), PIDs: pids, Follow: o.Follow, Pause: o.Pause}
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

// Next waits for news. After Close the error is os.ErrClosed.
func (w *Watch) Next() (prog.News, error) {
	r, err := w.reader.Read()
	if err != nil {
		return prog.News{}, err
	}
	return prog.DecodeNews(r.RawSample)
}

// linkers is the unit for where dynamic linkers pass when they have mapped something.
func (w *Watch) linkers(files []File) []unit {
	u := unit{name: "waymark_mapped", assemble: func(prog.Means) asm.Instructions { return w.programs.Mapped() }}
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

// Continue lets a process run that was stopped.
func (w *Watch) Continue(pid int) { wake(w.paused, uint32(pid)) }

// wake sends SIGCONT. The entry goes first: a stop that comes between has news of its own.
func wake(paused *ebpf.Map, pid uint32) {
	_ = paused.Delete(pid)
	_ = unix.Kill(int(pid), unix.SIGCONT)
}

// wakeAll lets all processes run that were stopped.
func wakeAll(paused *ebpf.Map) {
	for range maxWatched {
		var pid uint32
		if paused.NextKey(nil, &pid) != nil {
			return
		}
		wake(paused, pid)
	}
}

// Close frees everything. What was attached with the watch is closed before. Further calls do
// nothing.
func (w *Watch) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.paused != nil {
		wakeAll(w.paused) // a guard that was killed has not
	}
	var err error
	if w.reader != nil {
		err = w.reader.Close()
	}
	return errors.Join(err, closeAll([]*ebpf.Map{w.set, w.paused, w.ring})) // nil has nothing to close
}
