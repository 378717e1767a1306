package event_test

import (
	"testing"

	"github.com/waymark-trace/waymark/event"
)

func TestLookup(t *testing.T) {
	p := &event.Point{Fields: []event.Field{{Name: "path"}, {Name: "arg1"}}}
	for name, want := range map[string]int{"path": 0, "arg1": 1, "arg2": 1, "arg3": -1, "arg0": -1, "arg01": -1, "arg+2": -1, "arg": -1, "": -1} {
		if got := p.Lookup(name); got != want {
			t.Errorf("%q is field %d, want %d", name, got, want)
		}
	}
}
