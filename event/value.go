package event

import (
	"math"
	"time"
	"unicode/utf8"
)

// Value is the value of one field in one event. The zero Value has no kind and no error.
type Value struct {
	bits   uint64 // integers extended to 64 bits by sign, booleans, pointers and raw float bits
	text   []byte
	length int // of the whole string or []byte before it was cut, -1 if unknown
	err    error
	kind   Kind
}

// Number returns the value of a kind that is not text: an integer extended to 64 bits by its
// sign, 0 or 1 for a Bool, an address, or the raw bits of a float.
func Number(k Kind, bits uint64) Value { return Value{kind: k, bits: bits} }

// Text returns the value of a String or Bytes field. The Value refers to kept, the recorded bytes.
// length is the length before the text was cut. It is -1 for a C string that was cut, because its
// NUL was not reached.
func Text(k Kind, kept []byte, length int) Value { return Value{kind: k, text: kept, length: length} }

// Missing returns a value that could not be read.
func Missing(err error) Value { return Value{err: err} }

// MissingText returns a text of known length that could not be read.
func MissingText(length int, err error) Value { return Value{length: length, err: err} }

// Kind returns the kind of the value, Invalid if it is missing. It differs from the field's kind
// only if the sites of a point pass different types.
func (v *Value) Kind() Kind { return v.kind }

// Err returns the reason why there is no value, or nil if there is one.
func (v *Value) Err() error { return v.err }

// Bits returns the value in the encoding of Number; 0 for text.
func (v *Value) Bits() uint64 { return v.bits }

// Int returns an integer, nanoseconds of a Duration included; 0 for other kinds.
func (v *Value) Int() int64 {
	if !v.kind.IsInteger() {
		return 0
	}
	return int64(v.bits)
}

// Duration returns a Duration, or an integer as nanoseconds; 0 for other kinds.
func (v *Value) Duration() time.Duration { return time.Duration(v.Int()) }

// Uint returns an integer or an address; 0 for other kinds.
func (v *Value) Uint() uint64 {
	if !v.kind.IsInteger() && v.kind != Pointer {
		return 0
	}
	return v.bits
}

// Float returns a float; 0 for other kinds.
func (v *Value) Float() float64 {
	f, _ := floatOf(v.kind, v.bits)
	return f
}

// floatOf returns a number from its raw bits, and its size in bits.
func floatOf(k Kind, bits uint64) (float64, int) {
	switch k {
	case Float32:
		return float64(math.Float32frombits(uint32(bits))), 32
	case Float64:
		return math.Float64frombits(bits), 64
	}
	return 0, 64
}

// Bool returns a boolean; false for other kinds.
func (v *Value) Bool() bool { return v.kind == Bool && v.bits != 0 }

// Bytes returns the kept bytes of a string, a []byte or an array; nil for other kinds.
// They are valid as long as the event is.
func (v *Value) Bytes() []byte { return v.text }

// Text returns a copy of the kept bytes of a string or []byte; "" for other kinds. If the limit cut
// a character in two, Text omits its first bytes.
func (v *Value) Text() string { return string(v.whole()) }

// Len returns the length of the whole string or []byte in bytes, before it was cut to Bytes. It
// returns -1 if the length of a cut text is unknown.
func (v *Value) Len() int { return v.length }

// Cut reports whether Bytes is shorter than the whole value.
func (v *Value) Cut() bool { return v.length < 0 || v.length > len(v.text) }

// whole returns the text without the first bytes of a character cut in two.
func (v *Value) whole() []byte {
	text := v.text
	if !v.Cut() {
		return text
	}
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}
