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

	"github.com/waymark-trace/waymark/internal/field"
	"github.com/waymark-trace/waymark/tracer"
)

// The objects that --json prints are a contract: docs/json.md.

// timeFormat is RFC 3339 with all nine digits.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// writeJSON writes an object on a line of its own.
func writeJSON(w io.Writer, object any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil {
		return fmt.Errorf("encoding JSON: %w", err)
	}
	_, err := w.Write(harmless(b.Bytes()))
	return err
}

// harmless escapes in a line of JSON what encoding/json leaves as it is although a terminal
// may act on it. Such characters are in strings only.
func harmless(line []byte) []byte {
	body := bytes.TrimSuffix(line, []byte("\n"))
	clean := true
	for _, c := range body {
		clean = clean && c >= ' ' && c < 0x7f
	}
	if clean {
		return line
	}
	out := make([]byte, 0, len(line)+16)
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
	return append(out, '\n')
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

// jsonValue returns a field's value for encoding/json. Its type follows from the value's kind
// alone, except that null stands for a value that could not be read.
func jsonValue(f *tracer.Field, v *tracer.Value) any {
	kind := f.KindOf(v)
	switch {
	case v.Err != nil || f.Unavailable != nil:
		return nil
	case f.Elem != field.Invalid:
		read, _ := elements(f, v)
		all := make([]any, len(read))
		for i, bits := range read {
			all[i] = jsonValue(&tracer.Field{Kind: f.Elem}, &tracer.Value{Bits: bits})
		}
		return all
	case kind == field.Bool:
		return v.Bits != 0
	case kind == field.String:
		return string(whole(v)) // encoding/json replaces what is not UTF-8 by U+FFFD
	case kind == field.Bytes:
		return base64.StdEncoding.EncodeToString(v.Text)
	case kind.IsFloat():
		return jsonFloat(kind, v.Bits)
	case kind.Signed():
		return int64(v.Bits)
	}
	return v.Bits
}

// jsonFloat returns a number, and a string for those that JSON has no number for.
func jsonFloat(k field.Kind, bits uint64) any {
	n, size := floatOf(k, bits)
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	if size == 32 {
		return float32(n)
	}
	return n
}
