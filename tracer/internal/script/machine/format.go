package machine

import (
	"bytes"
	"math"
	"strconv"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
)

// AppendFormat appends a format with its arguments. It reports whether a conversion without a length, such as %d, dropped bits of
// a value that has more than 32.
func AppendFormat(b []byte, f *ir.Format, types []ir.Type, values []Value, style *Style) (out []byte, dropped bool) {
	for i := range f.Verbs {
		b = append(b, f.Texts[i]...)
		v := &f.Verbs[i]
		from := len(b)
		var cut bool
		b, cut = appendVerb(b, v, &types[i], &values[i], style)
		dropped = dropped || cut
		b = pad(b, from, v)
	}
	return append(b, f.Texts[len(f.Verbs)]...), dropped
}

// pad fills what was appended up to the width of the verb with spaces.
func pad(b []byte, from int, v *ir.Verb) []byte {
	missing := v.Width - (len(b) - from)
	if missing <= 0 {
		return b
	}
	b = append(b, bytes.Repeat([]byte{' '}, missing)...)
	if !v.Left {
		copy(b[from+missing:], b[from:len(b)-missing])
		copy(b[from:], bytes.Repeat([]byte{' '}, missing))
	}
	return b
}

func appendVerb(b []byte, v *ir.Verb, t *ir.Type, value *Value, style *Style) ([]byte, bool) {
	switch v.Conversion {
	case "s":
		from := len(b)
		b = AppendValue(b, t, value, style)
		if v.Precision >= 0 && len(b)-from > v.Precision {
			b = b[:from+v.Precision]
		}
		return b, false
	case "r":
		return appendBuffer(b, value.Text), false
	case "rx":
		return appendHex(b, value.Text, `\x`, ""), false
	case "rh":
		return appendHex(b, value.Text, "", " "), false
	case "c":
		c := string([]byte{byte(value.Bits)})
		if c == "\n" || c == "\t" {
			return append(b, c...), false
		}
		return style.text(b, c), false
	case "p":
		if value.Bits == 0 {
			return append(b, '0'), false
		}
		return strconv.AppendUint(append(b, "0x"...), value.Bits, 16), false
	case "d", "i", "u", "o", "x", "X":
		return appendInteger(b, v, value.Bits)
	}
	return appendFloat(b, v, FloatOf(t, value.Bits), t.Bits), false
}

// appendInteger appends an integer as C does.
func appendInteger(b []byte, v *ir.Verb, bits uint64) ([]byte, bool) {
	narrow := ir.Type{Base: ir.Int, Bits: v.Bits}
	unsigned := narrow.Extend(bits)
	narrow.Signed = true
	signed := int64(narrow.Extend(bits))
	dropped := v.Bits == 32 && bits != unsigned && bits != uint64(signed)
	var digits []byte
	prefix := ""
	switch v.Conversion {
	case "d", "i":
		magnitude := uint64(signed)
		switch {
		case signed < 0:
			prefix, magnitude = "-", -magnitude
		case v.Plus:
			prefix = "+"
		case v.Space:
			prefix = " "
		}
		digits = strconv.AppendUint(nil, magnitude, 10)
	case "u":
		digits = strconv.AppendUint(nil, unsigned, 10)
	case "o":
		digits = strconv.AppendUint(nil, unsigned, 8)
		if v.Alternate && digits[0] != '0' && len(digits) >= v.Precision {
			digits = append([]byte{'0'}, digits...)
		}
	default:
		if digits = strconv.AppendUint(nil, unsigned, 16); v.Alternate && unsigned != 0 {
			prefix = "0" + v.Conversion
		}
		if v.Conversion == "X" {
			digits = bytes.ToUpper(digits)
		}
	}
	if v.Precision == 0 && unsigned == 0 && !(v.Conversion == "o" && v.Alternate) {
		digits = nil
	}
	least := v.Precision
	if v.Zero && !v.Left && v.Precision < 0 {
		least = v.Width - len(prefix)
	}
	b = append(b, prefix...)
	for n := len(digits); n < least; n++ {
		b = append(b, '0')
	}
	return append(b, digits...), dropped
}

func appendFloat(b []byte, v *ir.Verb, f float64, bits int) []byte {
	precision := v.Precision
	if precision < 0 {
		precision = 6
	}
	sign := ""
	switch {
	case math.IsNaN(f):
	case math.Signbit(f):
		sign = "-"
	case v.Plus:
		sign = "+"
	case v.Space:
		sign = " "
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(b, sign+floatText(math.Abs(f), bits)...)
	}
	conversion := v.Conversion[0]
	if conversion == 'F' {
		conversion = 'f'
	}
	digits := strconv.AppendFloat(nil, math.Abs(f), conversion, precision, 64)
	b = append(b, sign...)
	for n := len(sign) + len(digits); v.Zero && !v.Left && n < v.Width; n++ {
		b = append(b, '0')
	}
	return append(b, digits...)
}

// floatText returns a float as print shows it.
func floatText(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// appendBuffer appends bytes: printable ASCII as it is, others as \xNN.
func appendBuffer(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c >= 32 && c <= 126 {
			b = append(b, c)
		} else {
			b = appendHex(b, s[i:i+1], `\x`, "")
		}
	}
	return b
}

func appendHex(b []byte, s, prefix, between string) []byte {
	const digits = "0123456789abcdef"
	for i := range len(s) {
		if i > 0 {
			b = append(b, between...)
		}
		b = append(append(b, prefix...), digits[s[i]>>4], digits[s[i]&15])
	}
	return b
}
