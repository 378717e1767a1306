package tracer

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/event"
)

func named(names ...string) []*Marker {
	var all []*Marker
	for _, name := range names {
		provider, name, _ := strings.Cut(name, ":")
		all = append(all, &Marker{Point: event.Point{Provider: provider, Name: name}})
	}
	return all
}

func TestSelect(t *testing.T) {
	markers := named("http:request_start", "http:request_end", "cache:hit", "cache:miss", "main.go/x:y:z")
	for _, test := range []struct {
		patterns string
		want     string
	}{
		{"", "http:request_start http:request_end cache:hit cache:miss main.go/x:y:z"},
		{"*", "http:request_start http:request_end cache:hit cache:miss main.go/x:y:z"},
		{"http:*", "http:request_start http:request_end"},
		{"hit", "cache:hit"},
		{"*:request_*", "http:request_start http:request_end"},
		{"c?che:[hm]i[ts]*", "cache:hit cache:miss"},
		{"miss hit cache:*", "cache:hit cache:miss"},
		{"*.go*:*", "main.go/x:y:z"},
		{"main.go/x:y:z", "main.go/x:y:z"},
	} {
		got, err := Select(markers, strings.Fields(test.patterns))
		if err != nil {
			t.Errorf("%q: %v", test.patterns, err)
			continue
		}
		var names []string
		for _, m := range got {
			names = append(names, m.FullName())
		}
		if diff := cmp.Diff(test.want, strings.Join(names, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.patterns, diff)
		}
	}
	if _, err := Select(markers, []string{"[a"}); !errors.Is(err, path.ErrBadPattern) {
		t.Errorf("a malformed pattern: %v", err)
	}
}

func TestSelectNothing(t *testing.T) {
	_, err := Select(named("http:request_start", "http:request_end", "cache:hit"), []string{"hit", "request_stat"})
	var none *NoMatchError
	if !errors.As(err, &none) {
		t.Fatalf("got %v, want a NoMatchError", err)
	}
	want := &NoMatchError{Pattern: "request_stat", Total: 3,
		Available: []string{"http:request_start", "http:request_end", "cache:hit"}}
	if diff := cmp.Diff(want, none); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := none.Error(), `no marker matches "request_stat": there is http:request_start, http:request_end, cache:hit`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	var many []string
	for i := range 30 {
		many = append(many, "p:"+strings.Repeat("x", 65536)+string(rune('a'+i)))
	}
	_, err = Select(named(many...), []string{"y*"})
	if !errors.As(err, &none) || len(none.Available) != maxAvailable || none.Total != 30 {
		t.Errorf("of many markers: %d named, total %d", len(none.Available), none.Total)
	}
	if _, err = Select(nil, []string{"x"}); !errors.As(err, &none) || !strings.Contains(err.Error(), "no markers") {
		t.Errorf("of no markers: %v", err)
	}
}
