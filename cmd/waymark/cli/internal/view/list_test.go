package view

import (
	"debug/elf"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/sdt"
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
		if err := (&ListTable{Out: out, Width: width}).Print([]Group{{Markers: []*tracer.Marker{m}}}); err != nil {
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

// An operand that one of two sites has where it cannot be read costs that site only, and list -v
// says why there; one that no site can read it says once.
func TestListUnavailable(t *testing.T) {
	site := func(at sdt.Addr, args string) sdt.Site {
		return sdt.Site{Note: sdt.Note{Args: args}, Address: at, Operands: sdt.ParseOperands(elf.EM_X86_64, args)}
	}
	m := &tracer.Marker{Point: event.Point{Provider: "p", Name: "n"}, File: &tracer.File{Path: "f"},
		Sites: []sdt.Site{site(16, "4@%eax 8f@%xmm0"), site(32, "4@%fs:8 8f@%xmm0")}}
	never := m.Sites[0].Operands[1].Err
	m.Fields = []event.Field{{Name: "arg1", Type: "uint32", Kind: event.Uint32}, {Name: "arg2", Type: "float64", Kind: event.Float64, Unavailable: event.ReasonOf(never)}}
	m.Args = []tracer.Argument{{Operand: 1}, {Operand: 2}}
	var b strings.Builder
	(&ListTable{Verbose: true}).details(&b, m)
	const xmm = `operand "8f@%xmm0": %xmm0 is a floating-point or vector register, which a probe cannot see`
	const fs = `operand "4@%fs:8": memory relative to a segment register`
	want := "    arg2 has no value: " + xmm + "\n    site 0x10  operands 4@%eax 8f@%xmm0\n" +
		"    site 0x20  operands 4@%fs:8 8f@%xmm0\n      arg1 has no value here: " + fs + "\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	sites := markerJSON(m).Sites
	if got := sites[0].Unavailable; len(got) != 1 || got["arg2"] != xmm {
		t.Errorf("site 1: %q", got)
	}
	if got := sites[1].Unavailable; len(got) != 2 || got["arg1"] != fs || got["arg2"] != xmm {
		t.Errorf("site 2: %q", got)
	}
	m.Typed = true
	if got := siteReasons(m, &m.Sites[1]); got != nil {
		t.Errorf("of a typed marker: %v", got)
	}
}
