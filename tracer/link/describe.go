package link

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/schema"
)

// describe makes the schema of the markers, and finds what is wrong with their declarations.
func (img *image) describe(markers []*markerAt) (*schema.Document, []string, error) {
	doc := &schema.Document{Version: schema.Version, Go: img.goVer, Goid: img.goidOffset()}
	var warnings []string
	var errs []error
	variables := img.variables(markers)
	for i, m := range markers {
		if m.provider == "" {
			if err := m.setProvider(variables[m.addr]); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		verbs, err := m.check()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		sm := schema.Marker{
			Provider: m.provider, Name: m.name, Format: m.format,
			Typed: m.args != nil || m.arity == 0, Fields: []event.Field{},
			Location: img.stubAddress(i), Counter: m.counter(),
		}
		switch {
		case len(m.sites) == 0 && !sm.Typed:
			warnings = append(warnings, fmt.Sprintf("marker %s:%s: %s", m.provider, m.name, img.unmarked(m)))
		case m.disputed:
			warnings = append(warnings, fmt.Sprintf("marker %s:%s: its sites disagree about the types of its arguments, which will not be shown", m.provider, m.name))
		case !sm.Typed:
			warnings = append(warnings, fmt.Sprintf("marker %s:%s: the types of its arguments could not be found%s, and they will not be shown", m.provider, m.name, img.unfollowed()))
		}
		kinds := make([]event.Kind, len(m.args))
		for j, a := range m.args {
			kinds[j] = a.kind
		}
		for j, offset := range event.Layout(kinds) {
			sm.Fields = append(sm.Fields, event.Field{
				Name: verbs[j].Name, Type: m.args[j].typeName, Kind: kinds[j], Verb: verbs[j].Text, Offset: offset,
			})
		}
		for _, s := range m.sites {
			sm.Sites = append(sm.Sites, schema.Site{Address: s.addr, Function: s.function, File: s.file, Line: s.line, Call: s.call})
		}
		doc.Markers = append(doc.Markers, sm)
	}
	return doc, append(warnings, img.callWarnings(markers)...), errors.Join(errs[:min(len(errs), maxErrors)]...)
}

// setProvider names the provider of a marker declared without one after its package: that
// of its variable's symbol, or, in a stripped file, that of the function that marks it.
func (m *markerAt) setProvider(symbol string) error {
	if symbol == "" && len(m.sites) > 0 {
		symbol = m.sites[0].function
	}
	m.provider = event.ProviderOf(symbol)
	if m.provider == "" {
		return fmt.Errorf("%w %q: it names no provider, and its package cannot be told because the file is stripped and nothing marks it; name it %q", ErrMarker, m.fullName, "provider:"+m.fullName)
	}
	return nil
}

// unmarked says that no site was found, and what that means for a marker with arguments.
func (img *image) unmarked(m *markerAt) string {
	text := "no code was found that calls Mark on its variable"
	if m.taken != nil {
		text += fmt.Sprintf(", only code that takes its address (%s:%d)", filepath.Base(m.taken.file), m.taken.line)
	}
	if img.hasCompilerFlag("-N") {
		return text + "; link does not follow all addresses through code that was built with -gcflags=-N, so its arguments may not be shown"
	}
	return text + "; link does not follow markers through pointers and interfaces, so arguments that are marked that way will not be shown: call Mark on the variable itself, as in defer func() { m.Mark(x) }()"
}

// unfollowed returns the reason why addresses were not followed through all of the code, if there is one.
func (img *image) unfollowed() string {
	if img.hasCompilerFlag("-N") {
		return ", because it was built with -gcflags=-N"
	}
	return ""
}

// variables returns the symbol of every marker that has one.
func (img *image) variables(markers []*markerAt) map[uint64]string {
	found := make(map[uint64]string, len(markers))
	for _, m := range markers {
		if m.provider == "" {
			found[m.addr] = ""
		}
	}
	if len(found) == 0 {
		return found
	}
	_ = img.elf.Symbols(elf.SHT_SYMTAB, func(s *elffile.Symbol) { // a stripped file has none
		if _, ok := found[s.Value]; ok && s.Type == elf.STT_OBJECT {
			found[s.Value] = string(s.Name(event.MaxFormat))
		}
	})
	return found
}

// goidOffset returns where in the runtime's g the goroutine's number lies: from the debugging
// information, or in a stripped file from what it was in the releases known here.
func (img *image) goidOffset() int {
	if off, ok := img.goidFromDWARF(); ok {
		return off
	}
	minor, ok := goMinor(img.goVer)
	if ok && minor >= 25 && minor <= 26 {
		return 152 // runtime/runtime2.go, type g; a test compares it with DWARF
	}
	return -1
}

func goMinor(version string) (int, bool) {
	_, rest, ok := strings.Cut(version, "go1.")
	if !ok {
		return 0, false
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(rest[:end])
	return n, err == nil
}

func (img *image) goidFromDWARF() (off int, ok bool) {
	defer func() { // debug/dwarf is not hardened
		if recover() != nil {
			off, ok = 0, false
		}
	}()
	debug, err := img.debugInfo()
	if err != nil {
		return 0, false
	}
	defer debug.Close()
	r := debug.Data.Reader()
	for {
		e, err := r.Next()
		if e == nil || err != nil {
			return 0, false
		}
		if e.Tag == dwarf.TagCompileUnit {
			// runtime.g lives in the unit of package runtime: skip the others whole.
			if name, _ := e.Val(dwarf.AttrName).(string); name != "runtime" {
				r.SkipChildren()
			}
			continue
		}
		if e.Tag != dwarf.TagStructType || e.Val(dwarf.AttrName) != "runtime.g" {
			if e.Children {
				r.SkipChildren()
			}
			continue
		}
		for {
			member, err := r.Next()
			if member == nil || err != nil || member.Tag == 0 {
				return 0, false
			}
			if member.Val(dwarf.AttrName) == "goid" {
				loc, ok := member.Val(dwarf.AttrDataMemberLoc).(int64)
				return int(loc), ok && loc > 0 && loc < 4096
			}
		}
	}
}
