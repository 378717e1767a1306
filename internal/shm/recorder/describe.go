package recorder

import (
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

var errUnknown = errors.New("its arguments are not known")

func recordingOf(m *point.Recordable) string { return "recording " + m.What + " " + m.Name }

// describe makes the recording's plan, and puts the event into the table. After an error there is a plan that
// counts events as lost.
func (r *recording) describe() error {
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.plan.Load() != nil {
		return nil
	}
	pl, err := s.newPlan(&r.marker)
	if err != nil {
		err = point.Wrap(recordingOf(&r.marker), err)
		_, _ = s.file.Define(ring.Refused(r.marker.Name, r.marker.Format, err)) // who reads is told, if there is room
		pl = &plan{session: s, refused: true}
	}
	r.plan.Store(pl)
	return err
}

func (s *Session) newPlan(m *point.Recordable) (*plan, error) {
	d, err := declared(m)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, errUnknown
	}
	e, from := eventOf(m, d)
	pl := &plan{
		session: s,
		layout: layout{
			writers: s.file.Writers(), stamp: s.stamp, on: &s.on, goid: point.NumberOffset(),
			size: ring.RecordHeader + uint64(e.Size),
		},
	}
	pl.take(e, from)
	room := s.file.MaxRecord()
	if pl.counts = s.o.Mode == ring.Count; !pl.counts && pl.size > room {
		return nil, fmt.Errorf("an event has %d bytes, a sub-buffer has room for %d", pl.size, room)
	}
	if n := uint64(len(pl.texts)); n > 0 {
		pl.most = min(uint64(s.o.MaxString), (room-pl.size)/n&^7)
	}
	if s.where != nil {
		if pl.filter, err = compile(s.where, m, e, from); err != nil {
			return nil, err
		}
	}
	number, err := s.file.Define(e)
	if err != nil {
		return nil, err
	}
	if pl.event = uintptr(number); pl.counts && number >= s.file.Counters() {
		return nil, fmt.Errorf("it is event %d, and there are counters for %d", number, s.file.Counters())
	}
	pl.header = ring.HeaderOf(number, pl.size)
	return pl, nil
}

// eventOf describes a point's events, in which values lie as in a struct of those that are recorded, and returns where
// each comes from.
func eventOf(m *point.Recordable, d *point.Declaration) (e *ring.Event, from []uintptr) {
	e = &ring.Event{Point: event.Declared(m.Name, m.Format)}
	at := 0
	for _, f := range d.Fields {
		from = append(from, uintptr(f.Offset))
		if f.Kind != event.Invalid {
			align := alignOf(f.Kind)
			at = (at + align - 1) &^ (align - 1)
		}
		f.Offset = at
		at += f.Size
		e.Fields = append(e.Fields, f)
	}
	e.Size = (at + 7) &^ 7
	return e, from
}

// take plans how the values of an event are taken from the arguments: all at once where they lie there
// in the same way, else in pieces.
func (pl *plan) take(e *ring.Event, from []uintptr) {
	last, apart := 0, false
	for i, f := range e.Fields {
		if f.Kind == event.Invalid {
			continue
		}
		to := uintptr(f.Offset)
		pl.pieces = append(pl.pieces, piece{from[i], to, uintptr(f.Size)})
		apart = apart || from[i] != to
		last = f.Offset + f.Size
		if f.Kind.HasLength() {
			pl.texts = append(pl.texts, piece{from[i], to, 0})
		}
	}
	if !apart {
		pl.pieces, pl.words, pl.tail, pl.pair = nil, uintptr(last/8), uintptr(last%8), last == 16
	}
}
