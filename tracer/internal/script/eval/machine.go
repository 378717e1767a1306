package eval

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/machine"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// Options are the surroundings of a running program.
type Options struct {
	Out  io.Writer
	JSON bool
	// Escape makes characters visible that a terminal might act on.
	Escape bool
	// Wall converts times of events to the time of day.
	Wall func(nanos int64) time.Time
	// System runs a command and returns its output.
	System func(ctx context.Context, command string) ([]byte, error)
	// Message takes the texts of errorf and warnf, with the position of the call. In JSON they are part of the output.
	Message func(severity, position, text string)
	// File is the script.
	File *syntax.File
}

// Machine is a running program. It is for one goroutine.
type Machine struct {
	program  *ir.Program
	options  Options
	printer  machine.Printer
	maps     []*machine.Map
	codes    map[*ir.Code]*compiled
	zero     []machine.Value // of the variables of the code that is compiled
	state    state
	begin    int64
	exited   bool
	status   int
	warnings Warnings
	held     map[string]*held // output that speculate keeps
	buf      []byte
	err      error // of the first write that failed
}

// held is the output of one speculation.
type held struct{ text []byte }

// Limits of speculation.
const maxHeld = 64 << 10 // bytes of one

// New returns a machine with empty maps.
func New(p *ir.Program, o Options) *Machine {
	m := &Machine{
		program: p, options: o, codes: map[*ir.Code]*compiled{}, held: map[string]*held{},
		printer: machine.Printer{JSON: o.JSON, Style: machine.Style{Trailer: p.Config.Trailer, Escape: o.Escape && !o.JSON}, Wall: o.Wall},
	}
	m.state.Machine = m
	for _, x := range p.Maps {
		m.maps = append(m.maps, machine.NewMap(x))
	}
	for _, probe := range p.Probes {
		if m.codes[probe.Code] == nil {
			m.codes[probe.Code] = m.compile(probe.Code)
		}
	}
	return m
}

// Start sets the time of the beginning.
func (m *Machine) Start(now int64) { m.begin = now }

// Exited reports whether the program has called exit, or its output failed, and its exit status.
func (m *Machine) Exited() (status int, exited bool) { return m.status, m.exited || m.err != nil }

// Err returns the error of the first write that failed.
func (m *Machine) Err() error { return m.err }

// Hit executes a probe, unless the program has exited, and reports whether its predicate held. e is nil for probes that are no
// hits of points.
func (m *Machine) Hit(ctx context.Context, p *ir.Probe, now int64, e *event.Event) bool {
	if m.exited && p.Kind != ir.End || m.err != nil {
		return false
	}
	c := m.codes[p.Code]
	s := &m.state
	s.ctx, s.probe, s.now, s.event, s.iterations, s.held = ctx, p, now, e, 0, nil
	if len(c.zero) > 0 {
		copy(c.locals, c.zero)
	}
	s.locals = c.locals
	if c.predicate != nil && c.predicate(s) == 0 {
		return false
	}
	run(s, c.body)
	return true
}

// PrintMaps prints all maps that have a key, in the order of their names.
func (m *Machine) PrintMaps() {
	if !m.program.Config.PrintMaps {
		return
	}
	m.state.held = nil
	for _, x := range m.maps {
		m.emit(m.printer.AppendMap(m.buf[:0], x, 0, 1, false))
	}
}

// Attached writes the object with the number of probes, in JSON only.
func (m *Machine) Attached(n int) { m.emit(m.printer.AppendAttached(m.buf[:0], n)) }

// Lost writes the object with the number of lost events, in JSON only.
func (m *Machine) Lost(n uint64) { m.emit(m.printer.AppendLost(m.buf[:0], n)) }

// Warnings returns what was counted while the program ran.
func (m *Machine) Warnings() []Warning { return m.warnings.list(m.maps) }

// emit writes output, or keeps it if the hit speculates.
func (m *Machine) emit(b []byte) {
	m.buf = b
	switch {
	case len(b) == 0 || m.err != nil:
	case m.state.held == nil:
		_, m.err = m.options.Out.Write(b)
	case len(m.state.held.text)+len(b) > maxHeld:
		m.warnings.add(HeldFull, 0)
	default:
		m.state.held.text = append(m.state.held.text, b...)
	}
}

// message passes the text of errorf or warnf on.
func (m *Machine) message(severity string, at int, text string) {
	text = strings.TrimSuffix(text, "\n")
	f := m.options.File
	switch {
	case m.options.JSON:
		line, column := f.Position(at)
		m.emit(m.printer.AppendMessage(m.buf[:0], strings.ToLower(severity)+"f", text, f.Name, line, column))
	case m.options.Message != nil:
		if severity == "WARN" {
			severity = "WARNING"
		}
		m.options.Message(severity, f.At(syntax.Span{Begin: at, End: at}), text)
	}
}
