package cli

import (
	"fmt"
	"io"

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
	text := plural(recorded, "simple marker")
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
		line := fmt.Sprintf("simple marker %s", label(m.Name))
		if f := p.Function(); f != "" {
			line += " in " + label(f)
		}
		line += fmt.Sprintf(", %s:%d: ", label(m.File), m.Line)
		switch {
		case m.Dropped:
			line += "not in the program: " + p.Reason
		case len(p.Addresses) == 0:
			line, placeless = line+"no place: "+printable(p.Reason), true
		case p.Line != m.Line:
			line += fmt.Sprintf("%s on line %d", plural(len(p.Addresses), "place"), p.Line)
		default:
			line += plural(len(p.Addresses), "place")
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
