package cli

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"time"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// reportText prints events as trace does.
type reportText struct{ *traceText }

func (v *reportText) event(e *recording.Event) error {
	return v.print(&e.Event, func(b []byte, i int) []byte {
		if n := e.Nested[i]; n != nil {
			return appendNested(b, n)
		}
		return e.Point.Fields[i].AppendText(b, &e.Values[i])
	})
}

func (*reportText) end(*reportTotal) error { return nil }

// appendNested prints what CTF has and markers have not: the name of an enum's value, [1 2], {a=1 b="x"}.
func appendNested(b []byte, v *ctf.Value) []byte {
	switch t := v.Type.(type) {
	case *ctf.Enum:
		if names := t.Names(nil, v.Bits); len(names) > 0 {
			return append(b, label(names[0])...)
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
			b = append(b, label(t.Fields[i].Name)...)
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

// reportJSON prints events as trace --json does.
type reportJSON struct{ *traceJSON }

func (v *reportJSON) event(e *recording.Event) error {
	return v.print(&e.Event, time.Duration(e.Raw.Elapsed()), func(b []byte, i int) []byte {
		if n := e.Nested[i]; n != nil {
			text, _ := encodeJSON(jsonNested(n)) // nothing in it cannot be encoded
			return append(b, text...)
		}
		return e.Point.Fields[i].AppendJSON(b, &e.Values[i])
	})
}

func (v *reportJSON) end(t *reportTotal) error {
	sum := traceSummary{events: t.events, lost: t.lost, lostPackets: t.lostPackets, elapsed: t.elapsed(), end: byTrace}
	if t.filtered {
		sum.filtered = &t.others
	}
	return v.summary(&sum)
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

// reportStat counts events by marker.
type reportStat struct {
	out   *output
	json  bool
	rows  map[string]*uint64
	order []string
}

func (v *reportStat) event(e *recording.Event) error {
	name := e.Point.FullName()
	n := v.rows[name]
	if n == nil {
		n = new(uint64)
		v.rows[name] = n
		v.order = append(v.order, name)
	}
	*n++
	return nil
}

// jsonReportStat is an object of report --stat --json.
type jsonReportStat struct {
	Marker  string  `json:"marker"`
	Count   uint64  `json:"count"`
	Rate    float64 `json:"rate"`
	Elapsed float64 `json:"elapsed_s"`
}

func (v *reportStat) end(t *reportTotal) error {
	slices.SortStableFunc(v.order, func(a, b string) int { return cmp.Compare(*v.rows[b], *v.rows[a]) })
	table := table{right: []bool{false, true, true}}
	table.add("MARKER", "EVENTS", "RATE")
	for _, name := range v.order {
		n := *v.rows[name]
		rate := perSecond(n, t.elapsed())
		if v.json {
			if err := writeJSON(v.out, &jsonReportStat{name, n, rate, t.elapsed().Seconds()}); err != nil {
				return err
			}
			continue
		}
		table.add(label(name), strconv.FormatUint(n, 10), rateText(rate))
	}
	if v.json {
		return nil
	}
	plain := latencyPlain{out: v.out, style: styleFor(v.out.to)}
	return plain.print(table.lines())
}
