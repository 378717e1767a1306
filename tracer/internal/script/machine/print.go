package machine

import (
	"strconv"
	"time"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
)

// Printer forms output: text, or one JSON object a line.
type Printer struct {
	Style
	JSON bool
	Wall func(nanos int64) time.Time // converts times of events to the time of day
}

// AppendText appends the output of printf, time and system: kind is its type in JSON.
func (p *Printer) AppendText(b []byte, kind, text string) []byte {
	if !p.JSON {
		return append(b, text...)
	}
	b = append(b, `{"type": "`+kind+`", "data": `...)
	return append(appendJSONText(b, text), "}\n"...)
}

// AppendPrint appends the output of print for a value.
func (p *Printer) AppendPrint(b []byte, t *ir.Type, e *Entry) []byte {
	newest := newestInterval(t, []*Entry{e})
	if !p.JSON {
		return append(p.appendEntry(b, t, e, 1, newest), '\n')
	}
	b = append(b, `{"type": "value", "data": `...)
	return append(p.appendEntryJSON(b, t, e, 1, newest), "}\n"...)
}

// AppendMap appends the output of print for a map: its last top entries, all of them for 0, with values divided by div. A scalar
// without a value is zero, if missing is set.
func (p *Printer) AppendMap(b []byte, m *Map, top int, div int64, missing bool) []byte {
	list := m.Sorted(top)
	if len(list) == 0 && m.Scalar() && missing {
		list = []*Entry{{Value: Zero(&m.Value), Agg: &Aggregate{}}}
	}
	if len(list) == 0 {
		return b
	}
	if p.JSON {
		return p.appendMapJSON(b, m, list, div)
	}
	return p.appendMap(b, m, list, div)
}

// AppendMessage appends the object of errorf or warnf.
func (p *Printer) AppendMessage(b []byte, kind, text, file string, line, column int) []byte {
	b = appendJSONText(append(b, `{"type": "`+kind+`", "msg": `...), text)
	b = appendJSONText(append(b, `, "filename": `...), file)
	b = strconv.AppendInt(append(b, `, "line": `...), int64(line), 10)
	b = strconv.AppendInt(append(b, `, "col": `...), int64(column), 10)
	return append(b, "}\n"...)
}

// AppendAttached appends the object with the number of probes, in JSON only.
func (p *Printer) AppendAttached(b []byte, n int) []byte {
	return p.appendCount(b, "attached_probes", "probes", uint64(n))
}

// AppendLost appends the object with the number of lost events, in JSON only.
func (p *Printer) AppendLost(b []byte, n uint64) []byte {
	return p.appendCount(b, "lost_events", "events", n)
}

func (p *Printer) appendCount(b []byte, kind, what string, n uint64) []byte {
	if !p.JSON {
		return b
	}
	number := strconv.FormatUint(n, 10)
	return append(b, `{"type": "`+kind+`", "count": `+number+`, "data": {"`+what+`": `+number+"}}\n"...)
}
