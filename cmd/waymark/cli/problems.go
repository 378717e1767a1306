package cli

import (
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

// maxProblems is how many problems of one file are printed unless -v asks for all.
const maxProblems = 5

// files returns the files of the markers, each once, in their order.
func files(markers []*tracer.Marker) []*tracer.File {
	var out []*tracer.File
	seen := map[*tracer.File]bool{}
	for _, m := range markers {
		if !seen[m.File] {
			seen[m.File] = true
			out = append(out, m.File)
		}
	}
	return out
}

// warnProblems prints what was wrong with the files of the markers.
func warnProblems(e *term.Env, markers []*tracer.Marker, all bool) {
	for _, f := range files(markers) {
		shown := f.Problems
		if !all {
			shown = shown[:min(len(shown), maxProblems)]
		}
		for _, p := range shown {
			e.Warning("%s: %v", f.Path, p)
		}
		if more := len(f.Problems) - len(shown); more > 0 {
			e.Warning("%s: %s; waymark list -v shows all", f.Path, term.Plural(more, "more problem"))
		}
	}
}

// warnPlaces says which simple markers are not traced, or not everywhere, because no instruction stands for them. Of
// a single one without any place tracing itself says so.
func warnPlaces(e *term.Env, markers []*tracer.Marker) {
	n := 0
	for _, m := range markers {
		err := m.NoPlace()
		if err == nil || len(markers) == 1 {
			err = m.PartlyPlaced()
		}
		if err == nil {
			continue
		}
		if n++; n <= maxProblems {
			e.Warning("%s", term.Printable(err.Error()))
		}
	}
	if n > maxProblems {
		e.Warning("%s that lack a place; waymark list --simple -v shows all", term.Plural(n-maxProblems, "more marker"))
	}
}

// warnUnavailable says which fields never have a value.
func warnUnavailable(e *term.Env, markers []*tracer.Marker) {
	n := 0
	for _, m := range markers {
		for _, f := range m.Fields {
			if f.Unavailable == "" {
				continue
			}
			if n++; n <= maxProblems {
				e.Warning("%s: field %s has no value: %v", term.Label(m.FullName()), term.Label(f.Name), f.Unavailable)
			}
		}
	}
	if n > maxProblems {
		e.Warning("%s without a value; waymark list -v shows all", term.Plural(n-maxProblems, "more field"))
	}
}

// warnLost says why all events of markers are lost, each reason once.
func warnLost(e *term.Env, problems []error) {
	said := map[string]bool{}
	for _, err := range problems {
		if text := err.Error(); !said[text] {
			if said[text] = true; len(said) <= maxProblems {
				e.Warning("%s", text)
			}
		}
	}
	if n := len(said) - maxProblems; n > 0 {
		e.Warning("%s for which markers lost all their events", term.Plural(n, "more reason"))
	}
}
