package tracer

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// hear acts on news.
func (w *watcher) hear(n bpf.News) {
	attached := false
	switch n.Kind {
	case bpf.Forked:
		if st, err := procfs.ReadStat(n.PID); err == nil {
			w.members[n.PID] = st.Start
		}
	case bpf.Replaced:
		// A link is for the process's first thread, which has ended.
		delete(w.known, n.PID)
		attached = w.look(n.PID)
	case bpf.Executed, bpf.Mapped:
		attached = w.look(n.PID)
	case bpf.Ended:
		delete(w.members, n.PID)
		delete(w.known, n.PID)
	case bpf.Full:
		w.report(nil, fmt.Errorf("following process %d: there are too many", n.PID))
	}
	if !n.Stopped {
		return
	}
	if stopped, err := procfs.Stopped(n.PID); attached && err == nil && !stopped {
		w.report(nil, fmt.Errorf("process %d was stopped, and somebody continued it before its new markers were attached to: of what it has done since some is missed", n.PID))
	}
	w.watch.Continue(n.PID)
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
