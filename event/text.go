package event

import (
	"errors"
	"strconv"
	"time"
	"unicode/utf8"
)

// Texts for missing values. They cannot be confused with strings, which are quoted.
const (
	unavailable  = "<unavailable>"
	optimizedOut = "<optimized out>"
)

// maxName bounds the name of an enumeration's value, in bytes, because it is read from a file.
const maxName = 120

// AppendText appends a value of the field to b, formatted by its kind and the conversion of the
// field's verb. Widths and precisions are ignored: they apply to the program's own lines. The text
// is safe to print on a terminal, because strings are quoted and escaped. A missing value is
// printed as "<unavailable>" or "<optimized out>".
func (f *Field) AppendText(b []byte, v *Value) []byte {
	verb := f.conversion()
	switch {
	case errors.Is(v.err, OptimizedOut) || errors.Is(f.Unavailable, OptimizedOut):
		return append(b, optimizedOut...)
	case v.err != nil || f.Unavailable != "":
		return append(b, unavailable...)
	case f.Elem != Invalid:
		return f.appendElements(b, v)
	case f.Names != nil && verb != 'x' && f.Names[int64(v.bits)] != "":
		return appendPrintable(b, f.Names[int64(v.bits)])
	case v.kind.HasLength():
		return appendBytes(b, verb, v)
	case v.kind == Bool:
		return strconv.AppendBool(b, v.bits != 0)
	case v.kind.IsFloat():
		return appendFloat(b, verb, v)
	case v.kind == Duration && (verb == 'v' || verb == 's'):
		return append(b, time.Duration(v.bits).String()...)
	case v.kind == Pointer || v.kind == Uintptr && verb == 'v':
		return appendInteger(b, 'x', v)
	case v.kind.IsInteger():
		return appendInteger(b, verb, v)
	}
	return append(b, unavailable...)
}

// appendInteger appends an integer. In bases other than 10 it prints the bits of the value's size,
// as C does: an int32 of -1 is 0xffffffff.
func appendInteger(b []byte, verb byte, v *Value) []byte {
	raw := v.bits
	if size := v.kind.Size(); size < 8 {
		raw &= 1<<(8*size) - 1
	}
	switch verb {
	case 'x', 'p':
		return strconv.AppendUint(append(b, "0x"...), raw, 16)
	case 'X':
		return appendUpper(append(b, "0x"...), strconv.AppendUint(nil, raw, 16))
	case 'o':
		return strconv.AppendUint(append(b, "0o"...), raw, 8)
	case 'b':
		return strconv.AppendUint(append(b, "0b"...), raw, 2)
	case 'c':
		if int64(v.bits) >= 0 && v.bits <= utf8.MaxRune && utf8.ValidRune(rune(v.bits)) {
			return strconv.AppendQuoteRune(b, rune(v.bits))
		}
	}
	if v.kind.Signed() {
		return strconv.AppendInt(b, int64(v.bits), 10)
	}
	return strconv.AppendUint(b, v.bits, 10)
}

// appendFloat appends the shortest text that parses to this number.
func appendFloat(b []byte, verb byte, v *Value) []byte {
	n, size := floatOf(v.kind, v.bits)
	switch verb {
	case 'f', 'F':
		return strconv.AppendFloat(b, n, 'f', -1, size)
	case 'e', 'E', 'G':
		return strconv.AppendFloat(b, n, verb, -1, size)
	}
	return strconv.AppendFloat(b, n, 'g', -1, size)
}

// appendBytes appends a string or []byte, and the number of bytes cut off.
func appendBytes(b []byte, verb byte, v *Value) []byte {
	kept := v.text
	switch {
	case verb != 'x' && verb != 'X':
		kept = v.whole()
		b = appendQuoted(b, kept)
	case len(kept) == 0:
		b = append(b, `""`...)
	default:
		b = appendHex(b, verb, kept)
	}
	switch missing := v.length - len(kept); {
	case v.length < 0:
		b = append(b, "…"...)
	case missing > 0:
		b = strconv.AppendInt(append(b, "…+"...), int64(missing), 10)
	}
	return b
}

// appendQuoted is strconv.AppendQuote for bytes. It copies text that needs no escapes.
func appendQuoted(b, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return strconv.AppendQuote(b, string(text))
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// appendPrintable appends a name without quotes. It escapes characters that can control a terminal.
func appendPrintable(b []byte, s string) []byte {
	if len(s) > maxName {
		s = s[:maxName] + "…"
	}
	quoted := appendQuoted(nil, []byte(s))
	return append(b, quoted[1:len(quoted)-1]...)
}

func appendHex(b []byte, verb byte, text []byte) []byte {
	digits := "0123456789abcdef"
	if verb == 'X' {
		digits = "0123456789ABCDEF"
	}
	for _, c := range text {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return b
}

func appendUpper(b, digits []byte) []byte {
	for _, c := range digits {
		if 'a' <= c && c <= 'f' {
			c -= 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// Elements returns the kept elements of an array or slice, encoded as for Number, and the number of
// all its elements. The bytes of elements are little-endian.
func (f *Field) Elements(v *Value) (kept []uint64, all int) {
	size := f.Elem.Size()
	if size == 0 {
		return nil, 0
	}
	for at := 0; at+size <= len(v.text); at += size {
		var bits uint64
		for i := range min(size, 8) {
			bits |= uint64(v.text[at+i]) << (8 * i)
		}
		kept = append(kept, f.Elem.Extend(bits, size))
	}
	return kept, max(v.length/size, len(kept))
}

// appendElements appends elements as Go prints them, and the number of elements cut off.
func (f *Field) appendElements(b []byte, v *Value) []byte {
	kept, all := f.Elements(v)
	one := Field{Kind: f.Elem, Names: f.Names}
	b = append(b, '[')
	for i, bits := range kept {
		if i > 0 {
			b = append(b, ' ')
		}
		e := Number(f.Elem, bits)
		b = one.AppendText(b, &e)
	}
	if missing := all - len(kept); missing > 0 {
		if len(kept) > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(append(b, "…+"...), int64(missing), 10)
	}
	return append(b, ']')
}
