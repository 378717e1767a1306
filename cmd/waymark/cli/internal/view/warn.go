package view

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

// MaxProblems is how many problems of one file are printed unless -v asks for all.
const MaxProblems = 5

// Files returns the files of the markers, each once, in their order.
func Files(markers []*tracer.Marker) []*tracer.File {
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

// warnSome prints the first of many warnings, and how many more there are of what.
func warnSome(e *term.Env, lines []string, what, hint string) {
	for _, line := range lines[:min(len(lines), MaxProblems)] {
		e.Warning("%s", line)
	}
	if more := len(lines) - MaxProblems; more > 0 {
		e.Warning("%s%s", term.Plural(more, "more "+what), hint)
	}
}

// WarnProblems prints what is wrong with the files of markers.
func WarnProblems(e *term.Env, markers []*tracer.Marker, all bool) {
	for _, f := range Files(markers) {
		shown := f.Problems
		if !all {
			shown = shown[:min(len(shown), MaxProblems)]
		}
		for _, p := range shown {
			e.Warning("%s: %v", f.Path, p)
		}
		if more := len(f.Problems) - len(shown); more > 0 {
			e.Warning("%s: %s; waymark list -v shows all", f.Path, term.Plural(more, "more problem"))
		}
	}
}

// WarnPlaces reports the simple markers that are not traced, or not everywhere, because no instruction stands for them. If
// the only marker has no place at all, attaching fails for that reason.
func WarnPlaces(e *term.Env, markers []*tracer.Marker) {
	var lines []string
	for _, m := range markers {
		err := m.NoPlace()
		if err == nil || len(markers) == 1 {
			err = m.PartlyPlaced()
		}
		if err != nil {
			lines = append(lines, term.ErrorText(err))
		}
	}
	warnSome(e, lines, "marker", " that lack a place; waymark list --simple -v shows all")
}

// WarnUnavailable reports the fields that never have a value.
func WarnUnavailable(e *term.Env, markers []*tracer.Marker) {
	var lines []string
	for _, m := range markers {
		for _, f := range m.Fields {
			if f.Unavailable != "" {
				lines = append(lines, fmt.Sprintf("%s: field %s has no value: %v", term.Label(m.FullName()), term.Label(f.Name), f.Unavailable))
			}
		}
	}
	warnSome(e, lines, "field", " without a value; waymark list -v shows all")
}

// WarnLost reports why all events of markers are lost, each reason once.
func WarnLost(e *term.Env, problems []error) {
	var lines []string
	for _, err := range problems {
		if text := term.ErrorText(err); !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	warnSome(e, lines, "reason", " for which markers lost all their events")
}

// jsonSkipped is an object of stat, trace and latency --json.
type jsonSkipped struct {
	Skipped string `json:"skipped"`
	Marker  string `json:"marker"`
	File    string `json:"file"`
	Address uint64 `json:"address"`
}

// WarnSkipped reports which sites are left out, and why: in one line if a reason holds for a whole file. With a json output
// it writes an object for each.
func WarnSkipped(env *term.Env, json *term.Output, skipped []*tracer.SiteError) error {
	said, shown := 0, 0
	for rest := skipped; len(rest) > 0 && said < MaxProblems; said++ {
		n := alike(rest)
		_, hint := explain.Error(rest[0])
		if shown += n; n == 1 {
			env.Warning("%v", rest[0])
		} else {
			env.Warning("%s: %s left out: %v", rest[0].Marker.File.Path, term.Plural(n, "site"), rest[0].Err)
		}
		if hint != "" && said == 0 && !errors.Is(rest[0], tracer.ErrRedZone) { // whose is for who has nothing else
			env.Hint("%s", hint)
		}
		rest = rest[n:]
	}
	if more := len(skipped) - shown; more > 0 {
		env.Warning("%s left out besides; --json has them all", term.Plural(more, "site"))
	}
	if json == nil {
		return nil
	}
	for _, e := range skipped {
		m := e.Marker
		if err := WriteJSON(json, &jsonSkipped{e.Err.Error(), m.FullName(), m.File.Path, uint64(m.Sites[e.Site].Address)}); err != nil {
			return err
		}
	}
	return nil
}

// alike returns how many sites at the beginning are of one file and left out for one reason.
func alike(skipped []*tracer.SiteError) int {
	first := fmt.Sprint(skipped[0].Err)
	for n, e := range skipped {
		if e.Marker.File != skipped[0].Marker.File || e.Err.Error() != first {
			return n
		}
	}
	return len(skipped)
}

// LeftOut returns the markers of which no site is attached.
func LeftOut(skipped []*tracer.SiteError) map[*tracer.Marker]bool {
	n, all := map[*tracer.Marker]int{}, map[*tracer.Marker]bool{}
	for _, e := range skipped {
		n[e.Marker]++
		all[e.Marker] = n[e.Marker] >= len(e.Marker.Sites)
	}
	return all
}

// CountSites returns the number of sites that markers have together.
func CountSites(markers []*tracer.Marker) int {
	n := 0
	for _, m := range markers {
		n += len(m.Sites)
	}
	return n
}
