package cli

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// unavailable stands for a value that there is none of. Text is quoted, so no value looks like it.
const unavailable = "<unavailable>"

// optimizedOut stands for a variable that the compiler keeps nowhere at that place.
const optimizedOut = "<optimized out>"

// conversion returns the conversion of a verb such as "%08lx", 'v' when there is none.
func conversion(verb string) byte {
	if verb == "" {
		return 'v'
	}
	return verb[len(verb)-1]
}

// appendValue appends the value of a field as trace prints it: by its kind and by the
// conversion that its format asks for. Widths and precisions belong to a line of the
// program's own and are left out. A value that could not be read is "<unavailable>".
func appendValue(b []byte, f *tracer.Field, v *tracer.Value) []byte {
	verb, kind := conversion(f.Verb), f.KindOf(v)
	switch {
	case errors.Is(v.Err, tracer.ErrOptimizedOut) || errors.Is(f.Unavailable, tracer.ErrOptimizedOut):
		return append(b, optimizedOut...)
	case v.Err != nil || f.Unavailable != nil:
		return append(b, unavailable...)
	case f.Elem != event.Invalid:
		return appendElements(b, f, v)
	case f.Names != nil && verb != 'x' && f.Names[int64(v.Bits)] != "":
		return append(b, label(f.Names[int64(v.Bits)])...)
	case kind.HasLength():
		return appendBytes(b, verb, v)
	case kind == event.Bool:
		return strconv.AppendBool(b, v.Bits != 0)
	case kind.IsFloat():
		return appendFloat(b, verb, kind, v.Bits)
	case kind == event.Pointer || kind == event.Uintptr && verb == 'v':
		return appendInteger(b, 'x', kind, v.Bits)
	case kind.IsInteger():
		return appendInteger(b, verb, kind, v.Bits)
	}
	return append(b, unavailable...)
}

// appendInteger prints other bases as the bits of the value's own size, as C does: -1 as an
// int32 is 0xffffffff.
func appendInteger(b []byte, verb byte, k event.Kind, bits uint64) []byte {
	raw := bits
	if size := k.Size(); size < 8 {
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
		if int64(bits) >= 0 && bits <= utf8.MaxRune && utf8.ValidRune(rune(bits)) {
			return strconv.AppendQuoteRune(b, rune(bits))
		}
	}
	if k.Signed() {
		return strconv.AppendInt(b, int64(bits), 10)
	}
	return strconv.AppendUint(b, bits, 10)
}

// appendFloat prints the shortest number that is this one.
func appendFloat(b []byte, verb byte, k event.Kind, bits uint64) []byte {
	n, size := floatOf(k, bits)
	switch verb {
	case 'f', 'F':
		return strconv.AppendFloat(b, n, 'f', -1, size)
	case 'e', 'E', 'G':
		return strconv.AppendFloat(b, n, verb, -1, size)
	}
	return strconv.AppendFloat(b, n, 'g', -1, size)
}

// floatOf returns the number that the raw bits stand for, and its size in bits.
func floatOf(k event.Kind, bits uint64) (float64, int) {
	if k == event.Float32 {
		return float64(math.Float32frombits(uint32(bits))), 32
	}
	return math.Float64frombits(bits), 64
}

// appendBytes prints a string or []byte, and how many bytes of it are missing.
func appendBytes(b []byte, verb byte, v *tracer.Value) []byte {
	text := v.Text
	if verb == 'x' || verb == 'X' {
		switch {
		case len(text) == 0:
			b = append(b, `""`...)
		case verb == 'X':
			b = appendUpper(b, hex.AppendEncode(nil, text))
		default:
			b = hex.AppendEncode(b, text)
		}
	} else {
		text = whole(v)
		b = appendQuoted(b, text)
	}
	switch missing := v.Len - len(text); {
	case v.Len < 0:
		b = append(b, "…"...)
	case missing > 0:
		b = append(b, "…+"...)
		b = strconv.AppendInt(b, int64(missing), 10)
	}
	return b
}

// appendQuoted is strconv.AppendQuote, which takes a string, of which most text is a copy between quotes.
func appendQuoted(b, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return strconv.AppendQuote(b, string(text))
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// isCut reports whether a value is the beginning of a longer one.
func isCut(v *tracer.Value) bool { return v.Len < 0 || v.Len > len(v.Text) }

// whole returns the text of a value, without the first bytes of a character that the limit
// cut in two.
func whole(v *tracer.Value) []byte {
	text := v.Text
	if !isCut(v) {
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

func appendUpper(b, digits []byte) []byte {
	for _, c := range digits {
		if 'a' <= c && c <= 'f' {
			c -= 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// elements returns the elements of an array or slice that were read, extended by their sign, and
// how many there are in all.
func elements(f *tracer.Field, v *tracer.Value) (read []uint64, all int) {
	size := f.Elem.Size()
	for at := 0; at+size <= len(v.Text); at += size {
		var full [8]byte
		copy(full[:], v.Text[at:at+size])
		bits, unused := binary.LittleEndian.Uint64(full[:]), 64-8*size
		if f.Elem.Signed() {
			bits = uint64(int64(bits<<unused) >> unused)
		}
		read = append(read, bits)
	}
	return read, max(v.Len/size, len(read))
}

// appendElements prints them as Go does, and how many are missing.
func appendElements(b []byte, f *tracer.Field, v *tracer.Value) []byte {
	read, all := elements(f, v)
	one := tracer.Field{Kind: f.Elem, Names: f.Names}
	b = append(b, '[')
	for i, bits := range read {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendValue(b, &one, &tracer.Value{Bits: bits})
	}
	if missing := all - len(read); missing > 0 {
		b = append(b, " …+"[min(len(read), 1)^1:]...)
		b = strconv.AppendInt(b, int64(missing), 10)
	}
	return append(b, ']')
}
