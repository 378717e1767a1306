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

// Offsets of an event's arguments, at least and at most: behind its header and its goroutine, which
// has 32 bits, or 64 where it needs them.
const (
	compactArgs  = ctf.CompactHeader + 4
	extendedArgs = ctf.ExtendedHeader + 8
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
		n := 0
		if p.whole != nil {
			if err = to.open(s, uint64(run.Heads[i].Monotonic), compactArgs+p.prefix); err != nil {
				break
			}
			n = to.copyWhole(p, run, i)
		}
		if n == 0 {
			n, err = 1, c.writeOne(&to, s, p, run, i)
		}
		i += n
	}
	to.commit(s)
	return err
}

// copyWhole copies consecutive events of a plan without texts, from event i of the run on, as long
// as there is room and their headers are compact. It returns their number.
func (t *converter) copyWhole(p *plan, run *ring.Run, i int) int {
	heads, room, last := run.Heads[i:], t.room[t.next:], t.last
	header, _ := p.whole.Header()
	size := ctf.Aligned(compactArgs + p.prefix)
	n, event := 0, heads[0].Event
	for n < len(heads) && len(room) >= size {
		h := &heads[n]
		time := uint64(h.Monotonic)
		if h.Event != event || time-last >= ctf.HeaderTime || h.Goroutine>>32 != 0 {
			break
		}
		from, to := run.Args(h), room[:size:size]
		binary.LittleEndian.PutUint64(to, uint64(header|uint32(time)<<ctf.HeaderShift)|h.Goroutine<<32)
		to = to[compactArgs:]
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
	if n > 0 {
		t.next += n * size
		t.end, t.last = t.next-size+compactArgs+p.prefix, last
		t.events += uint64(n)
	}
	return n
}

// writeOne records event i of a run, whatever its plan, its time and its goroutine.
func (c *PackedChannel) writeOne(to *converter, s *packedStream, p *plan, run *ring.Run, i int) error {
	h := &run.Heads[i]
	args, time := run.Args(h), uint64(h.Monotonic)
	n := run.Events[h.Event].Size
	size, err := p.measure(args[:n], args[n:])
	if err != nil {
		return err
	}
	wide := h.Goroutine>>32 != 0
	class, err := c.packedClass(p, wide)
	if err != nil {
		s.unclassed++
		return s.tell()
	}
	if err := to.open(s, time, extendedArgs+size); err != nil {
		return err
	}
	b := to.room[to.next:]
	n = class.PutHeader(b, time, to.last)
	if wide {
		binary.LittleEndian.PutUint32(b[n:], 0)
		n = ctf.Aligned(n)
	}
	binary.LittleEndian.PutUint64(b[n:], h.Goroutine)
	n = ctf.Aligned(n + 4)
	b = b[:ctf.Aligned(n+size)]
	clear(b[p.finish(b, n+copy(b[n:], args[:p.prefix]), args):])
	to.next, to.end, to.last = to.next+len(b), to.next+n+size, time
	to.events++
	return nil
}

// open makes room for an event. It may commit the events before it.
func (t *converter) open(s *packedStream, time uint64, size int) error {
	if t.next+size <= len(t.room) {
		return nil
	}
	t.commit(s)
	room, last, err := s.Room(time, size)
	*t = converter{room: room, first: time, last: last}
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
