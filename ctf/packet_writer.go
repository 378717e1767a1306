package ctf

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// page is the unit in which the kernel copies into a file: a write of one page at a multiple of it
// happens or does not, also when the process is killed meanwhile.
const page = 4096

// pages rounds up to whole pages.
func pages(n int) int { return (n + page - 1) &^ (page - 1) }

// reset begins a packet in memory.
func (s *StreamWriter) reset() error {
	s.pending = 0
	s.packet.b, s.packet.at = s.packet.b[:0], 0
	return s.header(&s.packet, page, 0)
}

// header writes a packet's header and context, which are of the same size for all packets of a
// stream. Sizes are of the whole packet in bytes, and of its content in bits.
func (s *StreamWriter) header(e *encoder, size, content int) error {
	s.context[atContent].Bits, s.context[atPacket].Bits = uint64(content), 8*uint64(size)
	s.context[atSequence].Bits = s.sequence
	if err := e.root(s.w.header, s.begin); err != nil {
		return err
	}
	return e.root(s.class.nodes.packetContext, s.context)
}

// Flush writes the events in memory, or an empty packet when nothing but the number of lost
// events, or the context of packets, is new. After an error the trace has ended: every later
// call returns it, also of other streams.
func (s *StreamWriter) Flush() error {
	if err := s.w.failed(); err != nil {
		return err
	}
	if s.pending == 0 && !s.news {
		return nil
	}
	err := s.w.describe()
	if err == nil {
		err = s.writePacket()
	}
	if err != nil {
		return s.w.fail(fmt.Errorf("stream %s: %w", s.name, err))
	}
	return nil
}

// writePacket makes the packet in memory part of the file, as StreamWriter describes.
func (s *StreamWriter) writePacket() error {
	content, size := s.packet.at, pages(len(s.packet.b))
	whole := zeroed(s.packet.b, size)
	s.packet.b = whole
	if size > page {
		if err := s.lengthen(size); err != nil {
			return err
		}
		if _, err := s.file.WriteAt(whole[page:], s.end+page); err != nil {
			return err
		}
	}
	s.context[atBegin].Bits, s.context[atEnd].Bits = s.last, s.last
	if s.pending > 0 {
		s.context[atBegin].Bits = s.first
	}
	if err := s.writeHead(whole[:page], size, content); err != nil {
		return err
	}
	s.events += s.pending
	s.bytes += uint64(size)
	s.end += int64(size)
	s.sequence++
	s.flushed, s.told, s.news = s.last, s.context[atDiscarded].Bits, false
	return s.reset()
}

// zeroed lengthens b by zeros.
func zeroed(b []byte, size int) []byte {
	n := len(b)
	b = slices.Grow(b, size-n)[:size]
	clear(b[n:])
	return b
}

// writeHead writes a packet's first page, with a header.
func (s *StreamWriter) writeHead(first []byte, size, content int) error {
	e := encoder{b: first[:0]}
	if err := s.header(&e, size, content); err != nil {
		return err
	}
	_, err := s.file.WriteAt(first, s.end)
	if err != nil {
		s.shorten()
	}
	return err
}

// lengthen appends an empty packet of so many bytes, by way of empty packets of a page each. They
// are written many at a time: the kernel then takes larger blocks of memory for the file's cache,
// which costs half as much.
func (s *StreamWriter) lengthen(size int) error {
	discarded := s.context[atDiscarded].Bits
	defer func() { s.context[atDiscarded].Bits = discarded }()
	s.context[atBegin].Bits, s.context[atEnd].Bits, s.context[atDiscarded].Bits = s.flushed, s.flushed, s.told
	empty, _ := s.class.empty.Get().(*emptyPages)
	if empty == nil {
		empty = &emptyPages{}
	}
	defer s.class.empty.Put(empty)
	e := encoder{b: empty[:0]}
	if err := s.header(&e, page, s.headerBits); err != nil {
		return err
	}
	number := s.sequence
	for from := 0; from < size; from += len(empty) {
		some := empty[:min(len(empty), size-from)]
		for at := 0; at < len(some); at += page {
			copy(some[at:], e.b) // the headers differ by their numbers alone
			binary.LittleEndian.PutUint64(some[at+sequenceAt:], number)
			number++
		}
		if _, err := s.file.WriteAt(some, s.end+int64(from)); err != nil {
			s.shorten()
			return err
		}
	}
	return s.writeHead(empty[:page], size, s.headerBits)
}

// emptyPages are written at a time.
type emptyPages [64 * page]byte

// sequenceAt is the offset of a packet's number, by packetHeaderType and packetContextType.
const sequenceAt = 24 + 8*atSequence

// shorten removes the remains of a failed write after the complete packets. If that fails as well, they
// are empty packets, except for part of a page.
func (s *StreamWriter) shorten() { _ = s.file.Truncate(s.end) }
