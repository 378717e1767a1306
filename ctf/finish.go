package ctf

import (
	"errors"
	"fmt"
)

// finish resolves the references between the declared types.
func (p *parser) finish() error {
	t := p.trace
	c := compiler{order: p.order, clocks: map[string]*Clock{}}
	for _, clock := range t.Clocks {
		c.clocks[clock.Name] = clock
	}
	switch len(t.Clocks) {
	case 0:
		c.lone = &Clock{Name: "default", Freq: second}
	case 1:
		c.lone = t.Clocks[0]
	}
	header, err := c.root(packetHeader, p.header)
	if err != nil {
		t.Classes = nil // nothing can be read
		return &Error{"metadata", 0, err}
	}
	t.header = header
	errs := p.link()
	kept := t.Classes[:0]
	for _, s := range t.Classes {
		s.header = header
		if err := c.stream(s); err != nil {
			errs = append(errs, &Error{"metadata", 0, fmt.Errorf("stream %d: %w", s.ID, err)})
			continue
		}
		kept = append(kept, s)
		for _, e := range s.Events {
			if e.err = c.event(e); e.err != nil {
				errs = append(errs, &Error{"metadata", 0, fmt.Errorf("event %.80q: %w", e.Name, e.err)})
			}
			if len(errs) > maxErrors {
				return errors.Join(errs...)
			}
		}
	}
	t.Classes, t.slots = kept, c.slots
	return errors.Join(errs...)
}

// maxErrors bounds the number of errors that reading metadata reports.
const maxErrors = 20

func (c *compiler) stream(s *StreamClass) (err error) {
	c.roots = [scopes]*node{packetHeader: s.header}
	if s.nodes.packetContext, err = c.root(packetContext, s.PacketContext); err != nil {
		return err
	}
	if s.nodes.eventHeader, err = c.root(eventHeader, s.EventHeader); err != nil {
		return err
	}
	if s.nodes.eventContext, err = c.root(streamEventContext, s.EventContext); err != nil {
		return err
	}
	if s.clock = s.nodes.eventHeader.findClock(); s.clock == nil {
		s.clock = s.nodes.packetContext.findClock()
	}
	return nil
}

func (c *compiler) event(e *EventClass) (err error) {
	n := e.Stream.nodes
	c.roots = [scopes]*node{e.Stream.header, n.packetContext, n.eventHeader, n.eventContext}
	if e.context, err = c.root(eventContext, e.Context); err != nil {
		return err
	}
	e.payload, err = c.root(eventPayload, e.Payload)
	return err
}

// findClock returns the clock of the first field that is a value of one.
func (n *node) findClock() *Clock {
	if n == nil {
		return nil
	}
	if n.clock != nil {
		return n.clock
	}
	for _, f := range n.fields {
		if c := f.findClock(); c != nil {
			return c
		}
	}
	return n.elem.findClock()
}
