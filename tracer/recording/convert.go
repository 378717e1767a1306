package recording

import (
	"encoding/binary"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// converter is a position in the packet of a stream.
type converter struct {
	room        []byte // from the first uncommitted event on
	next, end   int    // in room: the start of the next event, the end of the last
	events      uint64
	first, last uint64 // times of the events in room
}

// goroutineSize is the size of an event's context, and beforeArgs the offset of its arguments.
const (
	goroutineSize = 8
	beforeArgs    = ctf.HeaderSize + goroutineSize
)

// writeRun records a run of events by copying their values into packets. Events without texts are
// copied many at a time. The lengths of events were checked when the run was made.
func (c *PackedChannel) writeRun(s *packedStream, run *ring.Run) (err error) {
	var to converter
	for i := 0; i < len(run.Heads) && err == nil; {
		number := int(run.Heads[i].Event)
		var p *plan
		if p, err = c.planOf(s, number, run.Events[number]); err != nil {
			break
		}
		if p.whole == nil {
			err = c.writeTexts(&to, s, p, run, i)
			i++
			continue
		}
		time := uint64(run.Heads[i].Monotonic)
		if err = to.open(s, time, beforeArgs+p.prefix); err == nil {
			i += to.copyWhole(p, run, i)
		}
	}
	to.commit(s)
	return err
}

// copyWhole copies consecutive events of a plan without texts, from event i of the run on, as long
// as there is room. It returns their number. There must be room for the first.
func (t *converter) copyWhole(p *plan, run *ring.Run, i int) int {
	heads, room, header, last := run.Heads[i:], t.room[t.next:], p.whole.Header(0), t.last
	size := ctf.Aligned(beforeArgs + p.prefix)
	n, event := 0, heads[0].Event
	for n < len(heads) && len(room) >= size {
		h := &heads[n]
		time := uint64(h.Monotonic)
		if h.Event != event || time-last >= ctf.HeaderTime {
			break
		}
		from, to := run.Args(h), room[:size:size]
		binary.LittleEndian.PutUint64(to, header|time&(ctf.HeaderTime-1))
		binary.LittleEndian.PutUint64(to[ctf.HeaderSize:], h.Goroutine)
		to = to[beforeArgs:]
		for len(to) > 8 && len(from) > 8 {
			binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
			to, from = to[8:], from[8:]
		}
		if len(to) > 0 {
			binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from)&p.tail)
		}
		room, last = room[size:], time
		n++
	}
	t.next += n * size
	t.end, t.last = t.next-size+beforeArgs+p.prefix, last
	t.events += uint64(n)
	return n
}

// writeTexts records event i of a run. The event's plan has texts or missing values.
func (c *PackedChannel) writeTexts(to *converter, s *packedStream, p *plan, run *ring.Run, i int) error {
	h := &run.Heads[i]
	args, time := run.Args(h), uint64(h.Monotonic)
	n := run.Events[h.Event].Size
	size, err := p.measure(args[:n], args[n:])
	if err != nil {
		return err
	}
	class, err := c.packedKind(p)
	if err != nil {
		s.kind++
		return s.tell()
	}
	size += beforeArgs
	if err := to.open(s, time, size); err != nil {
		return err
	}
	b := to.room[to.next:][:ctf.Aligned(size)]
	binary.LittleEndian.PutUint64(b, class.Header(time))
	binary.LittleEndian.PutUint64(b[ctf.HeaderSize:], h.Goroutine)
	n = beforeArgs + copy(b[beforeArgs:], args[:p.prefix])
	clear(b[p.finish(b, n, args):])
	to.next, to.end, to.last = to.next+len(b), to.next+size, time
	to.events++
	return nil
}

// open makes room for an event. It may commit the events before it.
func (t *converter) open(s *packedStream, time uint64, size int) error {
	if t.next+size <= len(t.room) && time-t.last < ctf.HeaderTime {
		return nil
	}
	t.commit(s)
	room, err := s.Room(time, size)
	*t = converter{room: room, first: time, last: time}
	return err
}

func (t *converter) commit(s *packedStream) { s.Commit(t.end, t.events, t.first, t.last) }

// planOf returns the plan of an event of a stream. The caller holds mu.
func (c *PackedChannel) planOf(s *packedStream, number int, m *ring.Event) (*plan, error) {
	if number < len(s.plans) {
		if p := s.plans[number]; p != nil && p.event == m {
			return p, nil
		}
	}
	p, err := c.plan(m)
	for len(s.plans) <= number {
		s.plans = append(s.plans, nil)
	}
	s.plans[number] = p
	return p, err
}
