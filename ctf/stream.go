package ctf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Stream reads the events of one stream. Its methods are for one goroutine at a time; different streams
// are independent.
type Stream struct {
	Class *StreamClass // nil when the first packet could not be read
	// Files are those it is in, one after another: LTTng can begin a new one when one is large.
	Files []string

	trace    *Trace
	instance uint64   // the stream's number within its class, if packets have one
	begins   []uint64 // of the first packet of each file

	d           decoder
	file        *os.File
	opened      int     // how many of Files
	size        int64   // of the file, in bits
	packetEnd   int64   // in bits; 0 before the first packet
	content     int64   // where the packet's content ends, which may be after the file
	context     Value   // of the packet
	counter     counter // of lost events
	sequence    counter // of packets
	discarded   uint64
	fresh       uint64 // of them, not yet reported by an event
	lostPackets uint64
	event       Event
	err         error
}

// Event is an event. It is valid until the next call of the Next that returned it.
type Event struct {
	Class  *EventClass
	Stream *Stream
	// Time is in nanoseconds after the clock's origin, Ticks in units of the clock. Both are 0 without a clock.
	Time  int64
	Ticks uint64
	// Discarded is the tracer's number of lost events in this stream: before the packet if this is
	// its first event, or in it.
	Discarded uint64
	// The parts of the event. Parts that its class does not have have no Type.
	PacketContext, Header, StreamContext, Context, Payload Value
}

// Elapsed returns Ticks in nanoseconds, rounded down: the time on the clock without its offset. It is 0 without a clock,
// and when an int64 cannot hold it.
func (e *Event) Elapsed() int64 {
	c := e.Stream.Class.clock
	if c == nil {
		return 0
	}
	ns, _ := c.duration(e.Ticks)
	return ns
}

// Discarded returns the tracer's number of lost events in this stream, up to the packet that was read
// last.
func (s *Stream) Discarded() uint64 { return s.discarded }

// LostPackets returns the number of packets missing between those read so far, by their sequence numbers (packet_seq_num).
// The number of their events is unknown. It is 0 when packets have no such number, and packets before the first one read
// are not missing: a tracer that keeps the newest packets drops them.
func (s *Stream) LostPackets() uint64 { return s.lostPackets }

// PacketContext returns the context of the packet that was read last; before the first it has no Type.
func (s *Stream) PacketContext() *Value { return &s.context }

// Next returns the next event, and io.EOF after the last. Any other error ends the stream: it is an *Error
// with the position, and all events before that were returned.
func (s *Stream) Next() (*Event, error) {
	if s.err != nil {
		return nil, s.err
	}
	e, err := s.next()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			err = &Error{s.path(), s.d.at / 8, err}
		}
		s.err = err
		s.close()
		return nil, err
	}
	return e, nil
}

// Close ends the stream. Next then returns os.ErrClosed.
func (s *Stream) Close() {
	if s.err == nil {
		s.err = os.ErrClosed
	}
	s.close()
}

func (s *Stream) close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
	s.d.window = window{at: s.d.at}
	s.d.values, s.d.texts = nil, nil
}

func (s *Stream) path() string {
	return filepath.Join(s.trace.Dir, s.Files[max(s.opened-1, 0)])
}

func (s *Stream) next() (*Event, error) {
	for s.file == nil || s.d.at >= s.d.end {
		switch {
		case s.file != nil && s.content > s.size:
			return nil, s.cutOff()
		case s.file == nil || s.packetEnd >= s.size:
			if err := s.nextFile(); err != nil {
				return nil, err
			}
		default:
			s.d.at = s.packetEnd
			if err := s.nextPacket(); err != nil {
				return nil, err
			}
		}
	}
	before := s.d.at
	err := s.nextEvent()
	switch {
	case err == nil && s.d.at == before:
		return nil, errors.New("event of no size")
	case errors.Is(err, errShort) && s.content > s.size:
		s.d.at = before
		return nil, s.cutOff()
	case err != nil:
		s.d.at = before
		return nil, fmt.Errorf("event: %w", err)
	}
	return &s.event, nil
}

func (s *Stream) cutOff() error {
	return fmt.Errorf("packet has %d bytes less than it should: %w", (s.content-s.size+7)/8, io.ErrUnexpectedEOF)
}

// nextFile opens the next file, or returns io.EOF.
func (s *Stream) nextFile() error {
	if s.packetEnd > s.size {
		s.d.at = s.size
		return fmt.Errorf("packet has %d bytes less than it should: %w", (s.packetEnd-s.size)/8, io.ErrUnexpectedEOF)
	}
	if s.opened == len(s.Files) {
		return io.EOF
	}
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
	name := s.Files[s.opened]
	s.opened++
	f, err := openRegular(filepath.Join(s.trace.Dir, name))
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	s.file, s.size = f, 8*info.Size()
	s.packetEnd, s.content = 0, 0
	s.d.window = window{file: f, room: int(min(windowSize, info.Size()))}
	s.d.values, s.d.texts = nil, nil
	if len(s.d.slots) < s.trace.slots {
		s.d.slots = make([]uint64, s.trace.slots)
	}
	return nil
}

// nextEvent reads an event into s.event.
func (s *Stream) nextEvent() (err error) {
	d, e, nodes := &s.d, &s.event, &s.Class.nodes
	d.reset()
	d.met[eventRole] = 0
	*e = Event{Stream: s, PacketContext: s.context}
	if e.Header, err = d.root(nodes.eventHeader); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	id := d.met[eventRole]
	if e.Class = s.Class.events[id]; e.Class == nil {
		return fmt.Errorf("stream %d has no event %d", s.Class.ID, id)
	}
	if e.Class.err != nil {
		return fmt.Errorf("event %.80q: %w", e.Class.Name, e.Class.err)
	}
	if c := s.Class.clock; c != nil {
		var ok bool
		if e.Time, ok = c.Nanoseconds(d.ticks); !ok {
			return fmt.Errorf("time %d of clock %.80q does not fit in 64 bits of nanoseconds", d.ticks, c.Name)
		}
		e.Ticks = d.ticks
	}
	if e.StreamContext, err = d.root(nodes.eventContext); err == nil {
		if e.Context, err = d.root(e.Class.context); err == nil {
			e.Payload, err = d.root(e.Class.payload)
		}
	}
	if err != nil {
		return fmt.Errorf("%.80q: %w", e.Class.Name, err)
	}
	e.Discarded, s.fresh = s.fresh, 0
	return nil
}
