package view

import (
	"reflect"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/tracer/client"
)

// hostile clears the screen, sets the title of the window, and writes from right to left.
const hostile = "\x1b[2J\x1b]0;owned\a\r\n\u202e\x9b\xff"

// fill sets every string of a value, and of one element of each slice in it.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	}
}

// An agent may be anybody's program: no string of its answer reaches a terminal as it is.
func TestHostilePoints(t *testing.T) {
	points := make([]client.Point, 1)
	fill(reflect.ValueOf(&points[0]).Elem())
	out, written := bufferOutput(t)
	if err := PrintPoints(out, points); err != nil {
		t.Fatal(err)
	}
	text := string(written())
	if i := strings.IndexFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\ufffd'
	}); i >= 0 {
		t.Errorf("a raw character at %d of\n%q", i, text)
	}
	if n := strings.Count(text, `\x1b[2J`); n < 5 {
		t.Errorf("%d of its strings are shown:\n%q", n, text)
	}
}
