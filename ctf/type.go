package ctf

// Type is the type of a field: *Integer, *Float, *Enum, *String, *Struct, *Variant, *Array
// or *Sequence.
type Type interface{ isType() }

// ByteOrder is the order of the bytes of numbers.
type ByteOrder uint8

// The byte orders. Native is that of the trace.
const (
	Native ByteOrder = iota
	LittleEndian
	BigEndian
)

// Integer is an integer of 1 to 64 bits.
type Integer struct {
	Size   int // bits
	Signed bool
	Align  int // bits, a power of two; 0 is 8 for sizes that are whole bytes and 1 for others
	Base   int // in which it should be shown: 2, 8, 10 or 16; 0 is 10
	Order  ByteOrder
	UTF8   bool   // it is a character, or a part of one
	Clock  string // the name of the clock that it is a value of, "" for none
}

// Float is an IEEE 754 number of 32 or 64 bits.
type Float struct {
	Size  int // bits
	Align int // bits, as Integer.Align
	Order ByteOrder
}

// Enum is an integer with names for ranges of its values.
type Enum struct {
	Integer
	Labels []Label
}

// Label names the values from Low to High, which are 64-bit integers, extended by sign when the
// enum is signed. Ranges may overlap.
type Label struct {
	Name      string
	Low, High uint64
}

// String is text that a NUL ends.
type String struct{}

// Struct is fields one after another.
type Struct struct {
	Align  int // bits, at least; 0 for the alignment of its fields
	Fields []Field
}

// Field is a member of a Struct or an option of a Variant.
type Field struct {
	Name string // without the underscore with which metadata keeps names and keywords apart
	Type Type

	raw string // as the metadata spells it; "" is "_" + Name
}

// Variant is one of several types: the option that has the name of the label of an Enum.
type Variant struct {
	// Tag is the path of the Enum: the name of a field before this one in the same struct or in one around
	// it, with dots between names of fields of fields, or from a root such as "stream.event.context".
	Tag     string
	Options []Field

	raw bool // metadata has Tag without underscores
}

// Array is a fixed number of elements.
type Array struct {
	Len  int
	Elem Type
}

// Sequence has as many elements as the value of another field.
type Sequence struct {
	Length string // the path of an unsigned Integer, as Variant.Tag is one of an Enum
	Elem   Type
}

func (*Integer) isType()  {}
func (*Float) isType()    {}
func (*Enum) isType()     {}
func (*String) isType()   {}
func (*Struct) isType()   {}
func (*Variant) isType()  {}
func (*Array) isType()    {}
func (*Sequence) isType() {}

// Names appends the names of a value to names: none, one or, where ranges overlap, several.
func (e *Enum) Names(names []string, bits uint64) []string {
	for i := range e.Labels {
		if e.Labels[i].holds(bits, e.Signed) {
			names = append(names, e.Labels[i].Name)
		}
	}
	return names
}

func (l *Label) holds(bits uint64, signed bool) bool {
	if signed {
		return int64(l.Low) <= int64(bits) && int64(bits) <= int64(l.High)
	}
	return l.Low <= bits && bits <= l.High
}

// isText reports whether elements of a type make text: it is how CTF writes strings that may hold NUL.
func isText(elem Type) bool {
	i := integerOf(elem)
	return i != nil && i.Size == 8 && i.UTF8 && alignment(i.Align, i.Size) == 8
}

// isBytes reports whether elements of a type are whole bytes.
func isBytes(elem Type) bool {
	i, ok := elem.(*Integer)
	return isText(elem) || ok && i.Size == 8 && alignment(i.Align, i.Size) == 8
}

// integerOf returns the integer that a type is, or that an enum consists of, nil for others.
func integerOf(t Type) *Integer {
	switch t := t.(type) {
	case *Integer:
		return t
	case *Enum:
		return &t.Integer
	}
	return nil
}

// alignment returns the alignment for which 0 stands.
func alignment(align, size int) int {
	switch {
	case align != 0:
		return align
	case size%8 == 0:
		return 8
	}
	return 1
}
