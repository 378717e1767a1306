package tracer

import (
	"errors"

	"github.com/waymark-trace/waymark/internal/bpf"
)

// collector is what becomes of hits: counts, pairs or events. add, and what reads from it, are for several goroutines.
type collector interface {
	// open makes it, without a site.
	open(bpf.Options) error
	// plan numbers the sites, and says what else the kernel needs of them.
	plan(*plan)
	// add attaches to the sites in some processes or, with no pids, in all.
	add(p *plan, pids []int) error
	close() error
}

// attachment keeps a collector attached to a target, and to what appears in it later.
type attachment struct {
	collector collector
	options   Options
	watcher   *watcher
	opened    bool
}

// attach attaches to markers, which are those of t.
func (a *attachment) attach(t Target, markers []*Marker, o Options, c collector) (err error) {
	a.collector, a.options = c, o
	if a.watcher, err = newWatcher(t, markers, o.Later); err != nil {
		return err
	}
	err = a.add(markers, nil, t)
	if err == nil {
		err = a.watcher.begin(a.add)
	}
	if err == nil {
		err = checkAttached(t.pids(), markers)
	}
	if err != nil {
		_ = a.Close() // why is in err
	}
	return err
}

// add attaches to markers and linkers in the processes of t. It is called by one goroutine at a time.
func (a *attachment) add(markers []*Marker, linkers []*File, t Target) error {
	if a.opened { // those that there were at first are as the options want them
		var err error
		if markers, err = a.options.fields(markers, false); err != nil || len(markers) == 0 && len(linkers) == 0 {
			return err
		}
	}
	p, err := prepare(t, markers)
	if err != nil {
		return err
	}
	defer p.close()
	p.link(linkers)
	a.collector.plan(p)
	if err := p.bindWhere(a.options.Where); err != nil {
		return err
	}
	if !a.opened {
		if err := a.collector.open(a.watcher.options(a.options)); err != nil {
			return p.explain(err)
		}
		a.opened = true
	}
	return p.explain(a.collector.add(p, a.watcher.pids(t)))
}

func (a *attachment) ended() <-chan struct{} { return a.watcher.ended() }

// Close detaches, and then lets go of the processes that were stopped.
func (a *attachment) Close() error { return a.end(a.collector.close) }

// end stops watching, detaches, and frees what watching took.
func (a *attachment) end(detach func() error) (err error) {
	a.watcher.halt()
	if a.opened {
		err = detach()
	}
	return errors.Join(err, a.watcher.close())
}
