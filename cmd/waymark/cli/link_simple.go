package cli

import (
	"fmt"
	"io"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/internal/link"
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
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	if placeless {
		_, err := fmt.Fprintln(w, "simple.Anchor0 to Anchor8 have a place everywhere, and cost a nop")
		return err
	}
	return nil
}
