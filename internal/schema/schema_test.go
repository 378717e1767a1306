package schema

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/diff"
)

func example() *Document {
	return &Document{Version: Version, Go: "go1.26.8", Goid: 152, BaseSize: 4711, Markers: Markers{
		{Provider: "http", Name: "start", Format: "path %s n %d", Typed: true, Location: 0x4000, Counter: 0x5000,
			Fields: Fields{{Name: "path", Type: "string", Kind: event.String, Verb: "%s", Size: 16}, {Name: "n", Type: "main.status", Kind: event.Int32, Verb: "%d", Offset: 16, Size: 4}},
			Sites:  Sites{{Address: 0x4100, Function: "main.main", File: "main.go", Line: 7}, {Address: 0x4200, Call: true}}},
		{Provider: "http", Name: "none", Fields: Fields{}, Typed: true, Location: 0x4010, Counter: 0x5060},
	}}
}

func TestRoundTrip(t *testing.T) {
	for _, d := range []*Document{example(), {Version: Version, Goid: -1, Markers: Markers{}}} {
		text, err := Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if differs := diff.Of(d, got); differs != "" {
			t.Error(differs)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	text, err := Encode(example())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ old, new, want string }{
		{`"version":2`, `"version":1`, "version 1, this waymark reads version 2: build the program and link it again"},
		{`"offset":16`, `"offset":9223372036854775800`, "outside any record"},
		{`"offset":16`, `"offset":-1`, "outside any record"},
		{`"kind":"int32"`, `"kind":"complex128"`, "unknown kind"},
		{`"kind":"int32",`, ``, "no kind"},
		{`"size":4`, `"size":8`, "has 8 bytes, its kind 4"},
		{`"size":4`, `"size":4,"elem":"int8"`, "has elements"},
		{`"size":4`, `"names":{"1":"one"}`, "has elements, names"},
		{`"size":4`, `"unavailable":"no"`, "or a reason"},
		{`"name":"start"`, `"name":""`, "lacks a name"},
		{`"address":16640`, `"address":0`, "no address"},
		{`"fields":[]`, `"fields":{}`, "not a list"},
		{`"fields":[]`, `"fields":[` + strings.Repeat(`{"name":"a","kind":"int","offset":0},`, 8) + `{"name":"a","kind":"int","offset":0}]`, "more than 8"},
	} {
		changed := strings.Replace(string(text), tt.old, tt.new, 1)
		if changed == string(text) {
			t.Fatalf("%q is not in %s", tt.old, text)
		}
		if _, err := Decode([]byte(changed)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s for %s: error %v, want %q", tt.new, tt.old, err, tt.want)
		}
	}
	for n := range text {
		if n < len(text)-1 { // the newline at its end has no meaning
			if _, err := Decode(text[:n]); err == nil {
				t.Errorf("cut to %d of %d bytes it is read", n, len(text))
			}
		}
	}
}

func manyNames() string {
	var b strings.Builder
	for n := range 100_000 {
		fmt.Fprintf(&b, `"%d":"",`, n)
	}
	return b.String() + `"-1":""`
}

// Short text must not become much memory.
func TestDecodeMemory(t *testing.T) {
	for _, element := range []string{`{}`, `{"provider":"a","name":"b","sites":[` + strings.Repeat("{},", 1000) + `{}]}`, `{"provider":"a","name":"b"}`,
		`{"provider":"a","name":"b","fields":[{"kind":"int","names":{` + manyNames() + `}}]}`} {
		text := `{"version":2,"goid":0,"base_size":0,"markers":[` + strings.Repeat(element+",", 4<<20/len(element)) + element + `]}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%.40s…: read", element)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(32*len(text)) {
			t.Errorf("%.40s…: %d bytes of text took %d bytes of memory", element, len(text), used)
		}
	}
}

func FuzzDecode(f *testing.F) {
	text, err := Encode(example())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":2,"markers":[{"provider":"a","name":"b","fields":null,"sites":null}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(again); err != nil {
			t.Errorf("its own output is refused: %v\n%s", err, again)
		}
	})
}
