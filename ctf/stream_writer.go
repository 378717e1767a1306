package ctf

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// ErrOrder is the refusal of an event that is earlier than the one before it in its stream.
var ErrOrder = errors.New("event is earlier than the one before it")

// StreamWriter writes the events of one stream, such as those of one CPU, into a file. It is for one
// goroutine at a time, and different ones are independent.
//
// Events are collected in memory until they fill a packet, and a packet becomes part of the file by the
// write of its first page. First the file is lengthened by empty packets of a page each. Then the first
// of them becomes one empty packet over all of these pages, the other pages are written, and at last
// that page again, now with the size of the content. None of these writes leaves a page half written
// when the process is killed, and only the first one allocates disk space. A process that is killed
// loses the events in memory.
type StreamWriter struct {
	w     *Writer
	class *StreamClass
	name  string
	cpu   uint32
	file  *os.File
	end   int64 // of the whole packets in the file

	packet   encoder // in progress, with room for its header
	pending  uint64  // events in it
	first    uint64  // the time of the first
	last     uint64  // and that of the last event at all
	flushed  uint64  // the time of the last one in the file
	told     uint64  // how many lost events the file knows of
	sequence uint64  // the packet's number
	begin    []Value // header and context, in that order
	context  []Value
	news     bool // the context changed since it was written
	full     func()

	headerBits    int    // the parts of a packet other than events
	events, bytes uint64 // in the file
}

// Positions of the fields in packetContextType.
const (
	atBegin = iota
	atEnd
	atContent
	atPacket
	atSequence
	atDiscarded
	atCPU
	ownFields
)

const magic = 0xc1fc1fc1

// Stream begins a stream. Its file is name, then an underscore and cpu, which may be given once.
func (w *Writer) Stream(class *StreamClass, name string, cpu int) (*StreamWriter, error) {
	name = word(name) + "_" + strconv.Itoa(cpu)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files[name] != nil || name == "metadata" {
		return nil, fmt.Errorf("a second stream %s: %w", name, os.ErrExist)
	}
	f, err := w.dir.create(name)
	if err != nil {
		return nil, err
	}
	s := &StreamWriter{w: w, class: class, name: name, cpu: uint32(cpu), file: f}
	uuid := Value{Text: w.o.UUID[:]}
	s.begin = []Value{{Bits: magic}, uuid, {Bits: class.ID}}
	s.context = make([]Value, len(class.PacketContext.Fields))
	s.context[atCPU].Bits = uint64(s.cpu)
	for i, f := range class.PacketContext.Fields {
		if a, ok := f.Type.(*Array); ok {
			s.context[i].Text = make([]byte, a.Len)
		}
	}
	err = s.reset()
	if s.headerBits = s.packet.at; err == nil && s.headerBits > 8*page {
		err = fmt.Errorf("the context of packets does not fit in %d bytes", page)
	}
	if err != nil {
		f.Close()
		w.dir.Remove(name)
		return nil, fmt.Errorf("stream %s: %w", name, err)
	}
	w.files[name] = s
	return s, nil
}

// Write adds an event. Its time is a value of the trace's clock, not less than the one before. context are the values
// of the stream class's EventContext, payload those of the event class; they are not kept. An event that is
// refused because of its values leaves the stream as it was.
func (s *StreamWriter) Write(class *EventClass, time uint64, context, payload []Value) error {
	if s.pending+s.events > 0 && time < s.last {
		return ErrOrder
	}
	if class.Stream != s.class || s.class.aligned {
		return fmt.Errorf("event %s is not of this stream's class, or it is aligned", class.Name)
	}
	before := s.packet.mark()
	if err := s.encode(class, time, context, payload); err != nil {
		s.packet.cut(before)
		return fmt.Errorf("event %s: %w", class.Name, err)
	}
	if len(s.packet.b) > s.w.o.PacketSize && s.pending > 0 {
		s.packet.cut(before)
		if s.full != nil {
			s.full()
		}
		if err := s.Flush(); err != nil {
			return err
		}
		if err := s.encode(class, time, context, payload); err != nil {
			return err
		}
	}
	if s.pending == 0 {
		s.first = time
	}
	s.last = time
	s.pending++
	return nil
}

func (s *StreamWriter) encode(class *EventClass, time uint64, context, payload []Value) error {
	e, nodes := &s.packet, &s.class.nodes
	header := [...]Value{{Bits: class.ID}, {Bits: time}}
	if err := e.root(nodes.eventHeader, header[:]); err != nil {
		return err
	}
	if err := e.root(nodes.eventContext, context); err != nil {
		return fmt.Errorf("context: %w", err)
	}
	return e.root(class.payload, payload)
}

// SetDiscarded sets the number of events of this stream that were lost since its beginning.
func (s *StreamWriter) SetDiscarded(total uint64) {
	if s.context[atDiscarded].Bits != total {
		s.context[atDiscarded].Bits, s.news = total, true
	}
}

// SetContext sets the values of the packets' additional fields.
func (s *StreamWriter) SetContext(values []Value) error {
	if len(values) != len(s.context)-ownFields {
		return fmt.Errorf("%d values for %d fields", len(values), len(s.context)-ownFields)
	}
	nodes := s.class.nodes.packetContext.fields[ownFields:]
	for i := range values {
		switch n, v := nodes[i], &values[i]; {
		case n.kind == integerKind && !fits(v.Bits, n.size, n.signed):
			return fmt.Errorf("%#x does not fit in %d bits", v.Bits, n.size)
		case n.kind == arrayKind && len(v.Text) != n.count:
			return fmt.Errorf("%d characters where there should be %d", len(v.Text), n.count)
		}
	}
	for i := range values {
		own := &s.context[ownFields+i]
		if own.Bits != values[i].Bits || !bytes.Equal(own.Text, values[i].Text) {
			own.Bits, own.Text, s.news = values[i].Bits, bytes.Clone(values[i].Text), true
		}
	}
	return nil
}

// OnFull sets a function that Write calls before it writes a full packet, so that the function can set the counts
// of lost events and the context as they are then.
func (s *StreamWriter) OnFull(f func()) { s.full = f }

// Written returns how many events and bytes are in the file.
func (s *StreamWriter) Written() (events, bytes uint64) { return s.events, s.bytes }

// Pending returns how many events are in memory. After an error they are lost.
func (s *StreamWriter) Pending() uint64 { return s.pending }
