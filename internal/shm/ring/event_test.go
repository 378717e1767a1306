package ring

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/event"
)

// What a file says of fields is bounded; one has a kind and its bytes, or a reason why it has neither.
func TestEventChecked(t *testing.T) {
	for _, tt := range []struct {
		f    event.Field
		want string
	}{
		{event.Field{Name: "n", Kind: event.Int32, Size: 4, Offset: 4}, ""},
		{event.Field{Name: "n", Unavailable: "a struct is not recorded", Offset: 8}, ""},
		{event.Field{Name: "n"}, "has no kind"},
		{event.Field{Name: "n", Unavailable: event.Reason(strings.Repeat("x", 81))}, "a reason of 81 bytes"},
		{event.Field{Name: "n", Kind: event.Int32, Size: 4, Unavailable: "why not"}, "has no kind"},
		{event.Field{Name: "n", Unavailable: "a struct is not recorded", Size: 4}, "has 4 bytes at 0 of 8"},
		{event.Field{Name: "n", Unavailable: "a struct is not recorded", Offset: 9}, "has 0 bytes at 9 of 8"},
		{event.Field{Name: "n", Unavailable: "a struct is not recorded", Offset: -1}, "has 0 bytes at -1 of 8"},
		{event.Field{Name: "n", Kind: event.Int32, Size: 4, Offset: 5}, "has 4 bytes at 5 of 8"},
		{event.Field{Name: "n", Kind: event.Int32, Size: 8}, "has 8 bytes at 0 of 8"},
		{event.Field{Name: "n", Kind: event.Bytes, Size: 24, Elem: event.Int32}, "has 24 bytes at 0 of 8"},
		{event.Field{Name: "n", Kind: event.Int32, Size: 4, Elem: event.Int8}, "elements or names"},
		{event.Field{Name: "n", Kind: event.Int32, Size: 4, Names: map[int64]string{1: "one"}}, "elements or names"},
	} {
		e := &Event{Point: event.Point{Provider: "a", Name: "b", Fields: []event.Field{tt.f}}, Size: 8}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeEvent(text, 3, 8)
		switch {
		case tt.want == "" && (err != nil || len(got.Fields) != 1 || !reflect.DeepEqual(got.Fields[0], tt.f)):
			t.Errorf("%s: %+v, %v", text, got, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v, want one with %q", text, err, tt.want)
		}
	}
}

// Why events are lost is kept as far as there is room for it, whatever the text is.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"its arguments are not known", "its arguments are not known"},
		{strings.Repeat("ü", 600), strings.Repeat("ü", 512)},
		{"x" + strings.Repeat("ü", 600), "x" + strings.Repeat("ü", 511)},
		{"\xff" + strings.Repeat("\xfe", 2000), ""},
	} {
		text, err := json.Marshal(Refused("a:b", "", errors.New(tt.text)))
		if err != nil {
			t.Fatal(err)
		}
		if e, err := decodeEvent(text, 3, 8); err != nil || e.Problem != tt.want {
			t.Errorf("%.20q: %+v, %v", tt.text, e, err)
		}
	}
	if _, err := decodeEvent([]byte(`{"name":"a:b","problem":"`+strings.Repeat("x", 1025)+`"}`), 3, 8); err == nil || !strings.Contains(err.Error(), "problem of 1025 bytes") {
		t.Errorf("a longer one: %v", err)
	}
}
