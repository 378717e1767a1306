package stats

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink"
	"github.com/waymark-trace/waymark/sink/internal/join"
)

// Options choose the markers to count and to pair.
type Options struct {
	Count   []string    // patterns of markers, as package sink has them
	Latency []sink.Pair // their markers are counted, too
}

// Stats counts until it is closed; its numbers stay. Its methods may be called by several
// goroutines at once.
type Stats struct {
	start   time.Time
	markers []*counter // sorted by name
	pairs   []*pair
	c       sink.Connection
}

// counter holds the data of one marker. All but its meter is set before the first event.
type counter struct {
	stats        *Stats
	name         string
	passed       meter
	begins, ends []*pair
}

type pair struct {
	sink.Pair
	beginKey, endKey string
	open             *join.Table[time.Duration] // when open pairs began, after the start
	done             meter
	unended, unbegun atomic.Uint64
}

// Connect begins to count. When it returns an error nothing is connected.
func Connect(o Options) (*Stats, error) {
	names, err := sink.Match(o.Count...)
	if err != nil {
		return nil, err
	}
	s := &Stats{start: time.Now()}
	for _, name := range names {
		s.counter(name)
	}
	for _, p := range o.Latency {
		if err := p.Check(); err != nil {
			return nil, err
		}
		q := &pair{Pair: p, open: join.NewTable[time.Duration](), done: newMeter()}
		q.beginKey, q.endKey = p.Keys()
		s.pairs = append(s.pairs, q)
		begin, end := s.counter(p.Begin), s.counter(p.End)
		begin.begins, end.ends = append(begin.begins, q), append(end.ends, q)
	}
	slices.SortFunc(s.markers, func(a, b *counter) int { return strings.Compare(a.name, b.name) })
	for _, c := range s.markers {
		if err := s.c.Add(c.name, event, c); err != nil {
			return nil, errors.Join(err, s.c.Close())
		}
	}
	if err := s.c.Arm(); err != nil {
		return nil, err
	}
	return s, nil
}

// counter returns the counter for a name.
func (s *Stats) counter(name string) *counter {
	for _, c := range s.markers {
		if c.name == name {
			return c
		}
	}
	c := &counter{stats: s, name: name, passed: newMeter()}
	s.markers = append(s.markers, c)
	return c
}

// event is the probe of every marker.
func event(e *marker.Event) {
	c := e.Data().(*counter)
	now, goroutine := time.Since(c.stats.start), e.Goroutine()
	c.passed.add(goroutine, now)
	for _, p := range c.ends {
		p.end(e, goroutine, now)
	}
	for _, p := range c.begins {
		p.begin(e, now)
	}
}

func (p *pair) begin(e *marker.Event, now time.Duration) {
	k, ok := join.KeyOf(e, p.beginKey)
	if !ok || p.open.Put(k, now) {
		p.unended.Add(1)
	}
}

func (p *pair) end(e *marker.Event, goroutine uint64, now time.Duration) {
	if k, ok := join.KeyOf(e, p.endKey); ok {
		if began, ok := p.open.Take(k); ok {
			p.done.addLatency(goroutine, now, now-began)
			return
		}
	}
	p.unbegun.Add(1)
}

// Pending returns the names that no marker has so far.
func (s *Stats) Pending() []string { return s.c.Pending() }

// Close ends the counting. After it returns, no probe of the Stats runs. [sink.Connection.Close]
// documents the wait and the error.
func (s *Stats) Close() error { return s.c.Close() }
