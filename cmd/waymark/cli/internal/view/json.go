package view

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/event"
)

// The objects that --json prints are a contract: docs/json.md.

// timeFormat is RFC 3339 with all nine digits.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// WriteJSON writes an object on a line of its own.
func WriteJSON(w io.Writer, object any) error {
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

// jsonValue is a field's value for encoding/json.
func jsonValue(f *event.Field, v *event.Value) any {
	return json.RawMessage(f.AppendJSON(nil, v))
}

// jsonNotes is what values alone do not say, by the keys of their fields.
type jsonNotes struct {
	Len    map[string]int    `json:"len,omitempty"`
	Raw    map[string]string `json:"raw,omitempty"`
	Names  map[string]string `json:"names,omitempty"`
	Errors map[string]string `json:"errors,omitempty"`
}

func (j *jsonNotes) some() bool {
	return j.Len != nil || j.Raw != nil || j.Names != nil || j.Errors != nil
}

// note adds what a value alone does not say.
func (j *jsonNotes) note(key string, f *event.Field, v *event.Value) {
	err := v.Err()
	if err == nil {
		err = f.Unavailable.Err()
	}
	if err != nil {
		set(&j.Errors, key, err.Error())
		return
	}
	if name := f.Names[int64(v.Bits())]; name != "" && f.Elem == event.Invalid {
		set(&j.Names, key, name)
	}
	if f.Elem != event.Invalid {
		if read, all := f.Elements(v); all > len(read) {
			set(&j.Len, key, all)
		}
		return
	}
	if !f.Kind.HasLength() {
		return
	}
	if v.Cut() {
		set(&j.Len, key, v.Len())
	}
	if f.Kind == event.String && !utf8.Valid(v.Bytes()) && !utf8.ValidString(v.Text()) {
		set(&j.Raw, key, base64.StdEncoding.EncodeToString(v.Bytes()))
	}
}

func set[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}
