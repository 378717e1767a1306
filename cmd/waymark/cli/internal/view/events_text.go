package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// TraceText prints events for people. Columns grow with what they have seen. Events come by the hundred thousand
// a second, so what one has in common with the one before, or with others of its marker, is made into text once.
type TraceText struct {
	out                      *term.Output
	processes, thread, names int // widths
	line                     []byte

	wall    source.Clock
	clock   clockText
	process processText
	markers map[*event.Point]*markerText
}

// maxNameColumn bounds the column of names: one long name does not push all fields away.
const maxNameColumn = 32

// NewTraceText returns a view of the points' events on a clock.
func NewTraceText(out *term.Output, wall source.Clock, points []*event.Point) *TraceText {
	v := &TraceText{
		out: out, processes: 12, thread: 4,
		wall: wall, clock: clockText{layout: "15:04:05.", digits: 6}, markers: map[*event.Point]*markerText{},
	}
	for _, p := range points {
		v.names = max(v.names, min(term.Width(term.Label(p.FullName())), maxNameColumn))
	}
	return v
}

// Event prints an event.
func (v *TraceText) Event(e *event.Event) error {
	return v.print(e, func(b []byte, i int) []byte { return e.Point.Fields[i].AppendText(b, &e.Values[i]) })
}

// print prints a line; value appends the value of a field.
func (v *TraceText) print(e *event.Event, value func(b []byte, i int) []byte) error {
	v.process.set(e)
	v.processes = max(v.processes, v.process.width)

	b := v.out.Style.Begin(v.line[:0], term.DimOn)
	b = v.clock.append(b, v.wall.Wall(e.Time).Local())
	b = append(b, "  "...)
	b = append(b, v.process.text...)
	b = appendBlanks(b, v.processes-v.process.width)
	b = v.out.Style.End(b)

	b = append(b, "  "...)
	at := len(b)
	if e.Goroutine != 0 {
		b = strconv.AppendInt(append(b, 'g'), e.Goroutine, 10)
	} else {
		b = strconv.AppendInt(append(b, 't'), int64(e.TID), 10)
	}
	v.thread = max(v.thread, len(b)-at)
	b = appendBlanks(b, v.thread-(len(b)-at))
	b = append(b, "  "...)

	m := v.marker(e.Point)
	b = append(b, m.name...)
	if len(e.Values) > 0 {
		b = appendBlanks(b, v.names-m.width)
	}
	for i := range e.Values {
		b = append(b, m.fields[i]...)
		b = value(b, i)
	}
	v.line = append(b, '\n')
	_, err := v.out.Write(v.line)
	return err
}

// Summary is for standard error only.
func (*TraceText) Summary(*TraceSummary) error { return nil }

// processText is the process of the event that was printed last.
type processText struct {
	comm     string
	pid, own int
	text     []byte
	width    int
}

func (p *processText) set(e *event.Event) {
	if p.text != nil && p.comm == e.Comm && p.pid == e.PID && p.own == e.NSPID {
		return
	}
	p.comm, p.pid, p.own = e.Comm, e.PID, e.NSPID
	b := append(append(p.text[:0], term.Label(e.Comm)...), '[')
	b = strconv.AppendInt(b, int64(e.PID), 10)
	if e.NSPID != 0 {
		b = strconv.AppendInt(append(b, '/'), int64(e.NSPID), 10)
	}
	p.text = append(b, ']')
	p.width = term.Width(string(p.text))
}

// markerText is what all lines of a marker have in common.
type markerText struct {
	name   string
	width  int      // of the name
	fields []string // what precedes their values
}

func (v *TraceText) marker(p *event.Point) *markerText {
	if t := v.markers[p]; t != nil {
		return t
	}
	name := term.Label(p.FullName())
	t := &markerText{name: v.out.Style.Bold(name), width: term.Width(name)}
	for i := range p.Fields {
		t.fields = append(t.fields, "  "[min(i, 1):]+term.Label(p.Fields[i].Name)+"=")
	}
	v.markers[p] = t
	return t
}

// clockText prints times, and what is the same for a second once.
type clockText struct {
	layout string // down to the second, with its point
	digits int    // behind that, up to 9
	second int64
	zone   *time.Location
	text   []byte
}

func (c *clockText) append(b []byte, t time.Time) []byte {
	if s := t.Unix(); c.text == nil || s != c.second || t.Location() != c.zone {
		c.second, c.zone = s, t.Location()
		c.text = t.AppendFormat(c.text[:0], c.layout)
	}
	b = append(b, c.text...)
	at, n := len(b), t.Nanosecond()
	b = append(b, "000000000"...)
	for i := 8; i >= 0; i-- {
		b[at+i] += byte(n % 10)
		n /= 10
	}
	return b[:at+c.digits]
}

const blanks = "                                "

func appendBlanks(b []byte, n int) []byte {
	if n <= 0 {
		return b
	}
	if n <= len(blanks) {
		return append(b, blanks[:n]...)
	}
	return append(b, strings.Repeat(" ", n)...)
}

// TraceView prints events.
type TraceView interface {
	Event(*event.Event) error
	Recorded(*recording.Event) error
	Summary(*TraceSummary) error
}

// TraceSummary is what trace says at its end.
type TraceSummary struct {
	Events, Lost uint64
	LostPackets  uint64  // of a trace on disk; Lost does not count their events
	Unread       bool    // how many were lost is not known
	Filtered     *uint64 // nil without a condition
	Late         uint64  // events printed after later ones
	Problems     []error // why all events of a marker were lost
	Elapsed      time.Duration
	End          End
	Damaged      bool // a part of a trace on disk could not be read
}

// Print prints the summary for people.
func (s *TraceSummary) Print(e *term.Env) {
	filtered := ""
	if s.Filtered != nil {
		filtered = fmt.Sprintf(", %d filtered out", *s.Filtered)
	}
	lost := strconv.FormatUint(s.Lost, 10)
	if s.Unread {
		lost = "an unknown number"
	}
	if s.LostPackets > 0 {
		lost = term.Plural(s.Lost, "event") + " and " + term.Plural(s.LostPackets, "packet")
	}
	late := ""
	if s.Late > 0 {
		late = ", " + strconv.FormatUint(s.Late, 10) + " out of order"
	}
	e.Message("%s%s, %s lost%s, in %s", term.Plural(s.Events, "event"), filtered, lost, late, Seconds(s.Elapsed))
}
