package cli

import (
	"cmp"
	"debug/elf"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

// code tells where in the code of a file its markers are.
type code struct {
	marked    map[string][]schema.Site // of a linked Go program, by the marker's full name
	functions []elf.Symbol             // of others, by address
}

// codeOf reads what the file says about its code. Where the file is not at its path any more,
// or another one is, that is nothing.
func codeOf(f *tracer.File) *code {
	now, err := sdt.Open(f.Path)
	if err != nil || now.BuildID != f.BuildID {
		return &code{}
	}
	if f.Go != "" {
		return &code{marked: markedIn(f.Path)}
	}
	return &code{functions: functionsOf(f.Path)}
}

// markedIn returns what link wrote down: the places that test each marker. The marker's own
// site is a stub that all of them call.
func markedIn(path string) map[string][]schema.Site {
	data, err := sdt.ReadSection(path, schema.Section, schema.MaxSize)
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

// functionsOf returns the functions in the symbol table, none when the file is stripped.
func functionsOf(path string) (functions []elf.Symbol) {
	defer func() { // debug/elf is not hardened
		if recover() != nil {
			functions = nil
		}
	}()
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil
	}
	functions = slices.DeleteFunc(symbols, func(s elf.Symbol) bool {
		return elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF
	})
	slices.SortFunc(functions, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return functions
}

// function returns the name of the function at an address, "" when it is not known.
func (c *code) function(at uint64) string {
	i, found := slices.BinarySearchFunc(c.functions, at, func(s elf.Symbol, at uint64) int { return cmp.Compare(s.Value, at) })
	if !found {
		i--
	}
	if i < 0 || at-c.functions[i].Value >= max(c.functions[i].Size, 1) {
		return ""
	}
	return c.functions[i].Name
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
