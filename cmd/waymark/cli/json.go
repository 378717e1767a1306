package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// The objects that --json prints are a contract: docs/json.md.

// timeFormat is RFC 3339 with all nine digits.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// writeJSON writes an object on a line of its own.
func writeJSON(w io.Writer, object any) error {
	line, err := encodeJSON(object)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

func encodeJSON(object any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return harmless(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// harmless escapes in JSON what encoding/json leaves as it is although a terminal
// may act on it. Such characters are in strings only.
func harmless(body []byte) []byte {
	clean := true
	for _, c := range body {
		clean = clean && c >= ' ' && c < 0x7f
	}
	if clean {
		return body
	}
	out := make([]byte, 0, len(body)+16)
	for len(body) > 0 {
		r, n := utf8.DecodeRune(body)
		switch {
		case strconv.IsPrint(r):
			out = append(out, body[:n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		body = body[n:]
	}
	return out
}

// jsonFields is an object whose keys keep their order.
type jsonFields []jsonField

type jsonField struct {
	name  string
	value any
}

func (f jsonFields) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, one := range f {
		if i > 0 {
			b = append(b, ',')
		}
		for _, part := range []any{one.name, one.value} {
			var buf bytes.Buffer
			e := json.NewEncoder(&buf)
			e.SetEscapeHTML(false)
			if err := e.Encode(part); err != nil {
				return nil, err
			}
			b = append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
			b = append(b, ':')
		}
		b = b[:len(b)-1]
	}
	return append(b, '}'), nil
}

// appendJSONText appends a string as encoding/json writes it, harmless: most are as they are.
func appendJSONText[S string | []byte](b []byte, s S) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			text, _ := encodeJSON(string(s)) // every string can be encoded
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// jsonValue is appendJSONValue for encoding/json.
func jsonValue(f *tracer.Field, v *tracer.Value) any {
	return json.RawMessage(appendJSONValue(nil, f, v))
}

// appendJSONValue appends a field's value. Its type follows from the value's kind
// alone, except that null stands for a value that could not be read.
func appendJSONValue(b []byte, f *tracer.Field, v *tracer.Value) []byte {
	kind := f.KindOf(v)
	switch {
	case v.Err != nil || f.Unavailable != nil:
		return append(b, "null"...)
	case f.Elem != event.Invalid:
		read, _ := elements(f, v)
		one := tracer.Field{Kind: f.Elem}
		b = append(b, '[')
		for i, bits := range read {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSONValue(b, &one, &tracer.Value{Bits: bits})
		}
		return append(b, ']')
	case kind == event.Bool:
		return strconv.AppendBool(b, v.Bits != 0)
	case kind == event.String:
		return appendJSONText(b, whole(v)) // encoding/json replaces what is not UTF-8 by U+FFFD
	case kind == event.Bytes:
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), v.Text), '"')
	case kind.IsFloat():
		return appendJSONFloat(b, kind, v.Bits)
	case kind.Signed():
		return strconv.AppendInt(b, int64(v.Bits), 10)
	}
	return strconv.AppendUint(b, v.Bits, 10)
}

// appendJSONFloat appends a number as encoding/json writes it, and a string for those that JSON has no number for.
func appendJSONFloat(b []byte, k event.Kind, bits uint64) []byte {
	n, size := floatOf(k, bits)
	if abs := math.Abs(n); n == 0 || abs >= 1e-3 && abs < 1e15 { // it has no exponent
		return strconv.AppendFloat(b, n, 'f', -1, size)
	}
	text, _ := encodeJSON(jsonFloat(k, bits)) // neither is an error
	return append(b, text...)
}

// jsonFloat returns a number, and a string for those that JSON has no number for.
func jsonFloat(k event.Kind, bits uint64) any {
	n, size := floatOf(k, bits)
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	if size == 32 {
		return float32(n)
	}
	return n
}
