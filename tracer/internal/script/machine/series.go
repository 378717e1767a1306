package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
)

// point is one interval of a time series.
type point struct {
	at    time.Time
	value uint64
	known bool // the interval has a value
}

// newestInterval returns the number of the last interval of all series of a map.
func newestInterval(t *ir.Type, list []*Entry) int64 {
	newest := int64(-1)
	if t.Base == ir.Agg && t.Agg == ir.TSeries {
		for _, e := range list {
			for at := range e.Agg.Series {
				newest = max(newest, at)
			}
		}
	}
	return newest
}

// points returns the intervals that a series prints: those from its first value on, up to the newest interval of its map.
func (p *Printer) points(t *ir.Type, a *Aggregate, newest int64) []point {
	first := newest + 1
	for at := range a.Series {
		if at > newest-t.Params[1] {
			first = min(first, at)
		}
	}
	var list []point
	for at := first; at <= newest; at++ {
		q := point{at: p.Wall(at * t.Params[0])}
		if s := a.Series[at]; s != nil {
			q.value, q.known = s.seriesValue(t), true
		}
		list = append(list, q)
	}
	return list
}

// graphWidth is the width of a time series with its two borders.
const graphWidth = 53

// appendSeries appends the graph of a time series.
func (p *Printer) appendSeries(b []byte, t *ir.Type, a *Aggregate, newest int64) []byte {
	list := p.points(t, a, newest)
	if len(list) == 0 {
		return append(b, "<no data>"...)
	}
	number := ir.Type{Base: ir.Int, Bits: 64, Signed: t.Signed}
	compare := func(x, y uint64) int { return CompareValues(&number, &Value{Bits: x}, &Value{Bits: y}) }
	known := slices.DeleteFunc(slices.Clone(list), func(q point) bool { return !q.known })
	byValue := func(x, y point) int { return compare(x.value, y.value) }
	low, high := slices.MinFunc(known, byValue).value, slices.MaxFunc(known, byValue).value
	if low == high { // some room on both sides
		if compare(low-1, low) < 0 {
			low--
		}
		if compare(high+1, high) > 0 {
			high++
		}
	}
	text := func(v uint64) string { return string(AppendValue(nil, &number, &Value{Bits: v}, &p.Style)) }
	layout, digits := "15:04:05", ""
	switch every := t.Params[0]; {
	case every%1e9 == 0:
	case every%1e6 == 0:
		layout, digits = layout+".000", ".ms"
	case every%1e3 == 0:
		layout, digits = layout+".000000", ".us"
	default:
		layout, digits = layout+".000000000", ".ns"
	}
	width := len(layout)
	scale := func(v uint64) int {
		return int(float32(graphWidth-1) * float32(int64(v-low)) / float32(int64(high-low)))
	}
	const left = 21
	bounds := fmt.Sprintf("%*s%-*s%*s\n", width+1, "", left, text(low), graphWidth-left, text(high))
	b = append(b, bounds...)
	b = fmt.Appendf(b, "%-*s|%s|\n", width+1, "hh:mm:ss"+digits, strings.Repeat("_", graphWidth-2))
	zero := 0
	if t.Signed && int64(low) < 0 && int64(high) > 0 {
		zero = int(float32(graphWidth) * float32(-int64(low)) / float32(int64(high-low)))
	}
	for _, q := range list {
		line := []byte("|" + strings.Repeat(" ", graphWidth-2) + "|")
		if zero > 0 {
			line[zero] = '.'
		}
		value := "-"
		if q.known {
			line[min(max(scale(q.value), 0), graphWidth-1)] = '*'
			value = text(q.value)
		}
		b = fmt.Appendf(b, "%s %s %s\n", q.at.Format(layout), line, value)
	}
	b = fmt.Appendf(b, "%*sv%sv\n", width+1, "", strings.Repeat("_", graphWidth-2))
	return append(b, bounds...)
}
