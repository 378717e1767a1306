package ctf

import (
	"encoding/binary"
	"errors"
	"slices"
)

var errNotAligned = errors.New("event of a class that is not of this stream, or not aligned")

// Append adds an event to a stream of an AlignedStreamClass and returns room for its context and payload: size bytes, from a multiple
// of 8 on. The caller encodes them there as their types say, in little-endian order and zeros where there is padding,
// before it calls another method; nobody checks what is there. For the rest it is Write.
func (s *StreamWriter) Append(class *EventClass, time uint64, size int) ([]byte, error) {
	switch {
	case class.Stream != s.class || !s.class.aligned:
		return nil, errNotAligned
	case time < s.last && s.pending+s.events > 0:
		return nil, ErrOrder
	}
	at := up(len(s.packet.b))
	if s.pending > 0 && (at+alignedHeader+size > s.w.o.PacketSize || (time-s.last)>>timeBits != 0) {
		if err := s.Flush(); err != nil {
			return nil, err
		}
		at = up(len(s.packet.b))
	}
	if s.pending == 0 {
		s.first = time
	}
	s.last = time
	s.pending++
	b, end := s.packet.b, at+alignedHeader+size
	for len(b) < at {
		b = append(b, 0)
	}
	if cap(b) < end {
		b = slices.Grow(b, end-at)
	}
	b = b[:end]
	binary.LittleEndian.PutUint64(b[at:], time&(1<<timeBits-1)|class.ID<<timeBits)
	s.packet.b, s.packet.at = b, 8*end
	return b[at+alignedHeader:], nil
}

// up rounds up to where an aligned event can begin.
func up(n int) int { return (n + alignedHeader - 1) &^ (alignedHeader - 1) }
