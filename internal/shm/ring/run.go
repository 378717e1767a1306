package ring

import (
	"errors"
	"math"
)

// Run holds consecutive records of a ring, copied and checked. It is valid until the next call of
// Run or Next for the ring.
type Run struct {
	Events []*Event // described so far, by number
	Heads  []Head   // of the records
	bytes  []byte
}

// Head is the fixed part of a record. Event is an index of Run.Events. The record has at least as
// many bytes of arguments as that event.
type Head struct {
	Monotonic int64 // nanoseconds of CLOCK_MONOTONIC, never less than those of the record before
	Goroutine uint64
	at        uint32 // offset of the record in Run.bytes
	words     uint16 // length of the record, in units of 8 bytes
	Event     uint16
}

// Args returns the bytes of a record's arguments, which its Event describes.
func (u *Run) Args(h *Head) []byte {
	end := h.at + 8*uint32(h.words)
	return u.bytes[h.at+RecordHeader : end : end]
}

// maxRun bounds the number of records in a run, so that their heads and the chunk fit a processor's
// first-level cache.
const maxRun = 512

// Run returns the next records of a ring in the order of writing, or nil if there are none yet. Its
// errors are those of Next.
func (r *Reader) Run(ring int) (*Run, error) {
	c := &r.cursors[ring]
	if c.next == len(c.heads) {
		if more, err := c.more(r); !more {
			return nil, err
		}
	}
	c.run = Run{r.events, c.heads[c.next:], c.bytes}
	c.returned(len(c.heads))
	return &c.run, nil
}

// Next returns the next record of a ring in the order of writing, or nil if there is none yet. An
// error names the offset in the file. It comes after all records before that offset, and is final
// for the ring.
func (r *Reader) Next(ring int) (*Record, error) {
	c := &r.cursors[ring]
	if c.next == len(c.heads) {
		if more, err := c.more(r); !more {
			return nil, err
		}
	}
	h := &c.heads[c.next]
	u := Run{bytes: c.bytes}
	c.record = Record{r.events[h.Event], c.first + uint64(c.next), h.Monotonic, h.Goroutine, u.Args(h)}
	c.returned(c.next + 1)
	return &c.record, nil
}

// returned marks the first n decoded records as returned.
func (c *cursor) returned(n int) {
	c.next = n
	if n == len(c.heads) {
		c.position, c.events = c.decoded, c.count
		return
	}
	c.position, c.events = c.start+uint64(c.heads[n].at), c.first+uint64(n)
}

// more decodes further records after all decoded ones have been returned. It returns false if there
// are none yet.
func (c *cursor) more(r *Reader) (bool, error) {
	for {
		if c.failed != nil {
			return false, c.failed
		}
		if len(c.batch) == 0 {
			more := false
			c.failed = r.guard(func() (err error) {
				more, err = c.fill(r, c.least, false)
				return err
			})
			if c.failed != nil {
				return false, c.failed
			}
			if !more {
				return false, nil
			}
			r.tick()
		}
		if c.failed = c.decode(r); c.failed != nil {
			c.batch = nil
		}
		c.returned(0)
		if len(c.heads) > 0 {
			return true, nil
		}
	}
}

// errPart means that the batch ends in the middle of a record.
var errPart = errors.New("part of a record")

// decode checks records at the start of the batch and stores their heads, for both Run and Next. It
// counts and skips records that an earlier reader has read. If it returns an error, the records
// before the error are decoded.
func (c *cursor) decode(r *Reader) (err error) {
	if c.space == nil {
		c.space = make([]Head, maxRun)
	}
	b, heads, n, at, last := c.batch, c.space, 0, 0, c.last
	c.bytes, c.start = b, c.decoded
	line := r.converter.Line()
	for n < len(heads) && at < len(b) {
		word := order.Uint64(b[at:]) // the batch is a multiple of 8 bytes
		words, number := word>>timeBits&0xffff, word>>48
		size := int(words) * 8
		if uint(size-1) >= uint(len(b)-at) || number >= uint64(len(r.events)) {
			var skip int
			if skip, err = c.other(r, at); err != nil {
				break
			}
			at += skip
			continue
		}
		e := r.events[number]
		if size < RecordHeader+e.Size {
			err = r.errorf(c.at()+uint64(at), "a record of %d bytes, of event %.80q, which has %d", size, e.FullName(), RecordHeader+e.Size)
			break
		}
		c.count++
		if c.decoded+uint64(at) >= c.skip {
			ticks := c.context.ticks + word&math.MaxUint32
			time, ok := line.Monotonic(ticks)
			if !ok {
				time, line = r.converter.Monotonic(ticks), r.converter.Line()
			}
			last = max(last, time)
			h := &heads[n] // field by field: a composite literal is built on the stack first, and its copy stalls
			h.Monotonic, h.Goroutine, h.at, h.words, h.Event = last, c.context.goroutine, uint32(at), uint16(words), uint16(number)
			n++
		}
		at += size
	}
	c.heads, c.last, c.first, c.least = heads[:n], last, c.count-uint64(n), 0
	c.advance(uint64(min(at, len(b))))
	c.decoded += uint64(max(at-len(b), 0))
	if err == errPart {
		if c.batch = nil; at == 0 {
			c.least = maxRecord
		}
		return nil
	}
	return err
}

// other decodes a word of the batch that is not a record of a known event. It returns the number of
// bytes to skip: 0 if the event has become known.
func (c *cursor) other(r *Reader, at int) (skip int, err error) {
	b := c.batch[at:]
	word := order.Uint64(b)
	size, number, place := int(word>>timeBits&0xffff)*8, word>>48, c.at()+uint64(at)
	left := int(c.limit - c.decoded - uint64(at))
	switch {
	case size == 0 || size > left:
		return 0, r.errorf(place, "a record of %d bytes, %d are left", size, left)
	case number == padding && size == 8:
		return left, nil
	case size > len(b):
		return 0, errPart
	case number == newContext && size == contextSize:
		c.context = recordContext{order.Uint64(b[8:]), order.Uint64(b[16:])}
		return size, nil
	}
	if _, err := r.Events(); err != nil {
		return 0, err
	}
	if number >= uint64(len(r.events)) {
		return 0, r.errorf(place, "event %d of %d, in a record of %d bytes", number, len(r.events), size)
	}
	return 0, nil
}
