package ring

import (
	"fmt"

	"github.com/waymark-trace/waymark/event"
)

// Value is the value of one field.
type Value struct {
	Bits uint64 // integers, extended to 64 bits by sign, booleans, pointers and raw float bits
	Text []byte // what was kept of a string or []byte
	Len  int    // how long that was
}

// Values appends the values of the record's fields to v. Texts are part of its Args.
func (rec *Record) Values(v []Value) ([]Value, error) {
	e := rec.Event
	args, texts := rec.Args[:e.Size], rec.Args[e.Size:]
	for i := range e.Fields {
		f := &e.Fields[i]
		at := args[f.Offset : f.Offset+f.Size]
		if f.Kind == event.Invalid {
			v = append(v, Value{})
			continue
		}
		if !f.Kind.HasLength() {
			v = append(v, Value{Bits: extend(at, f.Kind.Signed())})
			continue
		}
		word := f.Size / 2
		if f.Kind == event.Bytes {
			word = f.Size / 3
		}
		kept, length := extend(at[:word], false), extend(at[word:2*word], false)
		if kept > length || kept > uint64(len(texts)) || length > 1<<(8*wordSize-1)-1 {
			return v, fmt.Errorf("field %s of event %s: %d of %d bytes were kept, %d are there", f.Name, e.Name, kept, length, len(texts))
		}
		v = append(v, Value{Text: texts[:kept:kept], Len: int(length)})
		texts = texts[kept:]
	}
	return v, nil
}

// extend reads a number of 1, 2, 4 or 8 bytes.
func extend(b []byte, signed bool) uint64 {
	var bits uint64
	switch len(b) {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(order.Uint16(b))
	case 4:
		bits = uint64(order.Uint32(b))
	default:
		return order.Uint64(b)
	}
	if shift := 64 - 8*len(b); signed {
		return uint64(int64(bits<<shift) >> shift)
	}
	return bits
}
