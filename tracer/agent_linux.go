package tracer

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/histogram"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/tracer/internal/agentconn"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// agentTracer is the engine of a Tracer of agents.
type agentTracer struct{ *agentconn.Events }

// ended is nil: whoever gave the processes sees them end.
func (agentTracer) ended() <-chan struct{} { return nil }

// skipped are none: a program arms its own markers.
func (agentTracer) skipped() []*SiteError { return nil }

func (agentTracer) missing() error { return nil } // Later is the kernel engine's

func newAgentEvents(t Target, markers []*Marker, o options) (*agentconn.Events, error) {
	if err := checkAgent(t, markers); err != nil {
		return nil, err
	}
	size := int64(o.BufferSize)
	if o.usual {
		size = 0 // as much, or what there is room for
	}
	return agentconn.Record(t.pids, markers, wire.Session{Mode: wire.Discard, Size: size, Where: o.Where, MaxString: o.maxString})
}

// agentFold reads events as they come and makes something of each.
type agentFold struct {
	events *agentconn.Events
	fold   func(*event.Event)

	mu     sync.Mutex // held while events are folded, and to look at what they came to
	err    error      // why no more were
	closed chan struct{}
	done   sync.WaitGroup
	once   sync.Once
}

// foldInterval is how often events are read: the rings hold what comes meanwhile.
const foldInterval = 20 * time.Millisecond

func newAgentFold(events *agentconn.Events, fold func(*event.Event)) *agentFold {
	f := &agentFold{events: events, fold: fold, closed: make(chan struct{})}
	f.done.Go(func() {
		ticker := time.NewTicker(foldInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				f.mu.Lock()
				f.drain(agentconn.Ordered)
				f.mu.Unlock()
			case <-f.closed:
				return
			}
		}
	})
	return f
}

// drain folds what has come. The caller holds mu.
func (f *agentFold) drain(wait agentconn.Wait) {
	for f.err == nil {
		var e *event.Event
		if e, f.err = f.events.Poll(wait); e == nil {
			return
		}
		f.fold(e)
	}
}

// look calls look with all that has come until now folded.
func (f *agentFold) look(look func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drain(agentconn.Now)
	look()
	return f.err
}

func (f *agentFold) close() (err error) {
	f.once.Do(func() {
		close(f.closed)
		f.done.Wait()
		err = errors.Join(f.events.Close())
	})
	return err
}

// agentPairs joins the events of agents to pairs, in this process.
type agentPairs struct {
	fold       *agentFold
	joined     pairing
	begin, end []*Marker
	pairs      *source.Pairs
	took       histogram.Histogram
	keys       []*Key // of the groups
}

func newAgentPairs(t Target, begin, end []*Marker, o *LatencyOptions, d options) (*agentPairs, error) {
	markers := slices.Concat(begin, end)
	if err := checkAgent(t, markers); err != nil {
		return nil, err
	}
	p := &agentPairs{begin: begin, end: end, joined: o.pairing(markers)}
	how := source.PairOptions{Begins: among(begin), Ends: among(end), By: o.By, MaxOpen: d.maxKeys, MaxGroups: d.maxGroups}
	if !p.joined.chosen {
		how.Key, how.EndKey = p.joined.begin, p.joined.end
	}
	p.pairs = source.NewPairs(how)
	switch {
	case o.Where != "":
		// A begin of which it does not hold ends what was open with its key; the agent would keep
		// it to itself.
		return nil, model.NotByAgent("a condition on what begins pairs")
	case isThread(begin, p.joined.begin) || isThread(end, p.joined.end):
		return nil, model.NotByAgent("joining pairs by thread")
	case slices.ContainsFunc(o.By, func(name string) bool { return isThread(begin, name) && isThread(end, name) }):
		return nil, model.NotByAgent("grouping pairs by thread")
	}
	events, err := newAgentEvents(t, markers, d)
	if err != nil {
		return nil, err
	}
	p.fold = newAgentFold(events, p.add)
	return p, nil
}

// isThread reports whether a name means the thread, and no field of the markers.
func isThread(markers []*Marker, name string) bool {
	return name == "tid" && !slices.ContainsFunc(markers, func(m *Marker) bool { return fieldIndex(m, name) >= 0 })
}

// among returns a function that reports whether a point belongs to one of the markers. An agent
// describes the points of its events again, so they are compared by name.
func among(some []*Marker) func(*event.Point) bool {
	return func(p *event.Point) bool {
		return slices.ContainsFunc(some, func(m *Marker) bool { return model.Declared(m) == p.FullName() })
	}
}

func (p *agentPairs) add(e *event.Event) {
	if took, ended := p.pairs.Add(e); ended {
		p.took.Add(took)
	}
}

func (p *agentPairs) by() pairing                     { return p.joined }
func (p *agentPairs) markers() (begin, end []*Marker) { return p.begin, p.end }
func (p *agentPairs) skipped() []*SiteError           { return nil }
func (p *agentPairs) missing() error                  { return nil }
func (p *agentPairs) ended() <-chan struct{}          { return nil }
func (p *agentPairs) stop() error                     { return p.fold.events.Stop() }
func (p *agentPairs) Close() error                    { return p.fold.close() }

// read also returns the lost events. The pairs to which these belong are unknown.
func (p *agentPairs) read() (*Latencies, error) {
	var got Latencies
	err := p.fold.look(func() {
		got.Histogram = p.took.Clone()
		got.setCounts(p.pairs.Counts())
		got.Keys, p.keys = keyLatencies(p.pairs.Groups(), p.keys)
		got.Others = p.pairs.Others().Clone()
	})
	if err != nil {
		return nil, err
	}
	lost, err := p.fold.events.Losses()
	got.Lost = source.Total(lost)
	return &got, err
}

// keyLatencies returns copies of groups. known are the keys of the first of them.
func keyLatencies(groups []*source.PairGroup, known []*Key) (all []KeyLatency, keys []*Key) {
	for i, g := range groups {
		if i == len(known) {
			known = append(known, &Key{Values: g.Values})
		}
		all = append(all, KeyLatency{known[i], g.Fields, g.Histogram.Clone()})
	}
	return all, known
}
