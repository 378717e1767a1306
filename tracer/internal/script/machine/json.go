package machine

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
)

// appendJSONText appends a text in quotes. Bytes that are not UTF-8 become U+FFFD, and characters without a glyph are escaped.
func appendJSONText(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case !strconv.IsPrint(r):
			for _, u := range utf16.AppendRune(nil, r) {
				b = append(b, '\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15])
			}
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// appendJSONNumber appends an integer; as a text if a double does not hold it exactly.
func appendJSONNumber(b []byte, signed bool, v uint64) []byte {
	exact, text := false, ""
	if signed {
		f := float64(int64(v))
		exact, text = f < math.MaxInt64 && int64(f) == int64(v), strconv.FormatInt(int64(v), 10)
	} else {
		f := float64(v)
		exact, text = f < math.MaxUint64 && uint64(f) == v, strconv.FormatUint(v, 10)
	}
	if !exact {
		return append(append(append(b, '"'), text...), '"')
	}
	return append(b, text...)
}

// appendValueJSON appends a value.
func (p *Printer) appendValueJSON(b []byte, t *ir.Type, v *Value) []byte {
	switch t.Base {
	case ir.Bool:
		return strconv.AppendBool(b, v.Bits != 0)
	case ir.String, ir.Time:
		return appendJSONText(b, string(AppendValue(nil, t, v, &p.Style)))
	case ir.Float:
		if f := FloatOf(t, v.Bits); math.IsNaN(f) || math.IsInf(f, 0) {
			return appendJSONText(b, floatText(f, t.Bits))
		}
		return AppendValue(b, t, v, &p.Style)
	case ir.Buffer:
		b = append(b, '[')
		for i := range len(v.Text) {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(int8(v.Text[i])), 10)
		}
		return append(b, ']')
	case ir.Tuple:
		b = append(b, '[')
		for i := range t.Elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = p.appendValueJSON(b, &t.Elems[i], &v.Elems[i])
		}
		return append(b, ']')
	}
	return appendJSONNumber(b, t.Signed, v.Bits)
}

// appendEntryJSON appends the value of an entry.
func (p *Printer) appendEntryJSON(b []byte, t *ir.Type, e *Entry, div, newest int64) []byte {
	divided := func(v uint64, div int64) uint64 {
		v, _ = ir.Arith(ir.Div, t.Signed, v, uint64(div))
		return v
	}
	switch {
	case t.Base != ir.Agg:
		if t.Base == ir.Int {
			return appendJSONNumber(b, t.Signed, divided(e.Value.Bits, div))
		}
		return p.appendValueJSON(b, t, &e.Value)
	case t.Agg == ir.Stats:
		b = appendJSONNumber(append(b, `{"count": `...), false, e.Agg.Count)
		b = appendJSONNumber(append(b, `, "average": `...), t.Signed, divided(e.Agg.Number(t), div))
		return append(appendJSONNumber(append(b, `, "total": `...), t.Signed, e.Agg.Total), '}')
	case t.Agg == ir.TSeries:
		return p.appendSeriesJSON(b, t, e.Agg, newest)
	case t.Agg >= ir.Hist:
		return appendHistogramJSON(b, t, e.Agg, div)
	}
	return appendJSONNumber(b, t.Signed, divided(e.Agg.Number(t), div))
}

// appendHistogramJSON appends the buckets with their smallest and largest value.
func appendHistogramJSON(b []byte, t *ir.Type, a *Aggregate, div int64) []byte {
	first, last, _ := buckets(a.Buckets, t, div)
	b = append(b, '[')
	for i := first; i <= last; i++ {
		if i > first {
			b = append(b, ',')
		}
		b = append(b, '{')
		if i > 0 {
			low := int64(0)
			if t.Agg == ir.LHist {
				low = t.Params[0] + int64(i-1)*t.Params[2]
			} else {
				low = int64(histLow(i, uint(t.Params[0])))
			}
			b = append(appendJSONNumber(append(b, `"min": `...), true, uint64(low)), ", "...)
		}
		if t.Agg != ir.LHist || t.Params[0]+int64(i)*t.Params[2] <= t.Params[1] {
			b = append(appendJSONNumber(append(b, `"max": `...), true, uint64(bucketMax(t, i))), ", "...)
		}
		b = strconv.AppendUint(append(b, `"count": `...), bucketCount(a.Buckets[i], t, div), 10)
		b = append(b, '}')
	}
	return append(b, ']')
}

func (p *Printer) appendSeriesJSON(b []byte, t *ir.Type, a *Aggregate, newest int64) []byte {
	b = append(b, '[')
	n := 0
	for _, q := range p.points(t, a, newest) {
		if !q.known {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = append(b, `{"interval_start":"`...)
		b = q.at.AppendFormat(b, "2006-01-02T15:04:05.000000000")
		b = append(appendJSONNumber(append(b, `","value":`...), t.Signed, q.value), '}')
	}
	return append(b, ']')
}

// appendMapJSON appends the object of a map.
func (p *Printer) appendMapJSON(b []byte, m *Map, list []*Entry, div int64) []byte {
	kind := "map"
	switch t := m.Value; {
	case t.Base != ir.Agg:
	case t.Agg == ir.Stats || t.Agg == ir.Avg:
		kind = "stats"
	case t.Agg == ir.TSeries:
		kind = "tseries"
	case t.Agg >= ir.Hist:
		kind = "hist"
	}
	newest := newestInterval(&m.Value, list)
	b = append(b, `{"type": "`+kind+`", "data": {`...)
	b = append(appendJSONText(b, m.Name), ": "...)
	if m.Scalar() {
		b = p.appendEntryJSON(b, &m.Value, list[0], div, newest)
		return append(b, "}}\n"...)
	}
	b = append(b, '{')
	for i, e := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendJSONText(b, string(appendKeyText(nil, &m.Key, &e.Key, &p.Style, ",")))
		b = p.appendEntryJSON(append(b, ": "...), &m.Value, e, div, newest)
	}
	return append(b, "}}}\n"...)
}
