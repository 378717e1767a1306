package ctf

import (
	"encoding/binary"
	"errors"
	"slices"
)

var errNotAligned = errors.New("stream of a class that is not aligned")

// Room returns memory for the next events of a stream of an AlignedStreamClass: at least size bytes
// in the open packet. time is that of the first event, and last that of the event before, which the
// first header refers to. If the packet is too full, Room writes it and begins another one. The
// memory is valid until the next method call. Its content becomes part of the packet at Commit.
func (s *StreamWriter) Room(time uint64, size int) (room []byte, last uint64, err error) {
	switch {
	case !s.class.aligned:
		return nil, 0, errNotAligned
	case time < s.last && s.pending+s.events > 0:
		return nil, 0, ErrOrder
	}
	at := Aligned(len(s.packet.b))
	if s.pending > 0 && at+Aligned(size) > s.w.o.PacketSize {
		if err := s.Flush(); err != nil {
			return nil, 0, err
		}
		at = Aligned(len(s.packet.b))
	}
	b := s.packet.b
	if least := min(max(2*at, leastRoom), s.w.o.PacketSize); cap(b) < max(at+Aligned(size), least) {
		b = slices.Grow(b, max(at+Aligned(size), least)-len(b))
		s.packet.b = b
	}
	clear(b[len(b):at])
	if last = s.last; s.pending == 0 {
		last = time
	}
	return b[at:max(at+Aligned(size), min(cap(b), s.w.o.PacketSize)&^(boundary-1))], last, nil
}

// leastRoom is how much memory a packet has from its first event on.
const leastRoom = 8 << 10

// Commit adds the events that the caller has encoded into the first size bytes of Room. Each begins
// at a multiple of 8 bytes with a header, which its context and payload follow, as their types
// describe them in little-endian order; padding is zero. First and last are the times of the first
// and of the last one. Nothing of that is checked. The caller sees to it that times do not decrease.
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

const (
	CompactHeader  = 4             // bytes of a compact header
	ExtendedHeader = 16            // and of an extended one
	HeaderTime     = 1 << timeBits // since the event before: too long for a compact header
	HeaderShift    = idBits        // of the time in a compact header
)

// Header returns the compact header of an event of this class at time 0, as a little-endian number,
// in a stream of an AlignedStreamClass. It is false for a class that has extended ones alone.
func (e *EventClass) Header() (uint32, bool) { return uint32(e.ID), e.ID < extendedID }

// PutHeader writes the header of an event of this class and time, and returns its size. last is the
// time of the event before.
func (e *EventClass) PutHeader(b []byte, time, last uint64) int {
	if compact, ok := e.Header(); ok && time-last < HeaderTime {
		binary.LittleEndian.PutUint32(b, compact|uint32(time)<<HeaderShift)
		return CompactHeader
	}
	binary.LittleEndian.PutUint64(b, extendedID|e.ID<<32)
	binary.LittleEndian.PutUint64(b[8:], time)
	return ExtendedHeader
}

// Aligned rounds a size up to a multiple of 8 bytes, where the next event can begin.
func Aligned(n int) int { return (n + boundary - 1) &^ (boundary - 1) }
