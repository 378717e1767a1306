package source

import (
	"encoding/binary"
	"time"

	"github.com/waymark-trace/waymark/event"
)

// MaxOpen is the largest number of pairs that can be open at once.
const MaxOpen = 1 << 20

// PairOptions configures the pairing of events.
type PairOptions struct {
	// Begins and Ends report whether events of a point begin and end pairs. They are called once
	// for each point. Events of points that do neither are ignored.
	Begins, Ends func(*event.Point) bool
	// By names the key that begin and end share within a process: "goroutine", "tid", a field, or
	// any other name accepted by KeyValue. With "" the key is the goroutine, or the thread of
	// events without one.
	By string
	// EndBy names the key of ends if it differs from that of begins. "" means By.
	EndBy string
	// MaxOpen limits the pairs open at once. 0 means the constant MaxOpen, the upper limit.
	MaxOpen int
}

// PairCounts counts the events added to Pairs.
type PairCounts struct {
	// Begins and Ends count the begins and ends with a key.
	Begins, Ends uint64
	// Nested counts the begins that replaced an open begin with the same key. Only the innermost of
	// nested pairs is measured.
	Nested uint64
	// Unread counts begins and ends without a key. Begins and Ends do not include them.
	Unread uint64
	// Full counts begins that were dropped because MaxOpen pairs were open.
	Full uint64
}

// Pairs pairs begins with ends. An end belongs to the last begin with the same key in the same
// process. All events must come from one source, in the order of time, because their times are
// compared. Pairs must not be used by several goroutines at once.
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

// Add adds the next event and does not retain it. If the event ends a pair, Add returns the pair's
// duration and true. An event of a point that both begins and ends pairs first ends the open pair
// and then begins the next one.
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

// Counts returns the counts of events so far.
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

// encode sets p.key to the key of an event. It returns false if the event has none.
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
