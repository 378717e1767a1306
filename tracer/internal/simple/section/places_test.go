package section

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var document = Document{Version: 1, BaseSize: 4096, Foreign: 12, Markers: Markers{
	{Record{"a:b", "/src/a.go", 12, "n %d", "n"}, Place{[]string{"main.f"}, Next, "/src/a.go", 13, []uint64{0x1000, 0x1008}, ""}},
	{Record{"a:c", "/src/a.go", 20, "", ""}, Place{[]string{"main.g", "main.g.func1"}, Nowhere, "", 0, nil, "nothing follows it"}},
}}

func TestPlaces(t *testing.T) {
	data, err := EncodePlaces(&document)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte("\n")); n != 4 {
		t.Errorf("%d lines, want one a marker\n%s", n, data)
	}
	got, err := DecodePlaces(data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(&document, got); d != "" {
		t.Errorf("(-written +read)\n%s", d)
	}
	empty, err := EncodePlaces(&Document{BaseSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := DecodePlaces(empty); err != nil || len(d.Markers) != 0 {
		t.Errorf("of none: %v, %v", d, err)
	}
}

// A place that contradicts itself is neither written nor read.
func TestPlacesRefuse(t *testing.T) {
	good := document.Markers[0]
	for name, change := range map[string]func(m *Marker){
		"no name":             func(m *Marker) { m.Name = "" },
		"no line":             func(m *Marker) { m.Line = 0 },
		"unknown rule":        func(m *Marker) { m.Place.Rule = "guess" },
		"no address":          func(m *Marker) { m.Place.Addresses = nil },
		"addresses and none":  func(m *Marker) { m.Place.Rule = Nowhere },
		"reason and place":    func(m *Marker) { m.Place.Reason = "none" },
		"address zero":        func(m *Marker) { m.Place.Addresses = []uint64{0} },
		"address twice":       func(m *Marker) { m.Place.Addresses = []uint64{4, 4} },
		"addresses backwards": func(m *Marker) { m.Place.Addresses = []uint64{8, 4} },
		"long path":           func(m *Marker) { m.Place.File = strings.Repeat("x", maxPath+1) },
	} {
		m := good
		change(&m)
		if _, err := EncodePlaces(&Document{Markers: Markers{m}}); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	text, err := EncodePlaces(&document)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]string{
		{`"version":1`, `"version":2`}, {`"base_size":4096`, `"base_size":-1`}, {`"foreign":12`, `"foreign":-1`},
		{`"rule":"next"`, `"rule":"x"`}, {`[4096,4104]`, `[4104,4096]`}, {`[4096,4104]`, `[-1]`}, {`"line":12`, `"line":0`}, {"\n]}", ""},
		{`"markers":[`, `"markers":[{},`}, {`"markers":[`, `"markers":{},"x":[`},
	} {
		bad := strings.Replace(string(text), r[0], r[1], 1)
		if bad == string(text) {
			t.Fatalf("%s is not in\n%s", r[0], text)
		}
		if d, err := DecodePlaces([]byte(bad)); err == nil {
			t.Errorf("%s for %s: read %v", r[1], r[0], d)
		}
	}
}

// FuzzPlaces reads hostile sections: what was read can be written, and is the same.
func FuzzPlaces(f *testing.F) {
	data, err := EncodePlaces(&document)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1,"markers":[{},{"name":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := DecodePlaces(data)
		if err != nil {
			return
		}
		out, err := EncodePlaces(d)
		if err != nil {
			t.Fatalf("writing what was read: %v", err)
		}
		again, err := DecodePlaces(out)
		if err != nil {
			t.Fatalf("reading what was written: %v", err)
		}
		if second, err := EncodePlaces(again); err != nil || !bytes.Equal(out, second) {
			t.Errorf("%v\nfirst  %s\nsecond %s", err, out, second)
		}
	})
}
