package machine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
)

// Value is the value of an expression. Its type determines which members are set.
type Value struct {
	Bits  uint64 // integers extended by their sign, truths, pointers, raw bits of floats
	Text  string // texts and buffers
	Cut   bool   // the text was longer than max_strlen permits
	Elems []Value
}

// TextValue returns a text: it ends at its first NUL, and at most max-1 bytes are kept.
func TextValue(s string, max int) Value {
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	if len(s) > max-1 {
		return Value{Text: s[:max-1], Cut: true}
	}
	return Value{Text: s}
}

// AppendKey appends the encoding of a value as a key. Different values of a type have different encodings.
func AppendKey(b []byte, t *ir.Type, v *Value) []byte {
	switch t.Base {
	case ir.String, ir.Buffer:
		n := uint64(len(v.Text)) << 1
		if v.Cut {
			n |= 1
		}
		return append(binary.AppendUvarint(b, n), v.Text...)
	case ir.Tuple:
		for i := range t.Elems {
			b = AppendKey(b, &t.Elems[i], &v.Elems[i])
		}
		return b
	}
	return binary.LittleEndian.AppendUint64(b, v.Bits)
}

// EqualValues reports whether two values of a type are equal. A text that was cut equals no other text than one that was cut too.
func EqualValues(t *ir.Type, a, b *Value) bool {
	switch t.Base {
	case ir.String, ir.Buffer:
		return a.Text == b.Text && a.Cut == b.Cut
	case ir.Tuple:
		for i := range t.Elems {
			if !EqualValues(&t.Elems[i], &a.Elems[i], &b.Elems[i]) {
				return false
			}
		}
		return true
	}
	return a.Bits == b.Bits
}

// CompareValues orders values of a type, as maps print their keys.
func CompareValues(t *ir.Type, a, b *Value) int {
	switch t.Base {
	case ir.String, ir.Buffer:
		if c := cmp.Compare(a.Text, b.Text); c != 0 {
			return c
		}
		return bytes.Compare(AppendKey(nil, t, a), AppendKey(nil, t, b))
	case ir.Tuple:
		for i := range t.Elems {
			if c := CompareValues(&t.Elems[i], &a.Elems[i], &b.Elems[i]); c != 0 {
				return c
			}
		}
		return 0
	case ir.Float:
		return cmp.Compare(FloatOf(t, a.Bits), FloatOf(t, b.Bits))
	}
	if t.Base == ir.Int && t.Signed {
		return cmp.Compare(int64(a.Bits), int64(b.Bits))
	}
	return cmp.Compare(a.Bits, b.Bits)
}

// FloatOf returns a float from its raw bits.
func FloatOf(t *ir.Type, bits uint64) float64 {
	if t.Bits == 32 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// Zero returns the value of a missing key.
func Zero(t *ir.Type) Value {
	v := Value{}
	if t.Base == ir.Tuple {
		v.Elems = make([]Value, len(t.Elems))
		for i := range t.Elems {
			v.Elems[i] = Zero(&t.Elems[i])
		}
	}
	return v
}
