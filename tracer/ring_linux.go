package tracer

import (
	"cmp"
	"slices"
	"time"

	"github.com/waymark-trace/waymark/internal/ring"
)

// ringSource reads the events of one ring file.
type ringSource struct {
	*ring.Reader
	pid     int
	comm    string
	file    *File
	markers []*Marker // by the number of their event
	values  []ring.Value
	event   Event // what each hands over

	last time.Duration // when what is of interest ends, 0 for never
	over []bool        // by ring: it has
}

// maxBatch is how many events of a ring are read before those of others.
const maxBatch = 4096

// read appends what is there, up to a limit for each ring, and gives back its space. until is the time up to which
// everything was read; it is later than any event where nothing was left behind.
func (s *ringSource) read(events []*Event) (_ []*Event, until time.Duration, err error) {
	until = 1<<63 - 1
	if s.over == nil {
		s.over = make([]bool, s.Rings())
	}
	for i := range s.Rings() {
		for n := 0; !s.over[i]; n++ {
			if n == maxBatch {
				until = min(until, events[len(events)-1].Monotonic)
				break
			}
			rec, err := s.Next(i)
			if err != nil {
				return events, until, err
			}
			if rec == nil {
				break
			}
			if s.last > 0 && time.Duration(rec.Monotonic) > s.last {
				s.over[i] = true
				break
			}
			e, err := s.copied(rec, i)
			if err != nil {
				return events, until, err
			}
			events = append(events, e)
		}
		if err := s.Consume(i); err != nil {
			return events, until, err
		}
	}
	return events, until, nil
}

// copied makes an event of a record.
func (s *ringSource) copied(rec *ring.Record, cpu int) (*Event, error) {
	e := &Event{}
	if err := s.fill(e, rec, cpu); err != nil {
		return nil, err
	}
	for i := range e.Values {
		e.Values[i].Text = slices.Clone(e.Values[i].Text)
	}
	return e, nil
}

// fill makes a record an event, whose texts are the record's.
func (s *ringSource) fill(e *Event, rec *ring.Record, cpu int) (err error) {
	if s.values, err = rec.Values(s.values[:0]); err != nil {
		return err
	}
	e.Time, e.Monotonic = time.Unix(0, rec.Monotonic+s.Wall()), time.Duration(rec.Monotonic)
	e.PID, e.CPU, e.Comm, e.Goroutine, e.Marker = s.pid, cpu, s.comm, int64(rec.Goroutine), s.marker(rec.Event)
	e.Values = slices.Grow(e.Values[:0], len(s.values))[:len(s.values)]
	for i, v := range s.values {
		e.Values[i] = Value{Bits: v.Bits, Text: v.Text, Len: v.Len}
	}
	return nil
}

func (s *ringSource) marker(e *ring.Event) *Marker {
	for len(s.markers) <= e.Number {
		s.markers = append(s.markers, nil)
	}
	if s.markers[e.Number] == nil {
		s.markers[e.Number] = ringMarker(e, s.file)
	}
	return s.markers[e.Number]
}

// counts adds what the file says of losses, by ring, and what the condition kept out.
func (s *ringSource) counts(lost []uint64, filtered *uint64) ([]uint64, error) {
	for i := range s.Rings() {
		n, err := s.Counts(i)
		if err != nil {
			return lost, err
		}
		for len(lost) <= i {
			lost = append(lost, 0)
		}
		lost[i] += n.Full + n.Missed
		*filtered += n.Filtered
	}
	noRing, undescribed, err := s.Lost()
	if len(lost) > 0 {
		lost[0] += noRing + undescribed
	}
	return lost, err
}

// merge sorts events that were read by time, and returns those that none can come before, and the others.
func merge(events []*Event, until time.Duration) (ready, rest []*Event) {
	slices.SortStableFunc(events, func(a, b *Event) int { return cmp.Compare(a.Monotonic, b.Monotonic) })
	n, _ := slices.BinarySearchFunc(events, until, func(e *Event, t time.Duration) int {
		if e.Monotonic <= t {
			return -1
		}
		return 1
	})
	return events[:n], events[n:]
}
