package recorder

import (
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/internal/field"
	"github.com/waymark-trace/waymark/internal/point"
	"github.com/waymark-trace/waymark/internal/ring"
)

var errUnknown = errors.New("its arguments are not known")

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
		err = field.Wrap("recording marker "+r.marker.Name, err)
		pl = &plan{session: s, refused: true}
	}
	r.plan.Store(pl)
	return err
}

func (s *Session) newPlan(m *point.Recordable) (*plan, error) {
	d, err := m.Declared()
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, errUnknown
	}
	var kinds []field.Kind
	for _, a := range d.Arguments {
		kinds = append(kinds, a.Kind)
	}
	offsets, size := place(kinds)
	e := &ring.Event{Name: m.Name, Format: m.Format, Size: (size + 7) &^ 7}
	pl := &plan{
		session: s,
		layout: layout{
			writers: s.file.Writers(), stamp: s.stamp, goid: point.NumberOffset(),
			size: ring.RecordHeader + uint64(e.Size), words: uintptr(size / 8), tail: uintptr(size % 8),
			pair: size == 16,
		},
	}
	for i, a := range d.Arguments {
		e.Fields = append(e.Fields, ring.Field{
			Name: a.Name, Type: a.Type, Verb: a.Verb, Kind: a.Kind, Offset: offsets[i], Size: ring.SizeOf(a.Kind, int(word)),
		})
		if a.Kind.HasLength() {
			pl.texts = append(pl.texts, uintptr(offsets[i]))
		}
	}
	room := s.file.MaxRecord()
	if pl.counts = s.o.Mode == ring.Count; !pl.counts && pl.size > room {
		return nil, fmt.Errorf("an event has %d bytes, a sub-buffer has room for %d", pl.size, room)
	}
	if n := uint64(len(pl.texts)); n > 0 {
		pl.most = min(uint64(s.o.MaxString), (room-pl.size)/n&^7)
	}
	if s.where != nil {
		if pl.filter, err = compile(s.where, m, e); err != nil {
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
