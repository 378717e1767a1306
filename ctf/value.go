package ctf

import "math"

// Value is the value of a field. Which members it has follows from its type:
//
//	*Integer, *Enum      Bits, extended to 64 bits by sign
//	*Float               Bits, as IEEE 754 has them in 32 or 64 bits
//	*String              Text, without the NUL
//	*Struct              Elems, one per field
//	*Variant             Option and, as Elems[0], its value
//	*Array, *Sequence    Elems, or Text where elements are whole bytes
type Value struct {
	Type   Type // set by readers; writers go by the event class
	Bits   uint64
	Text   []byte
	Elems  []Value
	Option int
}

// Float returns the number of a *Float, and 0 for others.
func (v *Value) Float() float64 {
	f, ok := v.Type.(*Float)
	switch {
	case !ok:
		return 0
	case f.Size == 32:
		return float64(math.Float32frombits(uint32(v.Bits)))
	}
	return math.Float64frombits(v.Bits)
}

// IsText reports whether Text is characters: a *String, or an array or sequence of UTF-8.
func (v *Value) IsText() bool {
	switch t := v.Type.(type) {
	case *String:
		return true
	case *Array:
		return isText(t.Elem)
	case *Sequence:
		return isText(t.Elem)
	}
	return false
}

// IsBytes reports whether the value is an array or sequence with its elements in Text, not in Elems.
func (v *Value) IsBytes() bool {
	switch t := v.Type.(type) {
	case *Array:
		return isBytes(t.Elem)
	case *Sequence:
		return isBytes(t.Elem)
	}
	return false
}

// Get returns the value of a struct's field, nil when it has none of the name or is no struct.
func (v *Value) Get(name string) *Value {
	if t, ok := v.Type.(*Struct); ok {
		for i := range t.Fields {
			if t.Fields[i].Name == name && i < len(v.Elems) {
				return &v.Elems[i]
			}
		}
	}
	return nil
}
