package tracer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// watcher knows which processes a target has, and attaches to what appears in them. A nil
// watcher is that of a target that stays as it is.
//
// The kernel tells it about execve, children and ends, and dynamic linkers about libraries. It
// looks at /proc besides: for what was mapped by hand, and where the kernel tells nothing.
type watcher struct {
	target Target
	later  *Later
	watch  *bpf.Watch // nil where the kernel cannot
	add    addFunc
	detach func(pid int) error

	scan    *model.Scan
	members map[int]uint64                  // processes of the target: when they started
	known   map[int]map[model.Identity]bool // files that were looked at, by process; Follow: all by 0

	begun               bool
	stop, stopped, gone chan struct{}
	halting             sync.Once
}

// addFunc attaches to markers and linkers in the processes of a target, and returns what it leaves out.
type addFunc func(markers []*Marker, linkers []*File, t Target) ([]*SiteError, error)

const (
	// lookEvery is how often /proc is looked at when the kernel tells what happens.
	lookEvery = time.Second
	// pollEvery is how often when it does not.
	pollEvery = 100 * time.Millisecond
)

func newWatcher(t Target, markers []*Marker, later *Later) (*watcher, error) {
	if len(t.pids) == 0 || !t.follow && later == nil {
		return nil, nil
	}
	w := &watcher{
		target: t, later: later, scan: model.NewScan(), members: map[int]uint64{}, known: map[int]map[model.Identity]bool{},
		stop: make(chan struct{}), stopped: make(chan struct{}), gone: make(chan struct{}),
	}
	for _, m := range markers {
		for _, key := range w.keys() {
			w.know(key, m.File)
		}
		r := w.scan.ByID[model.ID(m.File)]
		if r == nil {
			r = &model.Scanned{File: m.File}
			w.scan.ByID[model.ID(m.File)] = r
		}
		r.Markers = append(r.Markers, m)
	}
	if err := model.AttachPermission("attaching to " + describe(markers)); err != nil {
		return nil, err
	}
	var err error
	w.watch, err = bpf.NewWatch(bpf.WatchOptions{Follow: t.follow, Pause: later != nil && later.Pause})
	if errors.Is(err, bpf.ErrNoTypes) && t.follow {
		return nil, fmt.Errorf("following processes: %w: %w", ErrNotSupported, ErrNoTypes)
	}
	if err != nil && t.follow {
		return nil, fmt.Errorf("following processes: %w", model.NotSupported(err))
	}
	return w, nil
}

// keys are those of known.
func (w *watcher) keys() []int {
	if w.target.follow {
		return []int{0}
	}
	return w.target.pids
}

// know notes a file and reports whether it was known.
func (w *watcher) know(key int, f *File) bool {
	if w.known[key] == nil {
		w.known[key] = map[model.Identity]bool{}
	}
	known := w.known[key][model.ID(f)]
	w.known[key][model.ID(f)] = true
	return known
}

// options are how to attach.
func (w *watcher) options(o options) bpf.Options {
	how := bpf.Options{Mode: forceMode, MaxString: o.maxString, BufferSize: o.BufferSize, OwnPIDs: o.ownPIDs, Window: model.Window}
	if w != nil {
		how.Watch = w.watch
	}
	return how
}

// pids are the processes of t that the kernel is to look at, none for all.
func (w *watcher) pids(t Target) []int {
	if w != nil && w.target.follow {
		return nil
	}
	return t.pids
}

// begin begins to watch, once something is attached by options.
func (w *watcher) begin(add addFunc, detach func(pid int) error) error {
	if w == nil {
		return nil
	}
	w.add, w.detach = add, detach
	for _, pid := range w.target.pids {
		if w.watch != nil {
			if err := w.watch.Add(pid); err != nil {
				return err
			}
		}
		st, err := model.Running(pid) // after Add: its end is either seen here, or told
		if err != nil {
			return err
		}
		w.members[pid] = st.Start
		w.look(pid)
	}
	w.begun = true
	go w.run()
	return nil
}

func (w *watcher) run() {
	defer close(w.stopped)
	every := pollEvery
	var heard chan news
	if w.watch != nil {
		every, heard = lookEvery, make(chan news)
		go w.listen(heard)
	}
	gone := false
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case n := <-heard:
			w.hear(n)
		case <-tick.C:
			for _, pid := range w.target.pids {
				w.look(pid)
			}
		case <-w.stop:
			return
		}
		if !gone && w.empty() {
			gone = true
			close(w.gone)
		}
	}
}

// news are the kernel's, of a thread that may be held.
type news struct {
	prog.News
	held bpf.HeldBy
	why  error // it is not stopped
}

// listen passes the kernel's news on until the watch is closed. A thread is stopped at once, however long the news
// before take.
func (w *watcher) listen(heard chan<- news) {
	for {
		next, err := w.watch.Next()
		if err != nil {
			return
		}
		n := news{News: next}
		if n.Kind.Holds() {
			n.held, n.why = w.watch.Hold(next)
		}
		select {
		case heard <- n:
		case <-w.stop:
			return
		}
	}
}

func (w *watcher) ended() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.gone
}

// halt ends watching; what is stopped continues when everything is detached.
func (w *watcher) halt() {
	if w == nil || !w.begun {
		return
	}
	w.halting.Do(func() { close(w.stop) })
	<-w.stopped
}

// close frees what the watcher has, after halt and detaching.
func (w *watcher) close() error {
	if w == nil || w.watch == nil {
		return nil
	}
	return w.watch.Close()
}

// hear acts on news.
func (w *watcher) hear(n news) {
	attached := false
	switch n.Kind {
	case prog.Forked:
		if st, err := procfs.ReadStat(n.PID); err == nil {
			w.members[n.PID] = st.Start
		}
	case prog.Replaced:
		// A link is for the process's first thread, which has ended. It has no place in the new memory, but
		// would report what others put there (the kernel compares struct signal_struct, which the threads
		// of a process share): it goes before a new one comes.
		delete(w.known, n.PID)
		if n.held == bpf.HeldByWait { // in a program, for whose end closing a link waits
			_, _ = w.watch.Release(n.News, n.held)
			n.held = bpf.HeldByNothing
		}
		if err := w.detach(n.PID); err != nil {
			w.report(nil, err)
		}
		attached = w.look(n.PID)
	case prog.Executed, prog.Mapped:
		attached = w.look(n.PID)
	case prog.Ended:
		delete(w.members, n.PID)
		delete(w.known, n.PID)
	case prog.Full:
		w.report(nil, fmt.Errorf("following process %d: there are too many", n.PID))
	}
	if !n.Kind.Holds() || w.later == nil || !w.later.Pause {
		return
	}
	until, err := w.watch.Release(n.News, n.held)
	if err != nil {
		w.report(nil, err)
	}
	if attached && !until {
		why := cmp.Or(n.why, errors.New("waymark was too late"))
		w.report(nil, fmt.Errorf("process %d ran on while its new markers were attached to, because it could not be held (%w): they count from %s on",
			n.PID, why, time.Now().Format("15:04:05.000")))
	}
}

func (w *watcher) empty() bool {
	if w.watch != nil {
		return w.watch.Empty()
	}
	return len(w.members) == 0
}

// look attaches to what is new in a process, and reports whether there were markers.
func (w *watcher) look(pid int) (attached bool) {
	start, member := w.members[pid]
	st, err := model.Running(pid)
	if err != nil || member && st.Start != start {
		if errors.Is(err, ErrNoProcess) || err == nil {
			delete(w.members, pid)
		}
		return false
	}
	if w.later == nil || !member && !w.target.follow {
		return false
	}
	markers, linkers := w.fresh(pid)
	if len(markers) == 0 && len(linkers) == 0 {
		return false
	}
	t := PIDs(pid)
	if w.target.follow {
		t = Target{}
	}
	skipped, err := w.add(markers, linkers, t)
	if err == nil && len(t.pids) > 0 {
		err = model.CheckProcess(pid, markers)
	}
	if markers = without(markers, skipped); len(markers) > 0 || err != nil {
		w.report(markers, err)
	}
	for _, s := range skipped {
		w.report(nil, s)
	}
	return len(markers) > 0
}

// without returns the markers of which a site is attached.
func without(markers []*Marker, skipped []*SiteError) (some []*Marker) {
	n := map[*Marker]int{}
	for _, s := range skipped {
		n[s.Marker]++
	}
	for _, m := range markers {
		if n[m] < len(m.Sites) {
			some = append(some, m)
		}
	}
	return some
}

// fresh returns the markers that are wanted, and the dynamic linkers, of the files in a process
// that were not looked at before.
func (w *watcher) fresh(pid int) (markers []*Marker, linkers []*File) {
	w.scan.ByMap = map[procfs.File]*model.Scanned{} // inodes are used again, identities are not
	files, _, err := w.scan.Files(context.Background(), pid)
	if err != nil {
		return nil, nil // it ended, or is not ours any more
	}
	for _, r := range files {
		key := pid
		if w.target.follow {
			key = 0
		}
		if w.know(key, r.File) {
			continue
		}
		for _, m := range r.Markers {
			if w.later.Choose == nil || w.later.Choose(m) {
				markers = append(markers, m)
			}
		}
		if w.watch != nil && len(model.Linker(r.File)) > 0 {
			linkers = append(linkers, r.File)
		}
	}
	return markers, linkers
}

func (w *watcher) report(markers []*Marker, err error) {
	if w.later == nil || w.later.Report == nil {
		return
	}
	if err != nil {
		markers = nil
	}
	w.later.Report(markers, err)
}
