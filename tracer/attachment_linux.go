package tracer

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// collector is what becomes of hits: counts, pairs or events. add, and what reads from it, are for several goroutines.
type collector interface {
	// open makes it, without a site.
	open(bpf.Options) (kernel, error)
	// plan numbers the sites, and says what else the kernel needs of them.
	plan(*plan)
	// add attaches to the sites in some processes or, with no pids, in all, and returns those that
	// the kernel refuses.
	add(p *plan, pids []int) ([]*bpf.AttachError, error)
}

// kernel is what all kinds of collectors have in the kernel.
type kernel interface {
	// Detach takes the probes out of one process of those given to add.
	Detach(pid int) error
	Close() error
}

// attachment keeps a collector attached to a target, and to what appears in it later.
type attachment struct {
	collector collector
	options   options
	watcher   *watcher
	held      kernel // nil before the first sites

	mu   sync.Mutex // guards what follows
	left []*SiteError
	// lateFound are the markers of which there were none at first, and late are these with the fields of the options.
	late, lateFound []*Marker
	unchecked       bool // there were none at first to check the names in the options against
}

// attach attaches to markers, which are those of t.
func (a *attachment) attach(t Target, markers []*Marker, o options, c collector) (err error) {
	a.collector, a.options, a.unchecked = c, o, len(markers) == 0
	if a.watcher, err = newWatcher(t, markers, o.Later); err != nil {
		return err
	}
	_, err = a.add(markers, nil, t)
	if err == nil {
		err = a.watcher.begin(a.add, a.detach)
	}
	if err == nil {
		err = model.CheckAttached(t.pids, markers)
	}
	if err != nil {
		_ = a.Close() // why is in err
	}
	return err
}

// add attaches to markers and linkers in the processes of t, and returns which sites are left out. That
// these are all is an error. It is called by one goroutine at a time.
func (a *attachment) add(markers []*Marker, linkers []*File, t Target) ([]*SiteError, error) {
	late := a.held != nil
	if late { // those that there were at first are as the options want them
		found := markers
		var err error
		if markers, err = a.options.fields(markers, false); err != nil || len(markers) == 0 && len(linkers) == 0 {
			return nil, err
		}
		a.keepLate(found, markers)
	}
	p, err := prepare(t, markers)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if len(markers) > 0 && !p.hasSites() {
		if p.markers = nil; len(linkers) == 0 {
			return nil, describeSkip(p.skipped)
		}
	}
	p.link(linkers)
	a.collector.plan(p)
	err = p.bindWhere(a.options.Where)
	if late && p.skipUnbound() { // each marker fails alone
		err = nil
		if a.collector.plan(p); !p.hasSites() {
			if p.markers = nil; len(linkers) == 0 {
				return a.leave(p.skipped), nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if a.held == nil {
		held, err := a.collector.open(a.watcher.options(a.options))
		if err != nil {
			return nil, p.explain(err)
		}
		a.held = held
	}
	refused, err := a.collector.add(p, a.watcher.pids(t))
	if err != nil {
		return nil, p.explain(err)
	}
	p.skip(refused)
	return a.leave(p.skipped), nil
}

// leave notes which sites are left out, and returns them.
func (a *attachment) leave(skipped []*SiteError) []*SiteError {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = append(a.left, skipped...)
	return skipped
}

// keepLate keeps markers that come late, for missing.
func (a *attachment) keepLate(found, markers []*Marker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unchecked {
		a.lateFound, a.late = append(a.lateFound, found...), append(a.late, markers...)
	}
}

func (a *attachment) missing() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.late) == 0 {
		return nil
	}
	_, err := a.options.fields(a.lateFound, true)
	if err == nil {
		err = checkKey(a.late, a.options.by)
	}
	if err == nil {
		err = checkKey(a.late, a.options.keys)
	}
	return err
}

// detach takes the probes out of one process. It is called by the goroutine that calls add.
func (a *attachment) detach(pid int) error {
	if a.held == nil {
		return nil
	}
	return a.held.Detach(pid)
}

// describeSkip is the error of an attachment of which nothing is left.
func describeSkip(all []*SiteError) error {
	first := all[0]
	err := fmt.Errorf("attaching to %s in %s at %#x: %w", first.Marker.FullName(), first.Marker.File.Path,
		uint64(first.Marker.Sites[first.Site].Address), first.Err)
	if n := len(all) - 1; n > 0 {
		return fmt.Errorf("%w (and %d more sites)", err, n)
	}
	return err
}

func (a *attachment) skipped() []*SiteError {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.left)
}

func (a *attachment) ended() <-chan struct{} { return a.watcher.ended() }

// Close detaches, and then lets go of the processes that were stopped.
func (a *attachment) Close() error {
	return a.end(func() error {
		if a.held == nil {
			return nil
		}
		return a.held.Close()
	})
}

// end stops watching, detaches, and frees what watching took.
func (a *attachment) end(detach func() error) error {
	a.watcher.halt()
	return errors.Join(detach(), a.watcher.close())
}

// ending is an engine that is told when the processes of its target have ended.
type ending struct {
	engine
	gone, over chan struct{}
	once       sync.Once
}

// newEnding returns an engine that calls atEnd, then closes its channel of ended, when all processes
// have ended. There is no end without processes.
func newEnding(e engine, pids []int, atEnd func() error) engine {
	if len(pids) == 0 {
		return e
	}
	w := &ending{engine: e, gone: make(chan struct{}), over: make(chan struct{})}
	go func() {
		if w.await(pids) {
			_ = atEnd() // a further call returns what is wrong
			close(w.gone)
		}
	}()
	return w
}

// await returns true when the processes have ended, and false after Close. The engine may know the
// end, of children too.
func (w *ending) await(pids []int) bool {
	if ended := w.engine.ended(); ended != nil {
		select {
		case <-ended:
			return true
		case <-w.over:
			return false
		}
	}
	for _, pid := range pids {
		if !awaitEnd(pid, w.over) {
			return false
		}
	}
	return true
}

func (w *ending) ended() <-chan struct{} { return w.gone }

func (w *ending) Close() error {
	w.once.Do(func() { close(w.over) })
	return w.engine.Close()
}
