package cli

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/internal/field"
	"github.com/waymark-trace/waymark/tracer"
)

// traceText prints events for people. Columns grow with what they have seen.
type traceText struct {
	out                    *output
	style                  style
	process, thread, names int // widths
	line                   []byte
}

// maxNameColumn bounds the column of names: one long name does not push all fields away.
const maxNameColumn = 32

func newTraceText(out *output, markers []*tracer.Marker) *traceText {
	v := &traceText{out: out, style: styleFor(out.to), process: 12, thread: 4}
	for _, m := range markers {
		v.names = max(v.names, min(utf8.RuneCountInString(label(m.FullName())), maxNameColumn))
	}
	return v
}

func (v *traceText) event(e *tracer.Event) error {
	return v.print(e, func(b []byte, i int) []byte { return appendValue(b, &e.Marker.Fields[i], &e.Values[i]) })
}

// print prints a line; value appends the value of a field.
func (v *traceText) print(e *tracer.Event, value func(b []byte, i int) []byte) error {
	process := fmt.Sprintf("%s[%d]", label(e.Comm), e.PID)
	if e.OwnPID != 0 {
		process = fmt.Sprintf("%s[%d/%d]", label(e.Comm), e.PID, e.OwnPID)
	}
	v.process = max(v.process, utf8.RuneCountInString(process))
	thread := fmt.Sprintf("t%d", e.TID)
	if e.Goroutine != 0 {
		thread = fmt.Sprintf("g%d", e.Goroutine)
	}
	v.thread = max(v.thread, len(thread))
	b := append(v.line[:0], v.style.dim(e.Time.Local().Format("15:04:05.000000")+"  "+pad(process, v.process))...)
	b = append(b, "  "...)
	b = append(b, pad(thread, v.thread)...)
	b = append(b, "  "...)
	name := label(e.Marker.FullName())
	b = append(b, v.style.bold(name)...)
	if n := v.names - utf8.RuneCountInString(name); n > 0 && len(e.Values) > 0 {
		b = append(b, strings.Repeat(" ", n)...)
	}
	for i := range e.Values {
		b = append(b, "  "[min(i, 1):]...)
		b = append(b, label(e.Marker.Fields[i].Name)...)
		b = append(b, '=')
		b = value(b, i)
	}
	v.line = append(b, '\n')
	_, err := v.out.Write(v.line)
	return err
}

// summary is for standard error only.
func (*traceText) summary(*traceSummary) error { return nil }

// traceJSON prints an object for each event, and one at the end.
type traceJSON struct {
	out   *output
	names map[*tracer.Marker][]string // of the fields, each once
}

// jsonEvent is an object of trace --json.
type jsonEvent struct {
	Time      string     `json:"time"`
	Monotonic int64      `json:"monotonic_ns"`
	PID       int        `json:"pid"`
	TID       int        `json:"tid"`
	OwnPID    int        `json:"own_pid,omitempty"`
	OwnTID    int        `json:"own_tid,omitempty"`
	CPU       int        `json:"cpu"`
	Comm      string     `json:"comm"`
	Goroutine int64      `json:"goroutine,omitempty"`
	Marker    string     `json:"marker"`
	Fields    jsonFields `json:"fields"`
	jsonNotes
}

// jsonNotes is what values alone do not say, by the keys of their fields.
type jsonNotes struct {
	Len    map[string]int    `json:"len,omitempty"`
	Raw    map[string]string `json:"raw,omitempty"`
	Names  map[string]string `json:"names,omitempty"`
	Errors map[string]string `json:"errors,omitempty"`
}

// jsonSummary is the last object of trace --json.
type jsonSummary struct {
	Summary struct {
		Events  uint64  `json:"events"`
		Lost    uint64  `json:"lost"`
		Others  *uint64 `json:"filtered,omitempty"`
		Elapsed float64 `json:"elapsed_s"`
		End     end     `json:"end"`
	} `json:"summary"`
}

func newTraceJSON(out *output) *traceJSON {
	return &traceJSON{out: out, names: map[*tracer.Marker][]string{}}
}

// keys returns the keys of a marker's fields.
func (v *traceJSON) keys(m *tracer.Marker) []string {
	keys, ok := v.names[m]
	if !ok {
		keys = fieldKeys(m.Fields)
		v.names[m] = keys
	}
	return keys
}

// fieldKeys returns the names of fields, made different from each other where a file that
// waymark did not link names two alike.
func fieldKeys(fields []tracer.Field) []string {
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

func (v *traceJSON) event(e *tracer.Event) error {
	return v.print(e, func(i int) any { return jsonValue(&e.Marker.Fields[i], &e.Values[i]) })
}

// print prints an object; value returns the value of a field.
func (v *traceJSON) print(e *tracer.Event, value func(i int) any) error {
	j := jsonEvent{
		Time: e.Time.UTC().Format(timeFormat), Monotonic: e.Monotonic.Nanoseconds(),
		PID: e.PID, TID: e.TID, OwnPID: e.OwnPID, OwnTID: e.OwnTID, CPU: e.CPU, Comm: e.Comm, Goroutine: e.Goroutine,
		Marker: e.Marker.FullName(), Fields: jsonFields{},
	}
	keys := v.keys(e.Marker)
	for i := range e.Values {
		j.Fields = append(j.Fields, jsonField{keys[i], value(i)})
		j.note(keys[i], &e.Marker.Fields[i], &e.Values[i])
	}
	return writeJSON(v.out, &j)
}

// note adds what a value alone does not say.
func (j *jsonNotes) note(key string, f *tracer.Field, v *tracer.Value) {
	err := v.Err
	if err == nil {
		err = f.Unavailable
	}
	if err != nil {
		set(&j.Errors, key, err.Error())
		return
	}
	if name := f.Names[int64(v.Bits)]; name != "" && f.Elem == field.Invalid {
		set(&j.Names, key, name)
	}
	if f.Elem != field.Invalid {
		if read, all := elements(f, v); all > len(read) {
			set(&j.Len, key, all)
		}
		return
	}
	if !f.Kind.HasLength() {
		return
	}
	if isCut(v) {
		set(&j.Len, key, v.Len)
	}
	if f.Kind == field.String && !utf8.Valid(whole(v)) {
		set(&j.Raw, key, base64.StdEncoding.EncodeToString(v.Text))
	}
}

func set[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}

func (v *traceJSON) summary(sum *traceSummary) error {
	var j jsonSummary
	j.Summary.Events, j.Summary.Lost, j.Summary.Others = sum.events, sum.lost, sum.filtered
	j.Summary.Elapsed, j.Summary.End = sum.elapsed.Seconds(), sum.end
	return writeJSON(v.out, &j)
}
