package ring

import (
	"sync/atomic"
	"unsafe"
)

// cursor is the reading position in one ring.
type cursor struct {
	control  *control
	said     uint64    // the offset of control in the file
	consumed *consumed // nil if it is not writable
	given    *consumed // the same, to read
	data     []byte
	offset   uint64 // of data in the file

	position uint64 // the end of the returned records
	skip     uint64 // an earlier reader has read the records before it
	started  bool
	batch    []byte // copied and not yet decoded
	room     []byte // the buffer of batch
	limit    uint64 // the end of the sub-buffer's complete records when batch was copied

	least uint64 // the least number of bytes to copy next

	heads   []Head        // of the records decoded last
	space   []Head        // the buffer of heads
	bytes   []byte        // that contain these records
	start   uint64        // the position of bytes
	first   uint64        // the number of heads[0]
	next    int           // the index of the next head to return
	decoded uint64        // the position of batch
	context recordContext // of the record at decoded
	count   uint64        // the number of the record at decoded
	run     Run

	events uint64 // returned records and overwritten ones before them
	missed uint64 // records overwritten before they were read
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

// floor returns the position before which the writer may overwrite records.
func (c *cursor) floor(g *geometry) uint64 {
	if g.mode == Overwrite {
		return atomic.LoadUint64(&c.control.oldest)
	}
	return atomic.LoadUint64(&c.given.position) &^ (g.sub - 1)
}

// attempts bounds how often a writer may overtake the reader in one call. After that, fill reports
// no new records.
const attempts = 8

// chunk is the number of bytes copied at a time from a ring. The copy stays in a processor's
// first-level cache until it is decoded, and a file cannot make its reader allocate a sub-buffer of any size.
const chunk = 32 << 10

// fill copies the next complete records of one sub-buffer, at least least bytes if there are as
// many. It returns false if there are no new records. With asItIs it keeps the sub-buffer's header.
// In Discard mode it then copies nothing, because the writer overwrites only consumed records.
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
			return false, r.errorf(c.said, "malformed control: the end of the records is at 0x%x", head)
		case head < c.decoded:
			return false, r.errorf(c.said, "malformed control: the end of the records is at 0x%x, before 0x%x, which was read", head, c.decoded)
		case floor%g.sub != 0:
			return false, r.errorf(c.said, "malformed control: the oldest sub-buffer begins at 0x%x", floor)
		case floor > head:
			continue // the writer has wrapped around meanwhile
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
		if !asItIs {
			size = min(size, max(least, chunk))
		}
		if r.copied += size; r.copied > r.most {
			return false, r.errorf(c.at(), "%w", &LimitError{r.stored, r.most})
		}
		c.batch = nil
		c.room = append(c.room[:0], c.data[at:at+size]...)
		fence() // the copy must precede the check whether it is valid
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

// enter reads the sub-buffer header at the start of the batch.
func (c *cursor) enter(r *Reader, start uint64) error {
	if len(c.batch) < subHeaderSize {
		return r.errorf(c.at(), "a sub-buffer of %d bytes", len(c.batch))
	}
	h := (*subHeader)(unsafe.Pointer(unsafe.SliceData(c.batch)))
	if h.position != start {
		return r.errorf(c.at(), "the sub-buffer has position 0x%x, not 0x%x", h.position, start)
	}
	if c.count == noEvents {
		c.count = h.events
	}
	if h.events < c.count || h.events > 1<<62 {
		return r.errorf(c.at(), "malformed sub-buffer: %d events precede event %d", h.events, c.count)
	}
	c.missed += h.events - c.count
	c.count, c.context = h.events, h.recordContext
	c.events = c.count
	c.advance(subHeaderSize)
	c.position = c.decoded
	return nil
}

// advance skips n bytes of the batch.
func (c *cursor) advance(n uint64) {
	c.batch = c.batch[n:]
	c.decoded += n
}

// at returns the offset in the file of the word to decode next.
func (c *cursor) at() uint64 { return c.offset + c.decoded&uint64(len(c.data)-1) }
