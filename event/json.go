package event

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendJSON appends a value of the field to b as JSON. A missing value becomes null, bytes become
// base64, elements an array, and a Duration a number of nanoseconds. Floats that JSON cannot
// express as numbers become strings. Otherwise the type of the JSON value depends only on the
// field. The text is safe to print on a terminal.
func (f *Field) AppendJSON(b []byte, v *Value) []byte {
	switch {
	case v.err != nil || f.Unavailable != "":
		return append(b, "null"...)
	case f.Elem != Invalid:
		kept, _ := f.Elements(v)
		one := Field{Kind: f.Elem}
		b = append(b, '[')
		for i, bits := range kept {
			if i > 0 {
				b = append(b, ',')
			}
			e := Number(f.Elem, bits)
			b = one.AppendJSON(b, &e)
		}
		return append(b, ']')
	case v.kind == Bool:
		return strconv.AppendBool(b, v.bits != 0)
	case v.kind == String:
		return AppendJSONString(b, v.whole())
	case v.kind == Bytes:
		return appendBase64(b, v.text)
	case v.kind.IsFloat():
		return appendJSONFloat(b, v)
	case v.kind.Signed():
		return strconv.AppendInt(b, int64(v.bits), 10)
	}
	return strconv.AppendUint(b, v.bits, 10)
}

// AppendJSONString appends a string as encoding/json does without its escapes for HTML. It also
// escapes all characters that can control a terminal. Bytes that are not UTF-8 become U+FFFD.
func AppendJSONString[S string | []byte](b []byte, s S) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return appendJSONEscaped(append(b, s[:i]...), string(s[i:]))
		}
	}
	return append(append(b, s...), '"')
}

// appendJSONEscaped appends the rest of a string and the quote after it.
func appendJSONEscaped(b []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case strconv.IsPrint(r):
			b = append(b, s[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = appendEscape(appendEscape(b, high), low)
		default:
			b = appendEscape(b, r)
		}
		s = s[n:]
	}
	return append(b, '"')
}

func appendEscape(b []byte, r rune) []byte {
	return appendHex(append(b, `\u`...), 'x', []byte{byte(r >> 8), byte(r)})
}

// appendJSONFloat appends a number as encoding/json does, or a string for infinities and NaN.
func appendJSONFloat(b []byte, v *Value) []byte {
	n, size := floatOf(v.kind, v.bits)
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return append(strconv.AppendFloat(append(b, '"'), n, 'g', -1, 64), '"')
	}
	small, large := 1e-6, 1e21
	if size == 32 { // encoding/json compares as float32
		small, large = float64(float32(1e-6)), float64(float32(1e21))
	}
	if abs := math.Abs(n); abs == 0 || abs >= small && abs < large {
		return strconv.AppendFloat(b, n, 'f', -1, size)
	}
	b = strconv.AppendFloat(b, n, 'e', -1, size)
	if end := len(b); b[end-4] == 'e' && b[end-3] == '-' && b[end-2] == '0' { // e-09 is e-9
		b = append(b[:end-2], b[end-1])
	}
	return b
}

// appendBase64 appends bytes as base64 in quotes. It does not use package encoding/base64, because
// that has an init function, which every program with markers would run.
func appendBase64(b, data []byte) []byte {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b = append(b, '"')
	for ; len(data) >= 3; data = data[3:] {
		n := uint(data[0])<<16 | uint(data[1])<<8 | uint(data[2])
		b = append(b, digits[n>>18], digits[n>>12&63], digits[n>>6&63], digits[n&63])
	}
	switch len(data) {
	case 1:
		n := uint(data[0]) << 16
		b = append(b, digits[n>>18], digits[n>>12&63], '=', '=')
	case 2:
		n := uint(data[0])<<16 | uint(data[1])<<8
		b = append(b, digits[n>>18], digits[n>>12&63], digits[n>>6&63], '=')
	}
	return append(b, '"')
}
