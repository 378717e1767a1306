package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/client"
	"github.com/waymark-trace/waymark/tracer/link"
)

// Group is one or several processes with the very same markers, or a file.
type Group struct {
	Processes []tracer.Process
	Markers   []*tracer.Marker
}

// ListTable prints groups of markers: a heading for the processes, one for each file, and
// a table. The markers of a file are printed once, however many groups have it.
type ListTable struct {
	Out     *term.Output
	Verbose bool
	Width   int // of the terminal, 0 where lines may be as long as they like
	PID     int // the process whose counters are shown, 0 for none
	shown   map[*tracer.File]bool
}

// Print prints the groups.
func (l *ListTable) Print(groups []Group) error {
	l.shown = map[*tracer.File]bool{}
	for i, g := range groups {
		var b strings.Builder
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(g.Processes) > 0 {
			term.Linef(&b, "%s", l.Out.Style.Bold(l.processes(g.Processes)))
		}
		all := Files(g.Markers)
		for _, f := range all {
			if len(g.Processes) > 0 || len(all) > 1 || l.Verbose {
				term.Linef(&b, "%s", l.heading(f))
			}
			l.file(&b, f, g.Markers)
		}
		if _, err := l.Out.Write([]byte(b.String())); err != nil {
			return err
		}
	}
	return nil
}

// maxProcesses is how many processes a heading names unless -v asks for all.
const maxProcesses = 6

// processes names the processes of a group: "1234 server, 1240 server".
func (l *ListTable) processes(all []tracer.Process) string {
	named := all
	if !l.Verbose {
		named = all[:min(len(all), maxProcesses)]
	}
	words := make([]string, len(named))
	for i, p := range named {
		words[i] = fmt.Sprintf("%d %s", p.PID, term.Label(p.Comm))
		if l.Verbose && p.OwnPID != 0 {
			words[i] += fmt.Sprintf(" (%d in its PID namespace)", p.OwnPID)
		}
	}
	s := strings.Join(words, ", ")
	if more := len(all) - len(named); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

func (l *ListTable) heading(f *tracer.File) string {
	s := term.Label(f.Path)
	if l.Verbose {
		if f.Go != "" {
			s += "  " + term.Label(f.Go)
		}
		if f.BuildID != "" {
			s += "  build id " + term.Label(f.BuildID)
		}
		if f.Optimized > 0 {
			s += "  " + term.Plural(f.Optimized, "optimized site")
		}
	}
	return s
}

// file prints the markers of one file.
func (l *ListTable) file(b *strings.Builder, f *tracer.File, markers []*tracer.Marker) {
	var own []*tracer.Marker
	for _, m := range markers {
		if m.File == f {
			own = append(own, m)
		}
	}
	if l.shown[f] {
		term.Linef(b, "  %s, as above", term.Plural(len(own), "marker"))
		return
	}
	l.shown[f] = true
	t := term.Table{Right: []bool{false, false, true, false}}
	t.Add("MARKER", "FIELDS", "SITES", "COUNTER")
	for _, m := range own {
		t.Add(term.Label(m.FullName()), l.fields(m), fmt.Sprint(len(m.Sites)), l.counter(m))
	}
	l.fit(&t)
	for i, line := range t.Lines() {
		if i == 0 {
			term.Linef(b, "%s", l.Out.Style.Dim(line))
			continue
		}
		term.Linef(b, "%s", line)
		if l.Verbose {
			l.details(b, own[i-1])
		}
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// counter says whether a reference counter guards a marker, and of -p PID what it is now.
func (l *ListTable) counter(m *tracer.Marker) string {
	if !m.Counted {
		return "no"
	}
	if l.PID != 0 {
		if values, err := m.Counters(l.PID); err == nil {
			return fmt.Sprintf("yes, %d", slices.Max(values))
		}
	}
	return "yes"
}

// leastFields is what is left of the column of fields, in characters, on a narrow terminal.
const leastFields = 20

// fit clips the column of fields so that lines are as wide as the terminal.
func (l *ListTable) fit(t *term.Table) {
	if l.Width == 0 || l.Verbose {
		return
	}
	w := t.Widths()
	fields := max(leastFields, l.Width-w[0]-w[2]-w[3]-6)
	for _, row := range t.Rows {
		row[1] = term.Clip(row[1], fields)
	}
}

func (l *ListTable) fields(m *tracer.Marker) string {
	words := make([]string, len(m.Fields))
	for i, f := range m.Fields {
		words[i] = term.Label(f.Name) + " " + term.Label(f.Type)
		if f.Unavailable != "" {
			words[i] += "?"
		}
	}
	s := strings.Join(words, ", ")
	if s == "" {
		return "-"
	}
	return s
}

// details prints what -v adds for a marker.
func (l *ListTable) details(b *strings.Builder, m *tracer.Marker) {
	if m.Format != "" {
		term.Linef(b, "    format %q", m.Format)
	}
	for _, f := range m.Fields {
		if f.Unavailable != "" {
			term.Linef(b, "    %s has no value: %s", term.Label(f.Name), term.Printable(string(f.Unavailable)))
		}
	}
	if m.Unnamed != nil {
		term.Linef(b, "    fields have no names: %s", term.Printable(m.Unnamed.Error()))
	}
	for _, s := range m.Sites {
		site := fmt.Sprintf("    site %#x", uint64(s.Address))
		if name := functionOf(m.File, uint64(s.Address)); name != "" {
			site += " in " + term.Label(name)
		}
		if s.Semaphore != 0 {
			site += fmt.Sprintf("  counter %#x", uint64(s.Semaphore))
		}
		if s.Args != "" {
			site += "  operands " + term.Label(s.Args)
		}
		term.Linef(b, "%s", site)
		for _, r := range siteReasons(m, &s) {
			if string(r.field.Unavailable) != r.err.Error() {
				term.Linef(b, "      %s has no value here: %s", term.Label(r.field.Name), term.Printable(r.err.Error()))
			}
		}
	}
	for _, s := range m.Code() {
		term.Linef(b, "    marked in %s", CodeText(s))
	}
}

// functionOf returns the name of the function that a site of a file lies in, "" when it is not known. The
// site of a linked Go program is a stub.
func functionOf(f *tracer.File, address uint64) string {
	if f.Go != "" {
		return ""
	}
	return f.FunctionAt(address)
}

// CodeText returns where code marks: "main.handle (main.go:12) at 0x4a0f20".
func CodeText(c tracer.CodeSite) string {
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

// SchemaFields returns the fields of a marker as list shows them.
func SchemaFields(m *link.Marker) string {
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

// jsonPoint is an object of list --engine agent --json: what an agent tells of a point.
type jsonPoint struct {
	PID     int            `json:"pid"`
	Kind    string         `json:"kind"`
	Point   string         `json:"point"`
	Format  string         `json:"format,omitempty"`
	Fields  []jsonArgument `json:"fields"`
	Armed   int            `json:"armed"`
	Kernel  int            `json:"kernel"`
	Probes  []string       `json:"probes"`
	Hits    uint64         `json:"hits"`
	Problem string         `json:"problem,omitempty"`
}

type jsonArgument struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"`
	Verb        string `json:"verb,omitempty"`
	Unavailable string `json:"unavailable,omitempty"`
}

// PrintPoints prints a table of the points that an agent reports.
func PrintPoints(out *term.Output, points []client.Point) error {
	t := term.Table{Right: []bool{false, false, false, true, true, true}}
	t.Add("KIND", "NAME", "FIELDS", "ARMED", "PROBES", "HITS")
	for _, p := range points {
		var fields []string
		for _, f := range p.Fields {
			fields = append(fields, strings.TrimSpace(term.Label(f.Name)+" "+term.Label(f.Type)))
		}
		armed, hits := fmt.Sprint(p.Armed+p.Kernel), fmt.Sprint(p.Hits)
		if p.Kind == PointKey {
			armed, hits = KeyState(p), "-"
		}
		t.Add(p.Kind, term.Label(p.Name), strings.Join(fields, ", "), armed, fmt.Sprint(len(p.Probes)), hits)
	}
	if err := t.Print(out, out.Style.Bold); err != nil {
		return err
	}
	for _, p := range points {
		if p.Problem != "" {
			term.Linef(out, "%s: %s", term.Label(p.Name), term.Printable(p.Problem))
		}
		for _, f := range p.Fields {
			if f.Unavailable != "" {
				term.Linef(out, "%s: %s has no value: %s", term.Label(p.Name), term.Label(f.Name), term.Printable(string(f.Unavailable)))
			}
		}
	}
	return nil
}

// WritePoints prints an object for each point that the agent of a process reports.
func WritePoints(out *term.Output, pid int, points []client.Point) error {
	for _, p := range points {
		j := jsonPoint{
			PID: pid, Kind: p.Kind, Point: p.Name, Format: p.Format, Fields: []jsonArgument{}, Armed: p.Armed, Kernel: p.Kernel,
			Probes: append([]string{}, p.Probes...), Hits: p.Hits, Problem: p.Problem,
		}
		for _, f := range p.Fields {
			a := jsonArgument{Name: f.Name, Type: f.Type, Verb: f.Verb}
			if f.Unavailable != "" {
				a.Unavailable = string(f.Unavailable)
			}
			j.Fields = append(j.Fields, a)
		}
		if err := WriteJSON(out, &j); err != nil {
			return err
		}
	}
	return nil
}

// PointsText counts markers and tracepoints.
func PointsText(markers []*tracer.Marker) string {
	n := 0
	for _, m := range markers {
		if m.Tracepoint {
			n++
		}
	}
	switch n {
	case 0:
		return term.Plural(len(markers), "marker")
	case len(markers):
		return term.Plural(n, "tracepoint")
	}
	return term.Plural(len(markers)-n, "marker") + " and " + term.Plural(n, "tracepoint")
}

// KeyState returns whether a key is on, and how often when that is more than once.
func KeyState(k client.Point) string {
	switch {
	case k.Armed > 1:
		return fmt.Sprintf("on (%d times)", k.Armed)
	case k.Armed == 1:
		return "on"
	}
	return "off"
}

// The kinds of points.
const (
	PointMarker     = "marker"
	pointTracepoint = "tracepoint"
	PointKey        = "key"
)
