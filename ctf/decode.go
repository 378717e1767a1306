package ctf

import (
	"bytes"
	"fmt"
)

// Limits of one event. That of values is of memory and time, as an element may take no bits.
const (
	maxValues = 1 << 18
	maxText   = 64 << 20 // bytes
)

// decoder reads values. They are valid until reset.
type decoder struct {
	window
	slots   []uint64
	clock   *Clock
	ticks   uint64            // of the clock
	met     [roleCount]uint64 // values of fields with a role
	found   [roleCount]bool   // which of them there are
	sizes   [roleCount]int    // and their bits
	endBits int               // bits of the time at which the packet ends; 0 when it has none
	uuid    []byte
	values  []Value // from which values take their elements
	texts   []byte
	count   int
}

// reset frees the values read so far.
func (d *decoder) reset() {
	if d.count > cap(d.values) { // next time as many fit at once
		d.values = make([]Value, 0, min(2*d.count, maxValues))
	}
	d.values, d.texts, d.count = d.values[:0], d.texts[:0], 0
}

// take returns room for so many values.
func (d *decoder) take(n int) ([]Value, error) {
	if d.count += n; n > maxValues || d.count > maxValues {
		return nil, fmt.Errorf("event of more than %d values", maxValues)
	}
	if cap(d.values)-len(d.values) < n {
		d.values = make([]Value, 0, max(64, n))
	}
	from := len(d.values)
	d.values = d.values[:from+n]
	clear(d.values[from:])
	return d.values[from : from+n : from+n], nil
}

// root reads one of the scopes.
func (d *decoder) root(n *node) (v Value, err error) {
	if n != nil {
		err = d.value(n, &v)
	}
	return v, err
}

func (d *decoder) value(n *node, v *Value) error {
	v.Type = n.typ
	switch n.kind {
	case integerKind, floatKind:
		return d.number(n, v)
	case stringKind:
		return d.text(v)
	case structKind:
		return d.structure(n, v)
	case variantKind:
		return d.variant(n, v)
	case arrayKind:
		return d.elements(n, v, uint64(n.count))
	}
	return d.elements(n, v, d.slots[n.from])
}

func (d *decoder) number(n *node, v *Value) error {
	if err := d.align(n.align); err != nil {
		return err
	}
	bits, err := d.bits(n.size, n.big)
	if err != nil {
		return err
	}
	if n.signed {
		bits = uint64(int64(bits<<(64-n.size)) >> (64 - n.size))
	}
	v.Bits = bits
	if n.slot >= 0 {
		d.slots[n.slot] = bits
	}
	if n.role != noRole {
		d.met[n.role], d.found[n.role], d.sizes[n.role] = bits, true, n.size
	}
	switch {
	case n.clock == nil || n.clock != d.clock:
	case n.role == endRole:
		d.endBits = n.size // it is read at the packet's beginning
	default:
		d.tick(bits, n.size)
	}
	return nil
}

// tick sets the clock to a timestamp of so many bits. One with fewer than 64 bits that is less than the
// clock's low bits has wrapped around once since then, as those of LTTng's headers do.
func (d *decoder) tick(bits uint64, size int) {
	if size == 64 {
		d.ticks = bits
		return
	}
	mask := uint64(1)<<size - 1
	bits &= mask
	if bits < d.ticks&mask {
		d.ticks += mask + 1
	}
	d.ticks = d.ticks&^mask | bits
}

func (d *decoder) text(v *Value) error {
	if err := d.align(8); err != nil {
		return err
	}
	from := len(d.texts)
	for {
		n := min((d.end-d.at)/8, 256)
		if n == 0 {
			return errShort
		}
		// The rest of the window is searched at once.
		if rest := d.start + int64(d.valid) - d.at>>3; rest > 0 {
			n = min((d.end-d.at)/8, rest)
		}
		b, err := d.load(d.at>>3, int(n))
		if err != nil {
			return err
		}
		i := bytes.IndexByte(b, 0)
		if i >= 0 {
			d.texts = append(d.texts, b[:i]...)
			d.at += 8 * int64(i+1)
			v.Text = d.texts[from:len(d.texts):len(d.texts)]
			return nil
		}
		d.texts = append(d.texts, b...)
		d.at += 8 * n
		if len(d.texts) > maxText {
			return fmt.Errorf("event of more than %d bytes of text", maxText)
		}
	}
}

func (d *decoder) structure(n *node, v *Value) (err error) {
	if err := d.align(n.align); err != nil {
		return err
	}
	if v.Elems, err = d.take(len(n.fields)); err != nil {
		return err
	}
	for i, f := range n.fields {
		if err := d.value(f, &v.Elems[i]); err != nil {
			return fmt.Errorf("field %s: %w", n.typ.(*Struct).Fields[i].Name, err)
		}
	}
	return nil
}

func (d *decoder) variant(n *node, v *Value) (err error) {
	if v.Option, err = n.chosen(d.slots[n.from]); err != nil {
		return err
	}
	if v.Elems, err = d.take(1); err != nil {
		return err
	}
	return d.value(n.fields[v.Option], &v.Elems[0])
}

func (d *decoder) elements(n *node, v *Value, count uint64) (err error) {
	if err := d.align(n.align); err != nil {
		return err
	}
	if n.bytes {
		if count > maxText || len(d.texts)+int(count) > maxText {
			return fmt.Errorf("event of more than %d bytes of text", maxText)
		}
		from := len(d.texts)
		if d.texts, err = d.bytes(d.texts, int64(count)); err != nil {
			return err
		}
		v.Text = d.texts[from:len(d.texts):len(d.texts)]
		if n.role == uuidRole {
			d.uuid = append(d.uuid[:0], v.Text...)
		}
		return nil
	}
	if count > maxValues {
		return fmt.Errorf("%d elements", count)
	}
	if int64(count)*int64(n.elem.size) > d.end-d.at {
		return errShort
	}
	if v.Elems, err = d.take(int(count)); err != nil {
		return err
	}
	for i := range v.Elems {
		if err := d.value(n.elem, &v.Elems[i]); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}
