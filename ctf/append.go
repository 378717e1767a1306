package ctf

import (
	"errors"
	"slices"
)

var errNotAligned = errors.New("stream of a class that is not aligned")

// Room returns memory for the next events of a stream of an AlignedStreamClass: at least size bytes
// in the open packet. time is that of the first event. If the packet is too full, or its last event
// is too old, Room writes it and begins another one. The memory is valid until the next method
// call. Its content becomes part of the packet at Commit.
func (s *StreamWriter) Room(time uint64, size int) ([]byte, error) {
	switch {
	case !s.class.aligned:
		return nil, errNotAligned
	case time < s.last && s.pending+s.events > 0:
		return nil, ErrOrder
	}
	at := Aligned(len(s.packet.b))
	if s.pending > 0 && (at+Aligned(size) > s.w.o.PacketSize || (time-s.last)>>timeBits != 0) {
		if err := s.Flush(); err != nil {
			return nil, err
		}
		at = Aligned(len(s.packet.b))
	}
	b := s.packet.b
	if least := min(max(2*at, leastRoom), s.w.o.PacketSize); cap(b) < max(at+Aligned(size), least) {
		b = slices.Grow(b, max(at+Aligned(size), least)-len(b))
		s.packet.b = b
	}
	clear(b[len(b):at])
	return b[at:max(at+Aligned(size), min(cap(b), s.w.o.PacketSize)&^(alignedHeader-1))], nil
}

// leastRoom is how much memory a packet has from its first event on.
const leastRoom = 8 << 10

// Commit adds the events that the caller has encoded into the first size bytes of Room. Each begins
// at a multiple of 8 bytes with EventClass.Header, which its context and payload follow, as their
// types describe them in little-endian order; padding is zero. First and last are the times of the
// first and of the last one. Nothing of that is checked. The caller sees to it that times do not
// decrease, and that each event comes less than HeaderTime after the one before.
func (s *StreamWriter) Commit(size int, events, first, last uint64) {
	if events == 0 {
		return
	}
	if s.pending == 0 {
		s.first = first
	}
	s.last = last
	s.pending += events
	end := Aligned(len(s.packet.b)) + size
	s.packet.b, s.packet.at = s.packet.b[:end], 8*end
}

// HeaderTime is how much time the header of an event in an AlignedStreamClass can distinguish.
const HeaderTime = 1 << timeBits

// HeaderSize is the bytes of such a header.
const HeaderSize = alignedHeader

// Header returns the first 8 bytes of an event of this class and time, as a little-endian number,
// in a stream of an AlignedStreamClass.
func (e *EventClass) Header(time uint64) uint64 { return time&(HeaderTime-1) | e.ID<<timeBits }

// Aligned rounds a size up to a multiple of 8 bytes, where the next event can begin.
func Aligned(n int) int { return (n + alignedHeader - 1) &^ (alignedHeader - 1) }
