package view

import (
	"fmt"
	"strconv"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
)

// TraceJSON prints an object for each event, and one at the end. As events are many, objects are put together by
// hand; what they have in common is encoded once.
type TraceJSON struct {
	out     *term.Output
	line    []byte
	wall    source.Clock
	clock   clockText
	notes   jsonNotes
	markers map[*event.Point]*eventKeys
}

// eventKeys are what all objects of a marker have in common.
type eventKeys struct {
	name   []byte   // in quotes
	keys   []string // of the fields, each once
	quoted [][]byte // the same, in quotes and with a colon
}

// jsonSummary is the last object of trace --json.
type jsonSummary struct {
	Summary struct {
		Events  uint64  `json:"events"`
		Lost    uint64  `json:"lost"`
		Packets uint64  `json:"lost_packets,omitempty"`
		Late    uint64  `json:"late,omitempty"`
		Others  *uint64 `json:"filtered,omitempty"`
		Elapsed float64 `json:"elapsed_s"`
		End     End     `json:"end"`
	} `json:"summary"`
}

// NewTraceJSON returns a view of events on a clock.
func NewTraceJSON(out *term.Output, wall source.Clock) *TraceJSON {
	return &TraceJSON{out: out, wall: wall, clock: clockText{layout: "2006-01-02T15:04:05.", digits: 9}, markers: map[*event.Point]*eventKeys{}}
}

func (v *TraceJSON) marker(p *event.Point) *eventKeys {
	if j := v.markers[p]; j != nil {
		return j
	}
	j := &eventKeys{name: event.AppendJSONString(nil, p.FullName()), keys: fieldKeys(p.Fields)}
	for _, key := range j.keys {
		j.quoted = append(j.quoted, append(event.AppendJSONString(nil, key), ':'))
	}
	v.markers[p] = j
	return j
}

// fieldKeys returns the names of fields, made different from each other where a file that
// waymark did not link names two alike.
func fieldKeys(fields []event.Field) []string {
	keys := make([]string, len(fields))
	seen := map[string]bool{}
	for i, f := range fields {
		key := f.Name
		for n := 2; seen[key]; n++ {
			key = fmt.Sprintf("%s_%d", f.Name, n)
		}
		seen[key] = true
		keys[i] = key
	}
	return keys
}

// Event prints an event.
func (v *TraceJSON) Event(e *event.Event) error {
	return v.print(e, e.Time, func(b []byte, i int) []byte { return e.Point.Fields[i].AppendJSON(b, &e.Values[i]) })
}

// print prints an object; monotonic is the time on the clock of the event's program, and value appends the value of a field.
func (v *TraceJSON) print(e *event.Event, monotonic time.Duration, value func(b []byte, i int) []byte) error {
	m := v.marker(e.Point)
	b := append(v.line[:0], `{"time":"`...)
	b = v.clock.append(b, v.wall.Wall(e.Time).UTC())
	b = appendNumberKey(append(b, 'Z', '"'), "monotonic_ns", monotonic.Nanoseconds())
	b = appendNumberKey(b, "pid", int64(e.PID))
	b = appendNumberKey(b, "tid", int64(e.TID))
	if e.NSPID != 0 {
		b = appendNumberKey(b, "own_pid", int64(e.NSPID))
	}
	if e.NSTID != 0 {
		b = appendNumberKey(b, "own_tid", int64(e.NSTID))
	}
	b = appendNumberKey(b, "cpu", int64(e.CPU))
	b = event.AppendJSONString(append(b, `,"comm":`...), e.Comm)
	if e.Goroutine != 0 {
		b = appendNumberKey(b, "goroutine", e.Goroutine)
	}
	b = append(append(b, `,"marker":`...), m.name...)
	b = append(b, `,"fields":{`...)
	v.notes = jsonNotes{}
	for i := range e.Values {
		if i > 0 {
			b = append(b, ',')
		}
		b = value(append(b, m.quoted[i]...), i)
		v.notes.note(m.keys[i], &e.Point.Fields[i], &e.Values[i])
	}
	b = append(b, '}')
	if v.notes.some() {
		notes, err := encodeJSON(&v.notes)
		if err != nil {
			return err
		}
		b = append(append(b, ','), notes[1:]...)
	} else {
		b = append(b, '}')
	}
	v.line = append(b, '\n')
	_, err := v.out.Write(v.line)
	return err
}

// appendNumberKey appends a member of an object that is not its first.
func appendNumberKey(b []byte, key string, n int64) []byte {
	b = append(append(append(b, `,"`...), key...), `":`...)
	return strconv.AppendInt(b, n, 10)
}

// Summary prints the last object.
func (v *TraceJSON) Summary(sum *TraceSummary) error {
	var j jsonSummary
	j.Summary.Events, j.Summary.Lost, j.Summary.Others = sum.Events, sum.Lost, sum.Filtered
	j.Summary.Late = sum.Late
	j.Summary.Packets, j.Summary.Elapsed, j.Summary.End = sum.LostPackets, sum.Elapsed.Seconds(), sum.End
	return WriteJSON(v.out, &j)
}
