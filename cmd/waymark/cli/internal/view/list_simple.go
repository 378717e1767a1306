package view

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

// ListSimple prints the table, or JSON.
func ListSimple(out *term.Output, markers []*tracer.Marker, json, verbose bool) error {
	if json {
		for _, m := range markers {
			if err := WriteJSON(out, simpleJSON(m)); err != nil {
				return err
			}
		}
		return nil
	}
	t := term.Table{Right: make([]bool, 4)}
	t.Add("MODULE", "FUNCTION", "NAME", "DESCRIPTION")
	for _, m := range markers {
		function := "?"
		if m.Simple.Function != "" {
			function = term.Label(m.Simple.Function)
		}
		t.Add(term.Label(module(m)), function, term.Label(m.Simple.Name), term.Printable(m.Simple.Description))
	}
	style := out.Style
	for i, line := range t.Lines() {
		if i == 0 {
			line = style.Dim(line)
		}
		if err := term.Linef(out, "%s", line); err != nil {
			return err
		}
		if verbose && i > 0 {
			printSimple(out, markers[i-1])
		}
	}
	return nil
}

func module(m *tracer.Marker) string { return filepath.Base(m.File.Path) }

// printSimple prints what -v adds to a marker: its line, its places, and the variables in scope there. The next write
// returns an error of these.
func printSimple(out *term.Output, m *tracer.Marker) {
	s := m.Simple
	term.Linef(out, "    %s:%d", term.Label(s.File), s.Line)
	if err := m.NoPlace(); err != nil && len(s.Refused) == 0 {
		term.Linef(out, "    %s", term.Printable(strings.TrimPrefix(err.Error(), m.FullName()+" ")))
	}
	if by := compilers(s.Places); len(by) > 0 {
		term.Linef(out, "    values by %s", term.Printable(strings.Join(by, ", ")))
	}
	for i := range s.Places {
		p := &s.Places[i]
		term.Linef(out, "    place %#x%s, %s", p.Address, codeOfPlace(p), cost(p))
		printVariables(out, p.Variables)
	}
	for i := range s.Refused {
		p := &s.Refused[i]
		term.Linef(out, "    not traced at %#x%s: %s", p.Address, codeOfPlace(p), term.Printable(p.Err.Error()))
	}
}

// compilers returns the compilers that described the values at probe locations.
func compilers(places []tracer.SimplePlace) (names []string) {
	for i := range places {
		if name := places[i].Compiler; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// printVariables prints the marker's variables, and after them the others.
func printVariables(out *term.Output, all []tracer.SimpleVariable) {
	t := term.Table{Right: make([]bool, 3)}
	for _, v := range all {
		name := "$" + term.Printable(v.Name)
		if !v.Marked {
			name = " " + term.Printable(v.Name)
		}
		typ := v.Type
		if typ == "" {
			typ = "?"
		}
		t.Add(name, shortened(term.Printable(typ)), term.Printable(v.Location))
	}
	for _, line := range t.Lines() {
		term.Linef(out, "      %s", line)
	}
}

// maxTypeText bounds the column of types, in cells: those of C++'s templates have hundreds of letters.
const maxTypeText = 60

// shortened returns a type that fits into its column; --json has all of it.
func shortened(s string) string { return term.Clip(s, maxTypeText) }

// codeOfPlace says in which function a place is.
func codeOfPlace(p *tracer.SimplePlace) string {
	s := ""
	if p.Function != "" {
		s = " in " + term.Label(p.Function)
	}
	for _, f := range p.Inlined {
		s += ", inlined " + term.Label(f)
	}
	return s
}

// cost says what a hit costs, as far as it depends on the instruction.
func cost(p *tracer.SimplePlace) string {
	if p.Emulated {
		return "emulated"
	}
	return "single-stepped"
}

// jsonSimple is an object of list --json: a simple marker.
type jsonSimple struct {
	Simple      string            `json:"simple"`
	Module      string            `json:"module"`
	Function    string            `json:"function,omitempty"`
	File        string            `json:"file"`
	Line        int               `json:"line"`
	Format      string            `json:"format"`
	Description string            `json:"description"`
	Variables   []string          `json:"variables"`
	Places      []jsonSimplePlace `json:"places"`
	Refused     []jsonSimplePlace `json:"refused,omitempty"`
	NoPlace     string            `json:"no_place,omitempty"`
	Path        string            `json:"path"`
}

type jsonSimplePlace struct {
	Address     uint64         `json:"address"`
	Function    string         `json:"function,omitempty"`
	Inlined     []string       `json:"inlined,omitempty"`
	Emulated    bool           `json:"emulated"`
	Compiler    string         `json:"compiler,omitempty"`
	Variables   []jsonVariable `json:"variables,omitempty"`
	Unavailable string         `json:"unavailable,omitempty"`
}

type jsonVariable struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"`
	Location    string `json:"location"`
	Marked      bool   `json:"marked"`
	Unavailable string `json:"unavailable,omitempty"`
}

func simpleJSON(m *tracer.Marker) *jsonSimple {
	s := m.Simple
	j := &jsonSimple{
		Simple: s.Name, Module: module(m), Function: s.Function, File: s.File, Line: s.Line, Format: m.Format,
		Description: s.Description, Variables: append([]string{}, s.Variables...), Places: placesJSON(s.Places),
		Refused: placesJSON(s.Refused), Path: m.File.Path,
	}
	if err := m.NoPlace(); err != nil {
		j.NoPlace = err.Error()
	}
	return j
}

func placesJSON(all []tracer.SimplePlace) []jsonSimplePlace {
	out := []jsonSimplePlace{}
	for _, p := range all {
		j := jsonSimplePlace{Address: p.Address, Function: p.Function, Inlined: p.Inlined, Emulated: p.Emulated, Compiler: p.Compiler, Unavailable: text(p.Err)}
		for _, v := range p.Variables {
			j.Variables = append(j.Variables, jsonVariable{v.Name, v.Type, v.Location, v.Marked, text(v.Err)})
		}
		out = append(out, j)
	}
	return out
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
