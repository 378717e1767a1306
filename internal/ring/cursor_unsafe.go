package ring

import (
	"sync/atomic"
	"unsafe"
)

// cursor is how far one ring was read.
type cursor struct {
	control  *control
	said     uint64    // where in the file that is
	consumed *consumed // nil when it cannot be written
	given    *consumed // the same, to read
	data     []byte
	offset   uint64 // of data in the file

	position uint64 // of what is read next
	skip     uint64 // what is before it was read by an earlier reader
	started  bool
	batch    []byte // copied and not yet returned, from position on
	room     []byte // what batch is part of

	context context // of the next record
	events  uint64  // its number
	missed  uint64  // records that were overwritten before they were read
	last    int64   // time of the last record
	failed  error
	record  Record
}

func (c *cursor) init(r *Reader, ring uint64) {
	c.control = (*control)(r.at(r.g.controlAt(ring)))
	c.given = (*consumed)(r.at(r.g.consumedAt(ring)))
	c.said, c.offset = r.g.controlAt(ring), r.g.dataAt(ring)
	c.data = r.memory[c.offset:][:r.g.ringSize()]
	if r.words != nil {
		c.consumed = (*consumed)(unsafe.Pointer(&r.words[r.g.consumedAt(ring)-r.g.consumedAt(0)]))
	}
}

// floor returns what may be overwritten: everything before it.
func (c *cursor) floor(g *geometry) uint64 {
	if g.mode == Overwrite {
		return atomic.LoadUint64(&c.control.oldest)
	}
	return atomic.LoadUint64(&c.given.position) &^ (g.sub - 1)
}

// attempts is how often a writer may overtake the reader in one call before it is told that there
// is nothing for now.
const attempts = 8

// fill copies what is complete of one sub-buffer; false means that there is nothing for now. What
// is asked for as it is keeps the sub-buffer's header, and is not copied where nobody writes it
// until it is consumed.
func (c *cursor) fill(r *Reader, asItIs bool) (bool, error) {
	g := &r.g
	if !c.started {
		c.started = true
		c.position = c.floor(g)
		if g.mode == Discard {
			c.skip = atomic.LoadUint64(&c.given.position)
			c.events = noEvents
		}
	}
	for range attempts {
		head := atomic.LoadUint64(&c.control.head)
		floor := c.floor(g)
		switch {
		case head%8 != 0 || head > 1<<62:
			return false, r.errorf(c.said, "the end of what is written is said to be at 0x%x", head)
		case head < c.position:
			return false, r.errorf(c.said, "the end of what is written is said to be at 0x%x, before 0x%x, which was read", head, c.position)
		case floor%g.sub != 0:
			return false, r.errorf(c.said, "the oldest sub-buffer is said to begin at 0x%x", floor)
		case floor > head:
			continue // the writer has gone round meanwhile
		case c.position < floor:
			c.position = floor
		}
		if head == c.position {
			return false, nil
		}
		start := c.position &^ (g.sub - 1)
		if head-start > g.ringSize() {
			continue
		}
		end := min(head, start+g.sub)
		at := c.position & (g.ringSize() - 1)
		c.batch = c.data[at : at+end-c.position]
		if asItIs && g.mode == Discard {
			return true, nil
		}
		c.room = append(c.room[:0], c.batch...)
		c.batch = nil
		fence() // the copy comes before the look whether it was good
		if c.floor(g) > start {
			continue
		}
		c.batch = c.room
		if c.position != start || asItIs {
			return true, nil
		}
		return true, c.enter(r, start)
	}
	return false, nil
}

const noEvents = 1<<64 - 1

// enter reads the header of the sub-buffer that the batch begins with.
func (c *cursor) enter(r *Reader, start uint64) error {
	if len(c.batch) < subHeaderSize {
		return r.errorf(c.at(), "a sub-buffer of %d bytes", len(c.batch))
	}
	h := (*subHeader)(unsafe.Pointer(unsafe.SliceData(c.batch)))
	if h.position != start {
		return r.errorf(c.at(), "the sub-buffer is that of position 0x%x, not 0x%x", h.position, start)
	}
	if c.events == noEvents {
		c.events = h.events
	}
	if h.events < c.events || h.events > 1<<62 {
		return r.errorf(c.at(), "%d events are said to be before event %d", h.events, c.events)
	}
	c.missed += h.events - c.events
	c.events, c.context = h.events, h.context
	c.advance(subHeaderSize)
	return nil
}

// advance goes on behind n bytes of the batch.
func (c *cursor) advance(n uint64) {
	c.batch = c.batch[n:]
	c.position += n
}

// at is the offset in the file of what is read next.
func (c *cursor) at() uint64 { return c.offset + c.position&uint64(len(c.data)-1) }
