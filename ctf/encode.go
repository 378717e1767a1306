package ctf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// encoder writes values one after another. Positions are bits after the packet's beginning.
type encoder struct {
	b     []byte
	at    int // bits; all bytes of b hold some before it
	slots []uint64
}

// mark is a position of an encoder, with its last byte at that time.
type mark struct {
	at   int
	last byte
}

func (e *encoder) mark() mark {
	m := mark{at: e.at}
	if len(e.b) > 0 {
		m.last = e.b[len(e.b)-1]
	}
	return m
}

// cut removes the bytes after a mark.
func (e *encoder) cut(m mark) {
	e.at, e.b = m.at, e.b[:(m.at+7)/8]
	if len(e.b) > 0 {
		e.b[len(e.b)-1] = m.last
	}
}

func (e *encoder) align(to int64) {
	if e.at&(int(to)-1) == 0 {
		return
	}
	e.at = (e.at + int(to) - 1) &^ (int(to) - 1)
	for len(e.b) < (e.at+7)/8 {
		e.b = append(e.b, 0)
	}
}

// bits writes the low size bits of n. Bit-fields fill bytes from their low end, those of
// big-endian order from their high end (specification, 4.1.5).
func (e *encoder) bits(n uint64, size int, big bool) {
	if e.at%8 == 0 && size%8 == 0 {
		e.whole(n, size, big)
		return
	}
	for i := range size {
		if e.at%8 == 0 {
			e.b = append(e.b, 0)
		}
		bit, place := n>>i&1, e.at%8
		if big {
			bit, place = n>>(size-1-i)&1, 7-place
		}
		e.b[len(e.b)-1] |= byte(bit << place)
		e.at++
	}
}

// whole writes a number of whole bytes where a byte begins.
func (e *encoder) whole(n uint64, size int, big bool) {
	e.at += size
	switch {
	case big:
		e.b = append(e.b, binary.BigEndian.AppendUint64(nil, n<<(64-size))[:size/8]...)
	case size == 64:
		e.b = binary.LittleEndian.AppendUint64(e.b, n)
	case size == 32:
		e.b = binary.LittleEndian.AppendUint32(e.b, uint32(n))
	default:
		e.b = append(e.b, binary.LittleEndian.AppendUint64(nil, n)[:size/8]...)
	}
}

func (e *encoder) bytes(p []byte) {
	e.b = append(e.b, p...)
	e.at += 8 * len(p)
}

var errNUL = errors.New("text with a NUL in a string that a NUL ends")

// root writes one of the structs of an event; n is nil when there is none.
func (e *encoder) root(n *node, elems []Value) error {
	if n == nil {
		if len(elems) > 0 {
			return fmt.Errorf("%d values for no field", len(elems))
		}
		return nil
	}
	return e.fields(n, elems)
}

func (e *encoder) fields(n *node, elems []Value) error {
	if len(elems) != len(n.fields) {
		return fmt.Errorf("%d values for %d fields", len(elems), len(n.fields))
	}
	e.align(n.align)
	for i, f := range n.fields {
		if err := e.value(f, &elems[i]); err != nil {
			return fmt.Errorf("field %s: %w", n.typ.(*Struct).Fields[i].Name, err)
		}
	}
	return nil
}

func (e *encoder) value(n *node, v *Value) error {
	switch n.kind {
	case integerKind, floatKind:
		if n.kind == integerKind && !fits(v.Bits, n.size, n.signed) {
			return fmt.Errorf("%#x does not fit in %d bits", v.Bits, n.size)
		}
		e.align(n.align)
		e.bits(v.Bits, n.size, n.big)
		e.store(n.slot, v.Bits)
	case stringKind:
		if bytes.IndexByte(v.Text, 0) >= 0 {
			return errNUL
		}
		e.align(n.align)
		e.bytes(v.Text)
		e.bits(0, 8, false)
	case structKind:
		return e.fields(n, v.Elems)
	case variantKind:
		return e.variant(n, v)
	case arrayKind:
		return e.elements(n, v, uint64(n.count))
	case sequenceKind:
		return e.elements(n, v, e.slots[n.from])
	}
	return nil
}

func (e *encoder) variant(n *node, v *Value) error {
	option, err := n.chosen(e.slots[n.from])
	switch {
	case err != nil:
		return err
	case option != v.Option || len(v.Elems) != 1:
		return fmt.Errorf("option %d where the tag says %d", v.Option, option)
	}
	return e.value(n.fields[option], &v.Elems[0])
}

func (e *encoder) elements(n *node, v *Value, count uint64) error {
	given := len(v.Elems)
	if n.bytes {
		given = len(v.Text)
	}
	if uint64(given) != count {
		return fmt.Errorf("%d elements where there should be %d", given, count)
	}
	e.align(n.align)
	if n.bytes {
		e.bytes(v.Text)
		return nil
	}
	for i := range v.Elems {
		if err := e.value(n.elem, &v.Elems[i]); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func (e *encoder) store(slot int, bits uint64) {
	if slot < 0 {
		return
	}
	for len(e.slots) <= slot {
		e.slots = append(e.slots, 0)
	}
	e.slots[slot] = bits
}

// fits reports whether a number is one of so many bits.
func fits(bits uint64, size int, signed bool) bool {
	if signed {
		return int64(bits<<(64-size))>>(64-size) == int64(bits)
	}
	return size == 64 || bits>>size == 0
}

// chosen returns the option that a tag chooses.
func (n *node) chosen(tag uint64) (int, error) {
	for i, option := range n.choice {
		if option >= 0 && n.tag.Labels[i].holds(tag, n.tag.Signed) {
			return option, nil
		}
	}
	return 0, fmt.Errorf("the tag's value %d chooses none of the variant's options", int64(tag))
}
