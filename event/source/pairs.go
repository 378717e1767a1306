package source

import (
	"encoding/binary"
	"time"

	"github.com/waymark-trace/waymark/event"
)

// MaxOpen is how many pairs can be open at once.
const MaxOpen = 1 << 20

// PairOptions are how events are joined to pairs.
type PairOptions struct {
	// Begins and Ends report whether events of a point begin and end pairs. They are called once
	// for each point. Events of others are ignored.
	Begins, Ends func(*event.Point) bool
	// By names the value that begin and end have in common, besides the process: "goroutine",
	// "tid", a field, or another one that KeyValue knows. "" is the goroutine of events that have
	// one, and the thread of others.
	By string
	// EndBy is the name on the end's side where it is another one there, "" for By.
	EndBy string
	// MaxOpen is how many pairs can be open at once, 0 for the constant MaxOpen, which is the most.
	MaxOpen int
}

// PairCounts are the events that Pairs was given.
type PairCounts struct {
	// Begins and Ends are the events on either side.
	Begins, Ends uint64
	// Nested is how many begins came while one with the same key was open. That one is forgotten:
	// of nested pairs the innermost is measured.
	Nested uint64
	// Unread is how many events on either side had no key. They are not among Begins and Ends.
	Unread uint64
	// Full is how many begins found MaxOpen pairs open, and are forgotten.
	Full uint64
}

// Pairs joins begins to ends: an end belongs to the last begin with the same key in the same
// process. Times are compared on the clock of the events' source, so all events are of one source,
// in the order of time. Its methods are for one goroutine at a time.
type Pairs struct {
	options PairOptions
	sides   map[*event.Point]side
	open    map[string]time.Duration // by key, the time of the begin
	key     []byte
	counts  PairCounts
}

type side struct{ begins, ends bool }

// NewPairs returns a Pairs without open pairs.
func NewPairs(o PairOptions) *Pairs {
	if o.EndBy == "" {
		o.EndBy = o.By
	}
	if o.MaxOpen <= 0 || o.MaxOpen > MaxOpen {
		o.MaxOpen = MaxOpen
	}
	return &Pairs{options: o, sides: map[*event.Point]side{}, open: map[string]time.Duration{}}
}

// Add takes the next event, which it does not keep. It returns how long a pair took, and true,
// when the event is its end. An event of a point that both begins and ends pairs first ends the
// pair that an event before began.
func (p *Pairs) Add(e *event.Event) (took time.Duration, ended bool) {
	s, ok := p.sides[e.Point]
	if !ok {
		s = side{p.options.Begins(e.Point), p.options.Ends(e.Point)}
		p.sides[e.Point] = s
	}
	if s.ends {
		took, ended = p.end(e)
	}
	if s.begins {
		p.begin(e)
	}
	return took, ended
}

// Counts returns the events so far.
func (p *Pairs) Counts() PairCounts { return p.counts }

func (p *Pairs) end(e *event.Event) (took time.Duration, ended bool) {
	if !p.encode(e, p.options.EndBy) {
		p.counts.Unread++
		return 0, false
	}
	p.counts.Ends++
	began, ended := p.open[string(p.key)]
	if ended {
		delete(p.open, string(p.key))
		took = e.Time - began
	}
	return took, ended
}

func (p *Pairs) begin(e *event.Event) {
	if !p.encode(e, p.options.By) {
		p.counts.Unread++
		return
	}
	p.counts.Begins++
	if _, nested := p.open[string(p.key)]; nested {
		p.counts.Nested++
	} else if len(p.open) >= p.options.MaxOpen {
		p.counts.Full++
		return
	}
	p.open[string(p.key)] = e.Time
}

// encode makes the key of an event, and reports false for one without.
func (p *Pairs) encode(e *event.Event, by string) (ok bool) {
	if by == "" {
		if by = "tid"; e.Goroutine != 0 {
			by = "goroutine"
		}
	}
	p.key = binary.AppendVarint(p.key[:0], int64(e.PID))
	p.key, ok = AppendKey(p.key, e, by)
	return ok
}
