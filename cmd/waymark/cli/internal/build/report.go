package build

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// simpleText says how many simple markers have records, "" for none at all.
func simpleText(all []link.ReportSimple) string {
	recorded, placeless, dropped := 0, 0, 0
	for _, m := range all {
		switch {
		case m.Dropped:
			dropped++
			continue
		case len(m.Place.Addresses) == 0:
			placeless++
		}
		recorded++
	}
	if len(all) == 0 {
		return ""
	}
	text := term.Plural(recorded, "simple marker")
	if placeless > 0 {
		text += fmt.Sprintf(", %d without a place", placeless)
	}
	if dropped > 0 {
		text += fmt.Sprintf(", %d more not in the program", dropped)
	}
	return text
}

// printSimple says what became of every simple marker.
func printSimple(w io.Writer, all []link.ReportSimple) error {
	placeless := false
	for _, m := range all {
		p := &m.Place
		line := fmt.Sprintf("simple marker %s", term.Label(m.Name))
		if f := p.Function(); f != "" {
			line += " in " + term.Label(f)
		}
		line += fmt.Sprintf(", %s:%d: ", term.Label(m.File), m.Line)
		switch {
		case m.Dropped:
			line += "not in the program: " + p.Reason
		case len(p.Addresses) == 0:
			line, placeless = line+"no place: "+term.Printable(p.Reason), true
		case p.Line != m.Line:
			line += fmt.Sprintf("%s on line %d", term.Plural(len(p.Addresses), "place"), p.Line)
		default:
			line += term.Plural(len(p.Addresses), "place")
		}
		if err := term.Linef(w, "%s", line); err != nil {
			return err
		}
	}
	if placeless {
		return term.Linef(w, "simple.Anchor0 to Anchor8 have a place everywhere, and cost a nop")
	}
	return nil
}

// Link links a file with a collector that comes five times as often: the file is in memory twice, beside which
// a large program's debugging information leaves much that lives for a moment.
func Link(path, out string, o link.Options) (*link.Report, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	return link.File(path, out, o)
}

// Print says what link did to the file that is called path.
func Print(e *term.Env, w io.Writer, r *link.Report, path string, verbose bool) error {
	for _, text := range r.Warnings {
		e.Warning("%s: %s", path, text)
	}
	places := 0
	t := term.Table{Right: []bool{false, false, true}}
	t.Add("MARKER", "FIELDS", "PLACES")
	for _, m := range r.Markers {
		places += len(m.Sites)
	}
	verb := "linked"
	if r.Unchanged {
		verb = "already linked"
	}
	what := fmt.Sprintf("%s, marked at %s%s", term.Plural(len(r.Markers), "marker"), term.Plural(places, "place"), optimizedText(r.Sites))
	if simple := simpleText(r.Simple); simple != "" && len(r.Markers) == 0 {
		what = simple
	} else if simple != "" {
		what += "; " + simple
	}
	err := term.Linef(w, "%s %s: %s", verb, term.Label(filepath.Base(path)), what)
	if err != nil || !verbose {
		return err
	}
	for _, m := range r.Markers {
		t.Add(term.Label(m.Name), view.SchemaFields(&m.Marker), fmt.Sprint(len(m.Sites)))
	}
	for i, line := range t.Lines() {
		if len(r.Markers) == 0 {
			break
		}
		if i == 0 {
			line = term.StyleFor(w).Dim(line)
		}
		if err := term.Linef(w, "%s", line); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		for _, s := range r.Markers[i-1].Sites {
			if err := term.Linef(w, "    %s", view.CodeText(tracer.CodeSite(s))); err != nil {
				return err
			}
		}
	}
	if err := printSites(w, r.Sites); err != nil {
		return err
	}
	return printSimple(w, r.Simple)
}

// optimizedText says how many of all sites, those of tracepoints and keys too, were rewritten.
func optimizedText(sites []link.SiteReport) string {
	if sites == nil {
		return ""
	}
	n := 0
	for _, s := range sites {
		if s.Optimized {
			n++
		}
	}
	return fmt.Sprintf("; %d of %s optimized", n, term.Plural(len(sites), "place"))
}

// printSites says what became of every site.
func printSites(w io.Writer, sites []link.SiteReport) error {
	for _, s := range sites {
		what := "optimized"
		if !s.Optimized {
			what = "generic: " + s.Why
		}
		name := s.Name
		if s.Kind != "" {
			name = s.Kind + " " + term.Label(s.Name)
		}
		if err := term.Linef(w, "%s in %s, %s:%d: %s", name, term.Label(s.Function), s.File, s.Line, what); err != nil {
			return err
		}
	}
	return nil
}
