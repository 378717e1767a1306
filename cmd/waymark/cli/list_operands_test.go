package cli

import (
	"debug/elf"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

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
	(&listTable{verbose: true}).details(&b, m)
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
