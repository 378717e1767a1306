package cli

import (
	"strings"

	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

// readCodeSites returns the places in a linked Go program's code that test each marker, by
// the marker's full name. It is what link wrote down; where the file is not at its path any
// more, or another one is, there is nothing to show.
func readCodeSites(f *tracer.File) map[string][]schema.Site {
	now, err := sdt.Open(f.Path)
	if err != nil || now.BuildID != f.BuildID {
		return nil
	}
	data, err := sdt.ReadSection(f.Path, schema.Section, schema.MaxSize)
	if err != nil {
		return nil
	}
	doc, err := schema.Decode(data)
	if err != nil {
		return nil
	}
	sites := make(map[string][]schema.Site, len(doc.Markers))
	for _, m := range doc.Markers {
		name := m.Provider + ":" + m.Name
		sites[name] = append(sites[name], m.Sites...)
	}
	return sites
}

// schemaFields returns the fields of a marker as list shows them.
func schemaFields(m *schema.Marker) string {
	if !m.Typed {
		return "of unknown types"
	}
	words := make([]string, len(m.Fields))
	for i, f := range m.Fields {
		words[i] = label(f.Name) + " " + label(f.Type)
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ", ")
}
