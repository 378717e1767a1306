package recording

import (
	"encoding/binary"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/tracer"
)

// goroutineSize is the size of the context of an event.
const goroutineSize = 8

// converter is a place in the packet of a stream.
type converter struct {
	room        []byte // from the first event that is not committed on
	next, end   int    // in room: of the next event, and of the last
	events      uint64
	first, last uint64 // times of the events in room
}

// writeRun records a run of events. The run's lengths were checked when it was made; here its values are copied into packets, those
// without texts in a few words each.
func (c *PackedChannel) writeRun(s *packedStream, run *tracer.Run) (err error) {
	var to converter
	defer func() { to.commit(s) }()
	var p *plan
	number := -1
	for i := range run.Heads {
		h := &run.Heads[i]
		if int(h.Event) != number {
			number = int(h.Event)
			if p, err = c.planOf(s, number, run.Markers[number]); err != nil {
				return err
			}
		}
		args, class, size := run.Args(h), p.whole, p.prefix
		if class == nil {
			n := run.Events[number].Size
			if size, err = p.measure(args[:n], args[n:]); err != nil {
				return err
			}
			if class, err = c.packedKind(p); err != nil {
				s.kind++
				if err = s.tell(); err != nil {
					return err
				}
				continue
			}
		}
		size += ctf.HeaderSize + goroutineSize
		time := uint64(h.Monotonic)
		if to.next+size > len(to.room) || time-to.last >= ctf.HeaderTime {
			if err = to.open(s, time, size); err != nil {
				return err
			}
		}
		b := to.room[to.next:][:ctf.Aligned(size)]
		binary.LittleEndian.PutUint64(b, class.Header(time))
		binary.LittleEndian.PutUint64(b[ctf.HeaderSize:], h.Goroutine)
		b = b[ctf.HeaderSize+goroutineSize:]
		if class == p.whole {
			copyWords(b, args, p.tail)
		} else {
			n := copy(b, args[:p.prefix])
			clear(b[p.finish(b, n, args):])
		}
		to.end = to.next + size
		to.next += ctf.Aligned(size)
		to.last = time
		to.events++
	}
	return nil
}

// copyWords fills to, which is whole words, from the beginning of from. Only the bytes of tail are kept of the last word.
func copyWords(to, from []byte, tail uint64) {
	last := len(to) - 8
	if last < 0 {
		return
	}
	from = from[:len(to)]
	for i := 0; i < last; i += 8 {
		binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
	}
	binary.LittleEndian.PutUint64(to[last:], binary.LittleEndian.Uint64(from[last:])&tail)
}

// open commits the events that are there and gets room for the next, which has size bytes.
func (t *converter) open(s *packedStream, time uint64, size int) error {
	t.commit(s)
	room, err := s.Room(time, size)
	*t = converter{room: room, first: time, last: time}
	return err
}

func (t *converter) commit(s *packedStream) { s.Commit(t.end, t.events, t.first, t.last) }

// planOf returns the plan of an event of a stream. The caller holds mu.
func (c *PackedChannel) planOf(s *packedStream, number int, m *tracer.Marker) (*plan, error) {
	for len(s.plans) <= number {
		s.plans = append(s.plans, nil)
	}
	if p := s.plans[number]; p != nil && p.marker == m {
		return p, nil
	}
	p, err := c.plan(m)
	s.plans[number] = p
	return p, err
}
