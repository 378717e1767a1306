package recording

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// plan is how the packed events of a marker are written: the values before the first text, or
// reason why there is no value, are copied at once, as they lie, and what follows one by one, as
// texts have no fixed size.
type plan struct {
	event   *ring.Event
	prefix  int             // bytes that are copied at once
	align   []int           // of each field before the first text: where its type finds it, in bytes
	rest    []place         // of the fields from there on
	whole   *ctf.EventClass // of a marker without any, nil where headers are never compact, and for others
	tail    uint64          // and the bytes of the last word of its values, as a little-endian mask
	classes map[string]*ctf.EventClass

	texts []text // of the event that is being written
	key   []byte // how they are encoded, one byte for each
}

// place is where one field lies.
type place struct {
	field        *event.Field
	kind         event.Kind
	offset, size int
	reason       []byte // why there is no value, where there is none: a string of CTF
}

// text is what a record says of one of its texts.
type text struct {
	encoding encoding
	kept     []byte
	length   uint64 // of which they are the beginning
}

// plan returns the plan of a marker. The caller holds mu.
func (c *PackedChannel) plan(m *ring.Event) (*plan, error) {
	if p := c.plans[m]; p != nil {
		return p, nil
	}
	p := &plan{event: m, classes: map[string]*ctf.EventClass{}}
	for i := range m.Fields {
		f := &m.Fields[i]
		offset, size := f.Offset, f.Size
		if f.Kind.HasLength() || isMissing(f) || len(p.rest) > 0 {
			at := place{field: f, kind: f.Kind, offset: offset, size: size}
			if isMissing(f) {
				at.reason = append(reason(f, &event.Value{}), 0)
			}
			p.rest = append(p.rest, at)
			continue
		}
		align := alignmentFor(p.prefix, offset)
		if align == 0 {
			return nil, fmt.Errorf("marker %s: field %s lies at %d, %d bytes are before it", m.FullName(), f.Name, offset, p.prefix)
		}
		p.align = append(p.align, align)
		p.prefix = offset + size
	}
	if len(p.rest) == 0 {
		k, err := c.packedClass(p, false)
		if err != nil {
			return nil, err
		}
		if _, compact := k.Header(); compact {
			p.whole = k
		}
		p.tail = ^uint64(0) >> (8 * uint(-p.prefix&7))
	}
	c.plans[m] = p
	return p, nil
}

// isMissing reports whether no event has a value for the field.
func isMissing(f *event.Field) bool { return f.Kind == event.Invalid || f.Unavailable != "" }

// alignmentFor returns the smallest alignment, in bytes, that brings a field which follows end
// bytes to offset; 0 when there is none that an event has.
func alignmentFor(end, offset int) int {
	for align := 1; align <= 8; align *= 2 {
		if (end+align-1)&^(align-1) == offset {
			return align
		}
	}
	return 0
}

// measure reads the texts of an event, which follow its arguments, and returns the size of its
// payload.
func (p *plan) measure(args, behind []byte) (size int, err error) {
	p.texts, p.key = p.texts[:0], p.key[:0]
	size = p.prefix
	for i := range p.rest {
		f := &p.rest[i]
		if f.reason != nil {
			size += len(f.reason)
			continue
		}
		if !f.kind.HasLength() {
			size += f.size
			continue
		}
		var t text
		if t, behind, err = f.text(args, behind); err != nil {
			return 0, fmt.Errorf("marker %s: %w", p.event.FullName(), err)
		}
		p.texts, p.key = append(p.texts, t), append(p.key, byte(t.encoding))
		size += len(t.kept) + t.extra(f.kind)
	}
	return size, nil
}

// text returns a text and the bytes after it.
func (f *place) text(args, texts []byte) (t text, rest []byte, err error) {
	kept, length, rest, err := f.field.DecodeText(args, texts)
	if err != nil {
		return t, nil, err
	}
	t = text{kept: kept, length: uint64(length)}
	switch {
	case len(kept) < length:
		t.encoding = cut
	case f.kind == event.String && bytes.IndexByte(kept, 0) >= 0:
		t.encoding = withNUL
	}
	return t, rest, nil
}

// extra is what a text takes besides its bytes: its length, that of the whole, or a NUL.
func (t *text) extra(k event.Kind) int {
	switch {
	case t.encoding == cut:
		return 4 + 8
	case k == event.String && t.encoding == plain:
		return 1
	}
	return 4
}

// finish writes the fields from the first text on into b, from n on, and returns where they end.
func (p *plan) finish(b []byte, n int, args []byte) int {
	texts, to := p.texts, b[n:]
	for i := range p.rest {
		f := &p.rest[i]
		if f.reason != nil {
			to = to[copy(to, f.reason):]
			continue
		}
		if !f.kind.HasLength() {
			to = to[copy(to, args[f.offset:f.offset+f.size]):]
			continue
		}
		t := &texts[0]
		texts = texts[1:]
		if f.kind == event.String && t.encoding == plain {
			to = to[copy(to, t.kept):]
			to[0], to = 0, to[1:]
			continue
		}
		binary.LittleEndian.PutUint32(to, uint32(len(t.kept)))
		to = to[4:]
		to = to[copy(to, t.kept):]
		if t.encoding == cut {
			binary.LittleEndian.PutUint64(to, t.length)
			to = to[8:]
		}
	}
	return len(b) - len(to)
}

// packedClass returns the class of the event that was measured, wide if its goroutine has 64 bits.
func (c *PackedChannel) packedClass(p *plan, wide bool) (*ctf.EventClass, error) {
	if wide {
		p.key = append(p.key, wideKey)
	}
	if k := p.classes[string(p.key)]; k != nil {
		return k, nil
	}
	k, err := c.newClass(p, wide)
	if err == nil {
		p.classes[string(p.key)] = k
	}
	return k, err
}

const wideKey = 0xff // is no encoding

var (
	narrowGoroutine = &ctf.Integer{Size: 32, Align: 32}
	wideGoroutine   = &ctf.Integer{Size: 64, Align: 64, Signed: true}
)

// newClass adds an event class to the trace.
func (c *PackedChannel) newClass(p *plan, wide bool) (*ctf.EventClass, error) {
	if c.events == maxClasses {
		return nil, errClasses
	}
	c.events++
	goroutine := narrowGoroutine
	if wide {
		goroutine = wideGoroutine
	}
	context := &ctf.Struct{Fields: []ctf.Field{{Name: "goroutine", Type: goroutine}}}
	fields := p.event.Fields
	layouts, texts := make([]layout, len(fields)), p.texts
	for i := range fields {
		layouts[i] = layout{fields[i].Kind, plain}
		if isMissing(&fields[i]) {
			layouts[i] = layout{event.Invalid, missing}
		} else if fields[i].Kind.HasLength() {
			layouts[i].encoding, texts = texts[0].encoding, texts[1:]
		}
	}
	payload, names := &ctf.Struct{Align: 64}, newNames(fields, layouts)
	for i, f := range layouts {
		types := f.types(names[i], &fields[i])
		if size := fields[i].Size; !f.kind.HasLength() {
			align := 1
			if i < len(p.align) {
				align = p.align[i]
			}
			types[0].Type = placed(types[0].Type, size, align)
		}
		payload.Fields = append(payload.Fields, types...)
	}
	class, err := c.trace.AlignedEventClass(c.class, p.event.FullName(), context, payload)
	if err != nil {
		return nil, err
	}
	return class, describe(c.trace, class, &p.event.Point, layouts)
}

// placed returns a number's type for one of so many bytes at such an alignment, as this machine has
// it.
func placed(t ctf.Type, size, align int) ctf.Type {
	switch t := t.(type) {
	case *ctf.Integer:
		c := *t
		c.Size, c.Align, c.Order = 8*size, 8*align, order
		return &c
	case *ctf.Enum:
		c := *t
		c.Align = 8 * align
		return &c
	case *ctf.Float:
		c := *t
		c.Align, c.Order = 8*align, order
		return &c
	}
	return t
}

var order = func() ctf.ByteOrder {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return ctf.Native // which traces that we write have
	}
	return ctf.BigEndian
}()
