package source

import (
	"encoding/binary"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/histogram"
)

// MaxOpen is the largest number of pairs that can be open at once.
const MaxOpen = 1 << 20

// PairOptions configures the pairing of events.
type PairOptions struct {
	// Begins and Ends report whether events of a point begin and end pairs. They are called once
	// for each point. Events of points that do neither are ignored.
	Begins, Ends func(*event.Point) bool
	// Key names the key that begin and end share within a process: "goroutine", "tid", a field, or
	// any other name accepted by KeyValue. With "" the key is the goroutine, or the thread of
	// events without one; events without either have no key.
	Key string
	// EndKey names the key of ends if it differs from that of begins. "" means Key.
	EndKey string
	// By names the values that divide pairs into groups. A name is a field of the begin, or else of
	// the end, or else a Builtin value of the begin. Without names there are no groups.
	By []string
	// MaxOpen limits the pairs open at once. 0 means the constant MaxOpen, the upper limit.
	MaxOpen int
	// MaxGroups limits the groups. 0 means the constant MaxGroups.
	MaxGroups int
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
	open    map[string]opened // by key
	key     []byte
	counts  PairCounts

	groups []*PairGroup
	known  map[string]*PairGroup // by the values of PairOptions.By
	others histogram.Histogram
	values []byte // the key of known
}

type side struct{ begins, ends bool }

// opened is a pair that has begun.
type opened struct {
	at    time.Duration
	point *event.Point // the begin's, nil unless pairs are grouped
	by    string       // the begin's values of PairOptions.By, one AppendKey after the other
}

// NewPairs returns a Pairs without open pairs.
func NewPairs(o PairOptions) *Pairs {
	if o.EndKey == "" {
		o.EndKey = o.Key
	}
	if o.MaxOpen <= 0 || o.MaxOpen > MaxOpen {
		o.MaxOpen = MaxOpen
	}
	if o.MaxGroups <= 0 {
		o.MaxGroups = MaxGroups
	}
	return &Pairs{options: o, sides: map[*event.Point]side{}, open: map[string]opened{}, known: map[string]*PairGroup{}}
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
	if !p.encode(e, p.options.EndKey) {
		p.counts.Unread++
		return 0, false
	}
	p.counts.Ends++
	began, ended := p.open[string(p.key)]
	if ended {
		delete(p.open, string(p.key))
		took = e.Time - began.at
		if len(p.options.By) > 0 {
			p.group(&began, e).Add(took)
		}
	}
	return took, ended
}

func (p *Pairs) begin(e *event.Event) {
	if !p.encode(e, p.options.Key) {
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
	b := opened{at: e.Time}
	if len(p.options.By) > 0 {
		b.point, b.by = e.Point, p.begun(e)
	}
	p.open[string(p.key)] = b
}

// encode sets p.key to the key of an event. It returns false if the event has none.
func (p *Pairs) encode(e *event.Event, key string) (ok bool) {
	p.key = binary.AppendVarint(p.key[:0], int64(e.PID))
	switch {
	case key != "":
		p.key, ok = AppendKey(p.key, e, key)
		return ok
	case e.Goroutine != 0: // not by name, which may be that of a field
		p.key = binary.AppendVarint(append(p.key, 'g'), e.Goroutine)
		return true
	}
	p.key = binary.AppendVarint(append(p.key, 't'), int64(e.TID))
	return e.TID != 0
}
