package tracer

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// agentPairs joins the events of agents to pairs, in this process.
type agentPairs struct {
	fold       *agentFold
	joined     pairing
	begin, end []*Marker
	limit      int

	got  Latencies
	open map[string]time.Duration // by key, when a pair began
}

func newAgentPairs(t Target, begin, end []*Marker, o *LatencyOptions, d Options) (*agentPairs, error) {
	markers := slices.Concat(begin, end)
	if err := checkAgent(t, markers); err != nil {
		return nil, err
	}
	p := &agentPairs{begin: begin, end: end, joined: o.pairing(markers), limit: d.MaxKeys, open: map[string]time.Duration{}}
	switch {
	case o.Where != "":
		// A begin of which it does not hold ends what was open with its key; the agent would keep it to itself.
		return nil, fmt.Errorf("a condition on what begins pairs: %w", ErrNotByAgent)
	case p.joined.begin == "tid" || p.joined.end == "tid":
		return nil, fmt.Errorf("joining pairs by thread: %w", ErrNotByAgent)
	}
	events, err := newAgentEvents(t, markers, d)
	if err != nil {
		return nil, err
	}
	p.fold = newAgentFold(events, p.add)
	return p, nil
}

func (p *agentPairs) add(e *Event) {
	has := func(some []*Marker) bool {
		return slices.ContainsFunc(some, func(m *Marker) bool { return m.declared == e.Marker.declared })
	}
	begins := has(p.begin)
	name := p.joined.end
	if begins {
		name = p.joined.begin
	}
	key, ok := e.keyText(name)
	if !ok {
		p.got.Unread++
		return
	}
	if begins {
		p.got.Begins++
		if _, open := p.open[key]; open {
			p.got.Nested++
		} else if len(p.open) >= p.limit {
			p.got.Full++
			return
		}
		p.open[key] = e.Monotonic
		return
	}
	p.got.Ends++
	if at, open := p.open[key]; open {
		delete(p.open, key)
		p.got.Add(e.Monotonic - at)
	}
}

// keyText returns what an event has by a name, so that equal values of one process are equal texts.
func (e *Event) keyText(name string) (string, bool) {
	part, ok := e.partText(name)
	return strconv.Itoa(e.PID) + part, ok
}

// partText does so for values of any process. The length of a text says where it ends.
func (e *Event) partText(name string) (string, bool) {
	v, ok := e.keyValue(name)
	part := fmt.Sprintf("\x00%t %x", ok, v.Bits)
	if v.Text != nil {
		part += fmt.Sprintf(" %d %s", v.Len, v.Text)
	}
	return part, ok
}

// keyValue returns the value of a name that can be a key, as Options.By has them.
func (e *Event) keyValue(name string) (Value, bool) {
	switch i := e.Marker.fieldIndex(name); {
	case i >= 0 && i < len(e.Values):
		v := e.Values[i]
		if e.Marker.Fields[i].Unavailable != nil {
			return v, false // to join by it would be to join strangers
		}
		if len(v.Text) > KeyText {
			v.Text = v.Text[:KeyText]
		}
		return v, true
	case name == "pid":
		return Value{Bits: uint64(e.PID)}, true
	case name == "cpu":
		return Value{Bits: uint64(e.CPU)}, true
	case name == "comm":
		return Value{Text: []byte(e.Comm), Len: len(e.Comm)}, true
	case name == "goroutine":
		return Value{Bits: uint64(e.Goroutine)}, e.Goroutine != 0
	}
	return Value{}, false
}

func (p *agentPairs) by() pairing                     { return p.joined }
func (p *agentPairs) markers() (begin, end []*Marker) { return p.begin, p.end }
func (p *agentPairs) skipped() []*SiteError           { return nil }
func (p *agentPairs) ended() <-chan struct{}          { return nil }
func (p *agentPairs) Close() error                    { return p.fold.close() }

// read tells of lost events, too: nobody knows which pairs they belong to.
func (p *agentPairs) read() (*Latencies, error) {
	var got Latencies
	err := p.fold.look(func() {
		got = p.got
		got.Histogram = p.got.Clone()
	})
	if err != nil {
		return nil, err
	}
	got.Lost, err = p.fold.events.lost()
	return &got, err
}
