package machine

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
)

// Style is how texts are shown.
type Style struct {
	Trailer string // after texts that were cut
	// Escape makes characters visible that a terminal might act on: texts come from programs that are traced.
	Escape bool
}

func (s *Style) text(b []byte, text string) []byte {
	if !s.Escape {
		return append(b, text...)
	}
	for i, r := range text {
		n := utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			b = appendHex(b, text[i:i+1], `\x`, "")
		case !strconv.IsPrint(r):
			b = appendHex(b, text[i:i+n], `\x`, "")
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// cut appends the trailer if a text was cut.
func (s *Style) cut(b []byte, v *Value) []byte {
	if v.Cut {
		b = append(b, s.Trailer...)
	}
	return b
}

// AppendValue appends a value as print shows it.
func AppendValue(b []byte, t *ir.Type, v *Value, style *Style) []byte {
	switch t.Base {
	case ir.Bool:
		return strconv.AppendBool(b, v.Bits != 0)
	case ir.Pointer:
		return strconv.AppendUint(append(b, "0x"...), v.Bits, 16)
	case ir.Float:
		return append(b, floatText(FloatOf(t, v.Bits), t.Bits)...)
	case ir.String, ir.Time:
		return style.cut(style.text(b, v.Text), v)
	case ir.Buffer:
		return style.cut(appendBuffer(b, v.Text), v)
	case ir.Tuple:
		b = append(b, '(')
		b = appendElems(b, t, v, style, ", ")
		return append(b, ')')
	}
	if t.Signed {
		return strconv.AppendInt(b, int64(v.Bits), 10)
	}
	return strconv.AppendUint(b, v.Bits, 10)
}

// appendElems appends the elements of a tuple.
func appendElems(b []byte, t *ir.Type, v *Value, style *Style, between string) []byte {
	for i := range t.Elems {
		if i > 0 {
			b = append(b, between...)
		}
		b = AppendValue(b, &t.Elems[i], &v.Elems[i], style)
	}
	return b
}

// appendKeyText appends a key as it stands between brackets: a tuple without its parentheses.
func appendKeyText(b []byte, t *ir.Type, v *Value, style *Style, between string) []byte {
	if t.Base == ir.Tuple {
		return appendElems(b, t, v, style, between)
	}
	return AppendValue(b, t, v, style)
}

// appendNumber appends the number of an aggregation divided by div.
func (a *Aggregate) appendNumber(b []byte, t *ir.Type, div int64) []byte {
	return appendDivided(b, t.Signed, a.Number(t), div)
}

func appendDivided(b []byte, signed bool, v uint64, div int64) []byte {
	v, _ = ir.Arith(ir.Div, signed, v, uint64(div))
	if signed {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return strconv.AppendUint(b, v, 10)
}

// appendEntry appends the value of an entry. Values of several lines end with a newline.
func (p *Printer) appendEntry(b []byte, t *ir.Type, e *Entry, div, newest int64) []byte {
	switch {
	case t.Base != ir.Agg:
		if t.Base == ir.Int && div != 1 {
			return appendDivided(b, t.Signed, e.Value.Bits, div)
		}
		return AppendValue(b, t, &e.Value, &p.Style)
	case t.Agg == ir.Stats:
		b = strconv.AppendUint(append(b, "count "...), e.Agg.Count, 10)
		b = e.Agg.appendNumber(append(b, ", average "...), t, div)
		return appendDivided(append(b, ", total "...), t.Signed, e.Agg.Total, 1)
	case t.Agg == ir.TSeries:
		return p.appendSeries(b, t, e.Agg, newest)
	case t.Agg >= ir.Hist:
		return appendHistogram(b, t, e.Agg, div)
	}
	return e.Agg.appendNumber(b, t, div)
}

// appendMap appends a map with its name on each line.
func (p *Printer) appendMap(b []byte, m *Map, list []*Entry, div int64) []byte {
	newest := newestInterval(&m.Value, list)
	for _, e := range list {
		b = append(b, m.Name...)
		if !m.Scalar() {
			b = appendKeyText(append(b, '['), &m.Key, &e.Key, &p.Style, ", ")
			b = append(b, ']')
		}
		b = append(b, ':')
		if m.Value.IsHistogram() {
			b = append(b, '\n')
		} else {
			b = append(b, ' ')
		}
		b = p.appendEntry(b, &m.Value, e, div, newest)
		b = append(b, '\n')
	}
	return b
}

const barWidth = 52

// appendHistogram appends the rows of a histogram, from its first bucket with values to the last one.
func appendHistogram(b []byte, t *ir.Type, a *Aggregate, div int64) []byte {
	first, last, most := buckets(a.Buckets, t, div)
	for i := first; i <= last; i++ {
		n := bucketCount(a.Buckets[i], t, div)
		bar := int(float32(n) / float32(most) * barWidth)
		if most == 0 {
			bar = 0
		}
		b = fmt.Appendf(b, "%-16s%8d |%-*s|\n", bucketLabel(t, i), n, barWidth, "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"[:bar])
	}
	return b
}

// buckets returns the first and the last bucket with values, and the largest number in one; last is below first without any.
func buckets(all []uint64, t *ir.Type, div int64) (first, last int, most uint64) {
	first, last = len(all), -1
	for i, n := range all {
		if n > 0 {
			first, last, most = min(first, i), i, max(most, bucketCount(n, t, div))
		}
	}
	return first, last, most
}

// bucketCount divides the number in a bucket, which lhist does not.
func bucketCount(n uint64, t *ir.Type, div int64) uint64 {
	if t.Agg == ir.LHist {
		return n
	}
	return n / uint64(div)
}

// bucketLabel returns the range of a bucket.
func bucketLabel(t *ir.Type, i int) string {
	if t.Agg == ir.LHist {
		low, high, step := t.Params[0], t.Params[1], t.Params[2]
		from, to := linearLabel(low+int64(i-1)*step, step), linearLabel(low+int64(i)*step, step)
		switch {
		case i == 0:
			return "(..., " + to + ")"
		case low+int64(i)*step > high:
			return "[" + from + ", ...)"
		}
		return "[" + from + ", " + to + ")"
	}
	k := uint(t.Params[0])
	switch {
	case i == 0:
		return "(..., 0)"
	case i <= 2<<k:
		return "[" + histLabel(i, k) + "]"
	}
	return "[" + histLabel(i, k) + ", " + histLabel(i+1, k) + ")"
}

// histLabel returns the smallest value of a bucket with a suffix for powers of 1024.
func histLabel(bucket int, k uint) string {
	i := uint64(bucket - 1)
	if i < 1<<k {
		return strconv.FormatUint(i, 10)
	}
	shift := uint(i>>k) - 1
	suffix := "KMGTPE"
	decade := shift / 10
	s := strconv.FormatUint((1<<k+i&(1<<k-1))<<(shift-10*decade), 10)
	if decade > 0 {
		s += suffix[decade-1 : decade]
	}
	return s
}

// linearLabel returns a bound of lhist, in K or M if the steps are.
func linearLabel(v, step int64) string {
	switch {
	case step%1024 != 0 || v == 0 || v%1024 != 0:
		return strconv.FormatInt(v, 10)
	case v%(1024*1024) == 0:
		return strconv.FormatInt(v/(1024*1024), 10) + "M"
	}
	return strconv.FormatInt(v/1024, 10) + "K"
}
