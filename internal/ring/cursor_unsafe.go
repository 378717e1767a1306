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

	position uint64 // up to which records were returned
	skip     uint64 // what is before it was read by an earlier reader
	started  bool
	batch    []byte // copied and not yet decoded
	room     []byte // what batch is part of
	limit    uint64 // the end of what was complete of the sub-buffer when batch was copied

	least uint64 // how much of it has to be copied at least

	heads   []Head  // of the records that were decoded last
	space   []Head  // what heads is part of
	bytes   []byte  // what they are in
	start   uint64  // and its position
	first   uint64  // the number of the first
	next    int     // which is returned next
	decoded uint64  // the position of batch
	context context // of the record there
	count   uint64  // its number
	run     Run

	events uint64 // records that were returned, and overwritten ones before them
	missed uint64 // records that were overwritten before they were read
	last   int64  // time of the last record
	failed error
	record Record
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

// chunk is how much is copied at a time of a ring whose writer waits for its reader. The copy stays
// in a processor's nearest cache until it is decoded.
const chunk = 32 << 10

// fill copies the next complete records of one sub-buffer, at least least bytes where there are as
// many. It returns false if there is nothing new. asItIs keeps the sub-buffer's header, and copies
// nothing that the writer leaves alone until it is consumed.
func (c *cursor) fill(r *Reader, least uint64, asItIs bool) (bool, error) {
	g := &r.g
	if !c.started {
		c.started = true
		c.position = c.floor(g)
		if g.mode == Discard {
			c.skip = atomic.LoadUint64(&c.given.position)
			c.events = noEvents
		}
		c.decoded, c.count = c.position, c.events
	}
	for range attempts {
		head := atomic.LoadUint64(&c.control.head)
		floor := c.floor(g)
		switch {
		case head%8 != 0 || head > 1<<62:
			return false, r.errorf(c.said, "the end of what is written is said to be at 0x%x", head)
		case head < c.decoded:
			return false, r.errorf(c.said, "the end of what is written is said to be at 0x%x, before 0x%x, which was read", head, c.decoded)
		case floor%g.sub != 0:
			return false, r.errorf(c.said, "the oldest sub-buffer is said to begin at 0x%x", floor)
		case floor > head:
			continue // the writer has gone round meanwhile
		case c.decoded < floor:
			c.decoded, c.position = floor, floor
		}
		if head == c.decoded {
			return false, nil
		}
		start := c.decoded &^ (g.sub - 1)
		if head-start > g.ringSize() {
			continue
		}
		c.limit = min(head, start+g.sub)
		at, size := c.decoded&(g.ringSize()-1), c.limit-c.decoded
		if asItIs && g.mode == Discard {
			c.batch = c.data[at : at+size]
			return true, nil
		}
		if g.mode == Discard {
			size = min(size, max(least, chunk))
		}
		c.batch = nil
		c.room = append(c.room[:0], c.data[at:at+size]...)
		fence() // the copy comes before the look whether it was good
		if c.floor(g) > start {
			continue
		}
		c.batch = c.room
		if c.decoded != start || asItIs {
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
	if c.count == noEvents {
		c.count = h.events
	}
	if h.events < c.count || h.events > 1<<62 {
		return r.errorf(c.at(), "%d events are said to be before event %d", h.events, c.count)
	}
	c.missed += h.events - c.count
	c.count, c.context = h.events, h.context
	c.events = c.count
	c.advance(subHeaderSize)
	c.position = c.decoded
	return nil
}

// advance goes on after n bytes of the batch.
func (c *cursor) advance(n uint64) {
	c.batch = c.batch[n:]
	c.decoded += n
}

// at is the offset in the file of what is decoded next.
func (c *cursor) at() uint64 { return c.offset + c.decoded&uint64(len(c.data)-1) }
