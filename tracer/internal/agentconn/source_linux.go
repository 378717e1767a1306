package agentconn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// Source reads the events of one ring file.
type Source struct {
	*ring.Reader
	PID   int
	comm  string
	batch ring.Batch // the batch to deliver

	last time.Duration // when what is of interest ends, 0 for never
	over []bool        // by ring: it has

	broken []bool // by ring: there was an error in it
}

// maxBatch is how many events of a ring are read before those of others, fewer where there are many rings.
const maxBatch = 4096

// read appends what is there, up to a limit for each ring, and gives back its space. until is the
// time up to which everything was read; it is later than any event where nothing was left behind.
func (s *Source) read(events []*event.Event) (_ []*event.Event, until time.Duration, err error) {
	until = 1<<63 - 1
	if s.over == nil {
		s.over = make([]bool, s.Rings())
	}
	most := min(maxBatch, max(8*maxBatch/s.Rings(), 64))
	for i := range s.Rings() {
		for n := 0; !s.over[i]; n++ {
			if n == most {
				until = min(until, events[len(events)-1].Time)
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
func (s *Source) copied(rec *ring.Record, cpu int) (e *event.Event, err error) {
	p := &rec.Event.Point
	e = &event.Event{
		Time: time.Duration(rec.Monotonic), PID: s.PID, CPU: cpu, Comm: s.comm, Goroutine: int64(rec.Goroutine), Point: p,
		Values: make([]event.Value, 0, len(p.Fields)),
	}
	args, texts := rec.Args[:rec.Event.Size], slices.Clone(rec.Args[rec.Event.Size:])
	if e.Values, err = event.Decode(e.Values, p.Fields, args, texts); err != nil {
		return nil, fmt.Errorf("event %s: %w", p.FullName(), err)
	}
	return e, nil
}

// points returns the points described so far.
func (s *Source) points() (all []*event.Point) {
	events, _ := s.Events() // an unreadable table has none
	for _, e := range events {
		if e.Problem == "" {
			all = append(all, &e.Point)
		}
	}
	return all
}

// losses appends the numbers of lost events, by ring and reason.
func (s *Source) losses(all []source.Loss) ([]source.Loss, error) {
	for i := range s.Rings() {
		of, err := s.LossesOf(i)
		if err != nil {
			return all, err
		}
		for _, l := range []source.Loss{
			{Reason: source.BufferFull, Count: of.Full}, {Reason: source.NoRing, Count: of.NoRing}, {Reason: source.Undescribed, Count: of.Undescribed},
		} {
			if l.Stream, l.CPU = "agent_"+strconv.Itoa(s.PID), i; l.Count > 0 {
				all = append(all, l)
			}
		}
	}
	return all, nil
}

// Problems are why all events of a marker are lost.
func (s *Source) Problems() (all []error) {
	events, _ := s.Events() // what cannot be read has been said
	for _, e := range events {
		if e.Problem != "" {
			all = append(all, errors.New(e.Problem))
		}
	}
	return all
}

// LossesOf returns how many events a ring has lost. Those that no ring counts are the first one's.
func (s *Source) LossesOf(cpu int) (l ring.Losses, err error) {
	n, err := s.Counts(cpu)
	l.Full = n.Full + n.Missed
	if err == nil && cpu == 0 {
		l.NoRing, l.Undescribed, err = s.Lost()
	}
	return l, err
}

// merge sorts events that were read by time, and returns those that none can come before, and the
// others.
func merge(events []*event.Event, until time.Duration) (ready, rest []*event.Event) {
	slices.SortStableFunc(events, func(a, b *event.Event) int { return cmp.Compare(a.Time, b.Time) })
	n, _ := slices.BinarySearchFunc(events, until, func(e *event.Event, t time.Duration) int {
		if e.Time <= t {
			return -1
		}
		return 1
	})
	return events[:n], events[n:]
}
