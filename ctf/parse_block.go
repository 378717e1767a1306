package ctf

import (
	"errors"
	"fmt"
)

// Limits of the declarations in metadata.
const (
	maxEvents  = 1 << 18
	maxStreams = 1 << 12
	maxClocks  = 1 << 10
	maxEnv     = 1 << 17
)

func (p *parser) block(name string) error {
	at := p.tok
	if err := p.advance(); err != nil {
		return err
	}
	var err error
	switch name {
	case "trace":
		err = p.attributes(p.traceAttribute)
	case "env":
		err = p.attributes(p.envAttribute)
	case "clock":
		err = p.clock()
	case "stream":
		err = p.stream()
	case "event":
		err = p.event()
	case "callsite":
		err = p.attributes(func(*attribute) error { return nil })
	}
	if err == nil {
		err = p.expect(";")
	}
	if err != nil {
		return fmt.Errorf("%s of byte %d: %w", name, at.at, err)
	}
	return nil
}

func (p *parser) traceAttribute(a *attribute) (err error) {
	switch a.path {
	case "major", "minor":
		var n uint64
		if n, err = a.number(); err == nil && (a.path == "major" && n != 1 || a.path == "minor" && n > 8) {
			err = fmt.Errorf("%s is %d; this reads CTF 1.8", a.path, n)
		}
	case "uuid":
		p.trace.UUID, err = a.uuid()
	case "byte_order":
		if p.order, err = byteOrder(a); err == nil && p.order == Native {
			err = errors.New("byte_order of the trace is no order")
		}
	case "packet.header":
		p.header, err = structOf(a)
	}
	return err
}

// structOf returns the struct that one of the scopes is.
func structOf(a *attribute) (*Struct, error) {
	s, ok := a.typ.(*Struct)
	if !ok {
		return nil, fmt.Errorf("%s is no struct", a.path)
	}
	return s, nil
}

func byteOrder(a *attribute) (ByteOrder, error) {
	w, err := a.word()
	switch {
	case err != nil:
	case w == "le":
		return LittleEndian, nil
	case w == "be" || w == "network":
		return BigEndian, nil
	case w == "native":
	default:
		err = fmt.Errorf("byte_order %.40q", w)
	}
	return Native, err
}

func (p *parser) envAttribute(a *attribute) (err error) {
	e := EnvEntry{Name: a.path, Text: a.text, IsText: a.kind == stringToken}
	if !e.IsText {
		if e.Number, err = a.signed(); err != nil {
			return err
		}
		e.Text = ""
	}
	if len(p.trace.Env) == maxEnv {
		return fmt.Errorf("more than %d entries", maxEnv)
	}
	p.trace.Env = append(p.trace.Env, e)
	return nil
}

func (p *parser) clock() error {
	c := &Clock{Freq: second}
	var offset int64
	err := p.attributes(func(a *attribute) (err error) {
		switch a.path {
		case "name":
			c.Name, err = a.word()
		case "uuid":
			c.UUID, err = a.uuid()
		case "description":
			c.Description, err = a.word()
		case "freq":
			if c.Freq, err = a.number(); err == nil && c.Freq == 0 {
				err = errors.New("freq is 0")
			}
		case "precision":
			c.Precision, err = a.number()
		case "offset_s":
			c.OffsetSeconds, err = a.signed()
		case "offset":
			offset, err = a.signed()
		case "absolute":
			c.Absolute, err = boolean(a)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case len(p.trace.Clocks) == maxClocks:
		return fmt.Errorf("more than %d clocks", maxClocks)
	}
	c.shift(offset)
	if first := p.trace.clock(c.Name); first != nil {
		if *first == *c { // LTTng repeats metadata that it regenerates
			return nil
		}
		return fmt.Errorf("a second clock %q, which differs from the first", c.Name)
	}
	p.trace.Clocks = append(p.trace.Clocks, c)
	return nil
}

func boolean(a *attribute) (bool, error) {
	if a.kind == numberToken && !a.neg {
		return a.bits != 0, nil
	}
	switch a.text {
	case "true", "TRUE":
		return true, nil
	case "false", "FALSE":
		return false, nil
	}
	return false, fmt.Errorf("%s is neither true nor false", a.path)
}

func (p *parser) stream() error {
	s := &StreamClass{}
	err := p.attributes(func(a *attribute) (err error) {
		switch a.path {
		case "id":
			s.ID, err = a.number()
		case "event.header":
			s.EventHeader, err = structOf(a)
		case "event.context":
			s.EventContext, err = structOf(a)
		case "packet.context":
			s.PacketContext, err = structOf(a)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case p.trace.stream(s.ID) != nil:
		return fmt.Errorf("a second stream with id %d", s.ID)
	case len(p.trace.Classes) == maxStreams:
		return fmt.Errorf("more than %d streams", maxStreams)
	}
	p.trace.Classes = append(p.trace.Classes, s)
	return nil
}

func (p *parser) event() error {
	e := &EventClass{LogLevel: -1}
	d := declared{event: e}
	err := p.attributes(func(a *attribute) (err error) {
		switch a.path {
		case "name":
			e.Name, err = a.word()
		case "id":
			e.ID, err = a.number()
		case "stream_id":
			d.named = true
			d.stream, err = a.number()
		case "loglevel":
			e.LogLevel, err = a.signed()
		case "model.emf.uri":
			e.URI, err = a.word()
		case "context":
			e.Context, err = structOf(a)
		case "fields":
			e.Payload, err = structOf(a)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(p.events) == maxEvents {
		return fmt.Errorf("more than %d events", maxEvents)
	}
	d.at = p.tok.at
	p.events = append(p.events, d)
	return nil
}

// declared is an event and its stream, which may be declared after it.
type declared struct {
	event  *EventClass
	stream uint64
	named  bool // it has a stream_id
	at     int
}

// streamOf returns the stream of an event. Without a stream_id it is the only one, which needs no declaration.
func (p *parser) streamOf(d *declared) *StreamClass {
	if d.named || len(p.trace.Classes) > 1 {
		return p.trace.stream(d.stream)
	}
	if len(p.trace.Classes) == 0 {
		p.trace.Classes = []*StreamClass{{}}
	}
	return p.trace.Classes[0]
}

// link gives events to their streams.
func (p *parser) link() (errs []error) {
	for _, d := range p.events {
		e, s := d.event, p.streamOf(&d)
		var err error
		switch {
		case s == nil:
			err = fmt.Errorf("event %.80q: there is no stream %d", e.Name, d.stream)
		case s.events[e.ID] != nil:
			err = fmt.Errorf("event %.80q: a second one with id %d", e.Name, e.ID)
		}
		if err != nil {
			if errs = append(errs, &Error{"metadata", int64(d.at), err}); len(errs) > maxErrors {
				break
			}
			continue
		}
		if s.events == nil {
			s.events = map[uint64]*EventClass{}
		}
		e.Stream, s.events[e.ID] = s, e
		s.Events = append(s.Events, e)
	}
	return errs
}
