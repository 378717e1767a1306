package ring

import (
	"cmp"
	"io"
	"sync/atomic"
)

// Record is one event of a ring. It and its Args are the reader's until the ring's next Next.
type Record struct {
	Event     *Event
	Number    uint64 // of the events of its ring, from 0, overwritten ones counted, lost ones not
	Monotonic int64  // nanoseconds of CLOCK_MONOTONIC; never less than that of the record before
	Goroutine uint64 // its number, 0 when it is not known
	Args      []byte // as Event says
}

// CopyTo writes what is complete of a ring to w as it is, sub-buffers' headers included, and goes
// on behind it: for who wants to have events out of the way now and to look at them later. It
// returns the bytes that it wrote. It takes the place of Next, not turns with it: Counts does not
// know what is in the copy.
func (r *Reader) CopyTo(ring int, w io.Writer) (written int64, err error) {
	c := &r.cursors[ring]
	for c.failed == nil {
		more := false
		c.failed = r.guard(func() error {
			var wrong error
			if more, wrong = c.fill(r, 0, true); wrong != nil || !more {
				return wrong
			}
			var n int
			n, err = w.Write(c.batch)
			written += int64(n)
			return nil
		})
		if c.failed != nil || !more || err != nil {
			break
		}
		c.advance(uint64(len(c.batch)))
		c.position = c.decoded
	}
	c.batch = nil
	return written, cmp.Or(c.failed, err)
}

// Position returns how many bytes of a ring were read, by any reader.
func (r *Reader) Position(ring int) uint64 { return r.cursors[ring].position }

// Consume gives back the space of the records that Next and Run returned of a ring. In a ring that
// discards, events are lost until somebody does; where the file was opened for reading alone it
// does nothing.
func (r *Reader) Consume(ring int) error {
	c := &r.cursors[ring]
	if c.consumed == nil || c.position < c.skip {
		return nil
	}
	return r.guard(func() error {
		if c.events != noEvents {
			atomic.StoreUint64(&c.consumed.events, c.events)
			atomic.StoreUint64(&c.consumed.at, c.position)
		}
		atomic.StoreUint64(&c.consumed.position, c.position)
		return nil
	})
}

// Counts says how many events of a ring there were. Once nothing is written any more and all was
// read, an event is one of Read by this reader or one before it, Full and Missed.
type Counts struct {
	Read      uint64 // returned by Next and Run: by this reader, and in Discard mode also by earlier ones
	Full      uint64 // lost: there was no room
	Missed    uint64 // lost: overwritten before they were read
	Filtered  uint64 // kept out by a filter
	Truncated uint64 // arguments that were cut
}

// Counts returns the counts of a ring.
func (r *Reader) Counts(ring int) (n Counts, err error) {
	c := &r.cursors[ring]
	err = r.guard(func() error {
		n.Full = atomic.LoadUint64(&c.control.full)
		n.Filtered = atomic.LoadUint64(&c.control.filtered)
		n.Truncated = atomic.LoadUint64(&c.control.truncated)
		if c.events == noEvents && atomic.LoadUint64(&c.given.at) == c.position {
			n.Read = atomic.LoadUint64(&c.given.events) // an earlier reader has read it to the end of a sub-buffer
		}
		return nil
	})
	n.Missed = c.missed
	if c.events != noEvents {
		n.Read = c.events - c.missed
	}
	return n, err
}

// Lost returns how many events were lost that no ring counts: of processors that have no ring, and
// of markers that could not be described.
func (r *Reader) Lost() (noRing, undescribed uint64, err error) {
	err = r.guard(func() error {
		noRing, undescribed = atomic.LoadUint64(&r.header.noRing), atomic.LoadUint64(&r.header.other)
		return nil
	})
	return noRing, undescribed, err
}
