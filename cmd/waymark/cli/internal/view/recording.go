package view

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// RecordView says how a recording is going and how it went.
type RecordView struct {
	Env  *term.Env
	JSON bool
	Dir  string // of the trace
	last uint64 // events at the last line
	at   time.Duration
}

// Progress shows a line on a terminal, in place of the last one.
func (v *RecordView) Progress(sum *recording.Summary, now time.Duration) {
	n := sum.Received
	v.Env.Status("waymark: %s, %s, %d lost, %s, %s", term.Plural(n, "event"), rateText(perSecond(n-v.last, now-v.at)),
		sum.Total(), BytesText(sum.Bytes), Seconds(now))
	v.last, v.at = n, now
}

// jsonRecording is what record --json prints.
type jsonRecording struct {
	Recording struct {
		Trace     string     `json:"trace"`
		Events    uint64     `json:"events"`
		Lost      uint64     `json:"lost"`
		Unwritten uint64     `json:"unwritten"`
		Bytes     uint64     `json:"bytes"`
		Elapsed   float64    `json:"elapsed_s"`
		End       End        `json:"end"`
		Losses    []jsonLoss `json:"losses,omitempty"`
	} `json:"recording"`
}

type jsonLoss struct {
	Channel string `json:"channel"`
	CPU     int    `json:"cpu"`
	Reason  string `json:"reason"`
	Count   uint64 `json:"count"`
}

// Summary prints what was recorded and what was lost.
func (v *RecordView) Summary(out *term.Output, sum *recording.Summary, elapsed time.Duration, why End, problems []error) error {
	saved, unwritten := sum.Saved(), sum.Unwritten()
	if v.JSON {
		WarnLost(v.Env, problems)
		var j jsonRecording
		s := &j.Recording
		s.Trace, s.Events, s.Lost, s.Unwritten = v.Dir, saved, sum.Total(), unwritten
		s.Bytes, s.Elapsed, s.End = sum.Bytes, elapsed.Seconds(), why
		for _, l := range sum.Lost {
			s.Losses = append(s.Losses, jsonLoss{l.Stream, l.CPU, l.Reason, l.Count})
		}
		return WriteJSON(out, &j)
	}
	v.Env.Message("%s, %d lost, in %s, %s: %s in %s", term.Plural(saved, "event"), sum.Total(), Seconds(elapsed),
		rateText(perSecond(saved, elapsed)), BytesText(sum.Bytes), v.Dir)
	for _, l := range sum.Lost {
		v.Env.Message("lost on CPU %d: %d, %s", l.CPU, l.Count, strings.ReplaceAll(l.Reason, "_", " "))
	}
	if unwritten > 0 {
		v.Env.Message("%s received and not written", term.Plural(unwritten, "event"))
	}
	WarnLost(v.Env, problems)
	if sum.Total() > 0 && len(problems) == 0 {
		v.Env.Hint("a larger --buffer, fewer markers or a shorter --max-string lose fewer")
	}
	return nil
}

// Recorded prints an event as Event does.
func (v *TraceText) Recorded(e *recording.Event) error {
	return v.print(&e.Event, func(b []byte, i int) []byte {
		if n := e.Nested[i]; n != nil {
			return appendNested(b, n)
		}
		return e.Point.Fields[i].AppendText(b, &e.Values[i])
	})
}

// appendNested prints what CTF has and markers have not: the name of an enum's value, [1 2], {a=1 b="x"}.
func appendNested(b []byte, v *ctf.Value) []byte {
	switch t := v.Type.(type) {
	case *ctf.Enum:
		if names := t.Names(nil, v.Bits); len(names) > 0 {
			return append(b, term.Label(names[0])...)
		}
		return appendNumber(b, &t.Integer, v.Bits)
	case *ctf.Integer:
		return appendNumber(b, t, v.Bits)
	case *ctf.Float:
		return strconv.AppendFloat(b, v.Float(), 'g', -1, t.Size)
	case *ctf.Variant:
		return appendNested(b, &v.Elems[0])
	case *ctf.Struct:
		b = append(b, '{')
		for i := range v.Elems {
			b = append(b, " "[:min(i, 1)]...)
			b = append(b, term.Label(t.Fields[i].Name)...)
			b = appendNested(append(b, '='), &v.Elems[i])
		}
		return append(b, '}')
	}
	switch {
	case v.IsText():
		return strconv.AppendQuote(b, string(v.Text))
	case v.IsBytes():
		text := event.Text(event.Bytes, v.Text, len(v.Text))
		return (&event.Field{Kind: event.Bytes}).AppendText(b, &text)
	}
	b = append(b, '[')
	for i := range v.Elems {
		b = append(b, " "[:min(i, 1)]...)
		b = appendNested(b, &v.Elems[i])
	}
	return append(b, ']')
}

func appendNumber(b []byte, t *ctf.Integer, bits uint64) []byte {
	f := event.Field{Kind: event.Uint64}
	switch t.Base {
	case 2:
		f.Verb = "%b"
	case 8:
		f.Verb = "%o"
	case 16:
		f.Verb = "%x"
	}
	if t.Signed {
		f.Kind = event.Int64
	}
	v := event.Number(f.Kind, bits)
	return f.AppendText(b, &v)
}

// Recorded prints an event as Event does, with the time on the clock of its program.
func (v *TraceJSON) Recorded(e *recording.Event) error {
	return v.print(&e.Event, time.Duration(e.Raw.Elapsed()), func(b []byte, i int) []byte {
		if n := e.Nested[i]; n != nil {
			text, _ := encodeJSON(jsonNested(n)) // nothing in it cannot be encoded
			return append(b, text...)
		}
		return e.Point.Fields[i].AppendJSON(b, &e.Values[i])
	})
}

// jsonNested is a value that is none of a marker's: the name of an enum's value, an array, an object.
func jsonNested(v *ctf.Value) any {
	switch t := v.Type.(type) {
	case *ctf.Enum:
		if names := t.Names(nil, v.Bits); len(names) > 0 {
			return names[0]
		}
		return jsonNumber(t.Signed, v.Bits)
	case *ctf.Integer:
		return jsonNumber(t.Signed, v.Bits)
	case *ctf.Float:
		f := event.Field{Kind: event.Float64}
		if t.Size == 32 {
			f.Kind = event.Float32
		}
		n := event.Number(f.Kind, v.Bits)
		return jsonValue(&f, &n)
	case *ctf.Variant:
		return jsonNested(&v.Elems[0])
	case *ctf.Struct:
		fields := jsonFields{}
		for i := range v.Elems {
			fields = append(fields, jsonField{t.Fields[i].Name, jsonNested(&v.Elems[i])})
		}
		return fields
	}
	switch {
	case v.IsText():
		return string(v.Text)
	case v.IsBytes():
		return base64.StdEncoding.EncodeToString(v.Text)
	}
	elems := []any{}
	for i := range v.Elems {
		elems = append(elems, jsonNested(&v.Elems[i]))
	}
	return elems
}

func jsonNumber(signed bool, bits uint64) any {
	if signed {
		return int64(bits)
	}
	return bits
}

// RecordedCounts counts recorded events by marker, and prints the counts as their summary.
type RecordedCounts struct {
	out    *term.Output
	json   bool
	counts map[string]uint64
	order  []string
}

// NewRecordedCounts returns counts of no events.
func NewRecordedCounts(out *term.Output, json bool) *RecordedCounts {
	return &RecordedCounts{out: out, json: json, counts: map[string]uint64{}}
}

// Recorded counts an event.
func (v *RecordedCounts) Recorded(e *recording.Event) error {
	name := e.Point.FullName()
	if v.counts[name] == 0 {
		v.order = append(v.order, name)
	}
	v.counts[name]++
	return nil
}

// jsonReportStat is an object of report --stat --json.
type jsonReportStat struct {
	Marker  string  `json:"marker"`
	Count   uint64  `json:"count"`
	Rate    float64 `json:"rate"`
	Elapsed float64 `json:"elapsed_s"`
}

// Summary prints the counts, largest first.
func (v *RecordedCounts) Summary(sum *TraceSummary) error {
	slices.SortStableFunc(v.order, func(a, b string) int { return cmp.Compare(v.counts[b], v.counts[a]) })
	table := term.Table{Right: []bool{false, true, true}}
	table.Add("MARKER", "EVENTS", "RATE")
	for _, name := range v.order {
		n := v.counts[name]
		rate := perSecond(n, sum.Elapsed)
		if v.json {
			if err := WriteJSON(v.out, &jsonReportStat{name, n, rate, sum.Elapsed.Seconds()}); err != nil {
				return err
			}
			continue
		}
		table.Add(term.Label(name), strconv.FormatUint(n, 10), rateText(rate))
	}
	if v.json {
		return nil
	}
	return table.Print(v.out, v.out.Style.Bold)
}
