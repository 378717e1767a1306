package ctf

import (
	"errors"
	"fmt"
)

// nextPacket reads a packet's header and context.
func (s *Stream) nextPacket() error {
	d := &s.d
	if d.endBits > 0 && !d.found[beginRole] { // the following events have no other time
		d.tick(d.met[endRole], d.endBits)
	}
	d.base, d.end = d.at, s.size
	d.found, d.endBits = [roleCount]bool{}, 0
	d.reset()
	class, err := s.packetClass()
	if err != nil {
		return fmt.Errorf("packet: %w", err)
	}
	if s.Class != nil && class != s.Class {
		d.at = d.base
		return fmt.Errorf("packet is of stream %d, and those before of stream %d", class.ID, s.Class.ID)
	}
	s.Class, d.clock = class, class.clock
	if s.context, err = d.root(class.nodes.packetContext); err != nil {
		return fmt.Errorf("packet's context: %w", err)
	}
	d.values, d.texts = nil, nil // they are the context's for as long as the packet lasts
	if err := s.extent(); err != nil {
		return err
	}
	if d.found[discardedRole] {
		lost := d.met[discardedRole] // before the first packet
		if s.counter.known {
			lost = s.counter.advance(d, discardedRole)
		}
		s.counter = counter{true, s.counter.value + lost}
		s.discarded += lost
		s.fresh += lost
	}
	if d.found[sequenceRole] {
		if n := s.sequence.advance(d, sequenceRole); s.sequence.known && n > 1 {
			s.lostPackets += n - 1
		}
		s.sequence = counter{true, d.met[sequenceRole]}
	}
	return nil
}

// A counter is a number that packets have, which grows from one packet to the next.
type counter struct {
	known bool // a packet had it
	value uint64
}

// advance returns the growth of the counter up to the current packet. A field of few bits may have
// wrapped around. A lower number is no growth: some tracers write 0 into a packet that they flush.
func (c *counter) advance(d *decoder, r role) uint64 {
	n := d.met[r] - c.value
	if unused := 64 - d.sizes[r]; unused > 0 {
		n = n << unused >> unused
	}
	if n >= 1<<(d.sizes[r]-1) {
		return 0
	}
	return n
}

// packetClass reads the header, which names the stream of the packet.
func (s *Stream) packetClass() (*StreamClass, error) {
	d, t := &s.d, s.trace
	if _, err := d.root(t.header); err != nil {
		return nil, err
	}
	if d.found[magicRole] && d.met[magicRole] != magic {
		d.at = d.base
		return nil, fmt.Errorf("it begins with %#x and not with the magic number %#x", d.met[magicRole], uint32(magic))
	}
	if t.header.has(uuidRole) && t.UUID != (UUID{}) && string(d.uuid) != string(t.UUID[:]) {
		d.at = d.base
		return nil, fmt.Errorf("it is of the trace with UUID %x, and this one's is %s", d.uuid, t.UUID)
	}
	switch {
	case d.found[streamRole]:
		if c := t.stream(d.met[streamRole]); c != nil {
			return c, nil
		}
		d.at = d.base
		return nil, fmt.Errorf("the metadata has no stream %d", d.met[streamRole])
	case len(t.Classes) == 1:
		return t.Classes[0], nil
	}
	return nil, errors.New("nothing says of which stream it is")
}

func (n *node) has(r role) bool {
	if n == nil {
		return false
	}
	for _, f := range n.fields {
		if f.role == r {
			return true
		}
	}
	return false
}

// extent works out where the packet ends.
func (s *Stream) extent() error {
	d := &s.d
	whole := s.size - d.base // the values of a packet without counters
	packet, content := whole, whole
	if d.found[contentRole] {
		content = int64(min(d.met[contentRole], maxPacket))
		packet = content
	}
	if d.found[packetRole] {
		packet = int64(min(d.met[packetRole], maxPacket))
		if !d.found[contentRole] {
			content = packet
		}
	}
	header := d.at - d.base
	switch {
	case packet%8 != 0 || packet == 0:
		return fmt.Errorf("packet of %d bits", packet)
	case packet >= maxPacket || content > packet:
		return fmt.Errorf("packet of %d bits with a content of %d", packet, content)
	case content < header:
		return fmt.Errorf("packet's content of %d bits, of which its header takes %d", content, header)
	}
	s.packetEnd, s.content = d.base+packet, d.base+content
	d.end = min(s.content, s.size)
	return nil
}

// maxPacket is more than a file can have, in bits.
const maxPacket = 1 << 62
