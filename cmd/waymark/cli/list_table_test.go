package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// Fields are cut to the terminal's width, and not at all where there is none.
func TestListWidth(t *testing.T) {
	m := &tracer.Marker{Point: event.Point{Provider: "shop", Name: "order"}, File: &tracer.File{Path: "f"}}
	for _, name := range []string{"customer", "country", "currency", "amount", "discount", "channel"} {
		m.Fields = append(m.Fields, event.Field{Name: name, Type: "string", Kind: event.String})
	}
	const all = "customer string, country string, currency string, amount string, discount string, channel string"
	for _, width := range []int{0, 200, 100, 80, 60} {
		out, written := bufferOutput(t)
		if err := (&listTable{out: out, width: width}).print([]group{{markers: []*tracer.Marker{m}}}); err != nil {
			t.Fatal(err)
		}
		got := string(written())
		if whole := width == 0 || width == 200; whole != strings.Contains(got, all) {
			t.Errorf("%d characters wide:\n%s", width, got)
		}
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); width > 0 && n > width {
				t.Errorf("%d characters on a terminal of %d: %s", n, width, line)
			}
		}
	}
}
