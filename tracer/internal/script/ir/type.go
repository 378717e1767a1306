package ir

import (
	"fmt"
	"strings"
)

// Base is the kind of a type.
type Base uint8

// The kinds of types.
const (
	Unknown Base = iota // of a map or variable whose first assignment was not seen yet
	None                // of a call without a value
	Bool
	Int     // Bits, Signed
	Float   // Bits
	Pointer // 64 bits without a sign, printed in hexadecimal
	String  // Size bytes with the NUL
	Buffer  // Size bytes
	Tuple   // Elems
	Time    // text of a time of day, only printed
	Agg     // Agg
)

// Aggregation is the kind of an aggregation.
type Aggregation uint8

// The aggregations.
const (
	Count Aggregation = iota
	Sum
	Avg
	Min
	Max
	Stats
	Hist
	LHist
	TSeries
)

var aggNames = [...]string{"count", "sum", "avg", "min", "max", "stats", "hist", "lhist", "tseries"}

// String returns the name of the function that updates the aggregation.
func (a Aggregation) String() string { return aggNames[a] }

// Aggregates maps the names of functions to aggregations.
var Aggregates = func() map[string]Aggregation {
	m := map[string]Aggregation{}
	for i, name := range aggNames {
		m[name] = Aggregation(i)
	}
	return m
}()

// Type is the type of a value.
type Type struct {
	Base   Base
	Bits   int  // of Int and Float
	Signed bool // of Int, and of the values of an Agg
	// Literal marks the type of a literal that is not negative: it takes the sign of the other operand.
	Literal bool
	Size    int // of String and Buffer
	Elems   []Type
	Agg     Aggregation
	// Params are the constants of an aggregation: the k of hist; min, max and step of lhist; interval, number of intervals and
	// aggregation of tseries.
	Params [3]int64
}

// Frequent types.
var (
	NoType     = Type{Base: None}
	BoolType   = Type{Base: Bool}
	Int64Type  = Type{Base: Int, Bits: 64, Signed: true}
	Uint64Type = Type{Base: Int, Bits: 64}
	Uint32Type = Type{Base: Int, Bits: 32}
)

// Text returns the type of texts in so many bytes, the NUL included.
func Text(size int) Type { return Type{Base: String, Size: size} }

// Literal returns the type of an integer literal: the smallest signed one that holds it, uint64 above the largest int64.
func Literal(v uint64) Type {
	t := Type{Base: Int, Bits: 64, Signed: true, Literal: true}
	switch {
	case v < 1<<7:
		t.Bits = 8
	case v < 1<<15:
		t.Bits = 16
	case v < 1<<31:
		t.Bits = 32
	case v >= 1<<63:
		t.Signed, t.Literal = false, false
	}
	return t
}

// IsInt reports whether arithmetic takes values of the type, which an aggregation of one number becomes.
func (t Type) IsInt() bool { return t.Base == Int || t.IsNumberAgg() }

// IsNumberAgg reports whether the type is an aggregation with one number as its value.
func (t Type) IsNumberAgg() bool { return t.Base == Agg && t.Agg <= Max }

// IsHistogram reports whether the type is an aggregation with buckets.
func (t Type) IsHistogram() bool { return t.Base == Agg && t.Agg >= Hist }

// Number returns the type of the number that a value is in arithmetic.
func (t Type) Number() Type {
	if t.Base != Agg {
		return t
	}
	return Type{Base: Int, Bits: 64, Signed: t.Signed}
}

// String returns the name of the type in messages.
func (t Type) String() string {
	switch t.Base {
	case Unknown:
		return "unknown"
	case None:
		return "no value"
	case Bool:
		return "bool"
	case Int:
		if t.Signed {
			return fmt.Sprintf("int%d", t.Bits)
		}
		return fmt.Sprintf("uint%d", t.Bits)
	case Float:
		return fmt.Sprintf("float%d", t.Bits)
	case Pointer:
		return "pointer"
	case String:
		return "string"
	case Buffer:
		return "buffer"
	case Time:
		return "timestamp"
	case Tuple:
		var elems []string
		for _, e := range t.Elems {
			elems = append(elems, e.String())
		}
		return "(" + strings.Join(elems, ",") + ")"
	}
	return t.Agg.String() + "_t"
}

// Equal reports whether two types are the same, apart from Literal.
func (t Type) Equal(u Type) bool {
	if t.Base != u.Base || t.Bits != u.Bits || t.Signed != u.Signed || t.Size != u.Size || t.Agg != u.Agg || t.Params != u.Params || len(t.Elems) != len(u.Elems) {
		return false
	}
	for i := range t.Elems {
		if !t.Elems[i].Equal(u.Elems[i]) {
			return false
		}
	}
	return true
}

// Promote returns the type that holds the values of both, and false if there is none.
func Promote(t, u Type) (Type, bool) {
	switch {
	case t.Base == Unknown:
		return u, true
	case u.Base == Unknown:
		return t, true
	case t.Base == Agg && u.Base == Agg:
		if t.Agg != u.Agg || t.Params != u.Params {
			return t, false
		}
		t.Signed = t.Signed || u.Signed
		return t, true
	case t.IsInt() && u.IsInt():
		return promoteInt(t.Number(), u.Number()), true
	case t.Base != u.Base:
		return t, false
	}
	switch t.Base {
	case Float:
		return t, t.Bits == u.Bits
	case String, Buffer:
		t.Size = max(t.Size, u.Size)
	case Tuple:
		if len(t.Elems) != len(u.Elems) {
			return t, false
		}
		elems := make([]Type, len(t.Elems))
		for i := range elems {
			ok := false
			if elems[i], ok = Promote(t.Elems[i], u.Elems[i]); !ok {
				return t, false
			}
		}
		t.Elems = elems
	}
	return t, true
}

func promoteInt(t, u Type) Type {
	bits := max(t.Bits, u.Bits)
	literal := t.Literal && u.Literal
	switch {
	case t.Signed == u.Signed:
	case t.Literal:
		t = u
	case u.Literal:
	default:
		signed, unsigned := t, u
		if !t.Signed {
			signed, unsigned = u, t
		}
		if t = signed; signed.Bits <= unsigned.Bits {
			bits = min(2*unsigned.Bits, 64)
		}
	}
	return Type{Base: Int, Bits: bits, Signed: t.Signed, Literal: literal}
}

// Extend returns the bits of an integer in a type, extended to 64 bits by its sign.
func (t Type) Extend(v uint64) uint64 {
	if t.Base == Bool {
		if v != 0 {
			return 1
		}
		return 0
	}
	if t.Base != Int || t.Bits == 64 {
		return v
	}
	shift := 64 - t.Bits
	if t.Signed {
		return uint64(int64(v<<shift) >> shift)
	}
	return v << shift >> shift
}
