package cli

import (
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/tracer"
)

// functionOf returns the name of the function that a site of a file lies in, "" when it is not known. The
// site of a linked Go program is a stub.
func functionOf(f *tracer.File, address uint64) string {
	if f.Go != "" {
		return ""
	}
	return f.FunctionAt(address)
}

// codeText returns where code marks: "main.handle (main.go:12) at 0x4a0f20".
func codeText(c tracer.CodeSite) string {
	s := term.Label(c.Function)
	if c.Function == "" {
		s = "an unknown function"
	}
	if c.File != "" {
		s += fmt.Sprintf(" (%s:%d)", term.Label(c.File), c.Line)
	}
	s = fmt.Sprintf("%s at %#x", s, c.Address)
	if c.Optimized {
		s += ", optimized"
	}
	return s
}

// schemaFields returns the fields of a marker as list shows them.
func schemaFields(m *schema.Marker) string {
	if !m.Typed {
		return "of unknown types"
	}
	words := make([]string, len(m.Fields))
	for i, f := range m.Fields {
		words[i] = term.Label(f.Name) + " " + term.Label(f.Type)
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ", ")
}
