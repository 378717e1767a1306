package source

import (
	"encoding/binary"
	"errors"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/histogram"
)

// MaxGroups is the number of groups that Pairs keeps unless PairOptions has another one. The
// histogram of each takes 15 KiB.
const MaxGroups = 4096

// PairGroup counts the pairs whose values of PairOptions.By are equal.
type PairGroup struct {
	Fields []event.Field // of the values
	Values []event.Value // one for each name of PairOptions.By; a missing one has the reason in Err
	histogram.Histogram
}

// ErrNoValue is the reason why a PairGroup has no value for a name that neither the begin nor the
// end has, or whose value could not be read.
var ErrNoValue = errors.New("there is no such value in the begin or the end")

// Groups returns the groups in the order of their first pairs. They belong to p, which adds to them,
// and are the same ones each time.
func (p *Pairs) Groups() []*PairGroup { return p.groups }

// Others counts the pairs whose values belong to no group because there were PairOptions.MaxGroups.
func (p *Pairs) Others() *histogram.Histogram { return &p.others }

// begun returns the values that a begin has for PairOptions.By. A name of the end's takes part as a
// value that is missing.
func (p *Pairs) begun(e *event.Event) string {
	p.values = p.values[:0]
	for _, name := range p.options.By {
		p.values, _ = AppendKey(p.values, e, name)
	}
	return string(p.values)
}

// group returns the histogram of a pair by its begin and its end.
func (p *Pairs) group(b *opened, end *event.Event) *histogram.Histogram {
	p.values = p.values[:0]
	part, rest := "", b.by
	for _, name := range p.options.By {
		part, rest = cutKey(rest)
		if ofEnd(b.point, end.Point, name) {
			p.values, _ = AppendKey(p.values, end, name)
		} else {
			p.values = append(p.values, part...)
		}
	}
	g := p.known[string(p.values)]
	if g == nil {
		if len(p.groups) >= p.options.MaxGroups {
			return &p.others
		}
		g = newGroup(p.options.By, b.point, end.Point, string(p.values))
		p.known[string(p.values)] = g
		p.groups = append(p.groups, g)
	}
	return &g.Histogram
}

// ofEnd reports whether a name means a field of the end.
func ofEnd(begin, end *event.Point, name string) bool {
	return begin.Lookup(name) < 0 && end.Lookup(name) >= 0
}

// newGroup returns a group with the values of a key.
func newGroup(by []string, begin, end *event.Point, key string) *PairGroup {
	g := &PairGroup{}
	part := ""
	for _, name := range by {
		of := begin
		if ofEnd(begin, end, name) {
			of = end
		}
		f, _ := KeyField(of, name)
		part, key = cutKey(key)
		v := keyOf(f.Kind, part)
		if f.Unavailable != "" {
			v = event.Missing(f.Unavailable.Err())
		}
		g.Fields, g.Values = append(g.Fields, f), append(g.Values, v)
	}
	return g
}

// cutKey returns the first of several values that AppendKey wrote, and the others.
func cutKey(keys string) (first, rest string) {
	n := 1
	switch keys[0] {
	case keyText:
		_, size := binary.Varint([]byte(keys[1:min(len(keys), 1+binary.MaxVarintLen64)]))
		n += size
		n += 1 + int(keys[n])
	case keyNumber:
		_, size := binary.Uvarint([]byte(keys[1:min(len(keys), 1+binary.MaxVarintLen64)]))
		n += size
	}
	return keys[:n], keys[n:]
}

// keyOf returns the value that AppendKey wrote.
func keyOf(k event.Kind, key string) event.Value {
	switch key[0] {
	case keyText:
		length, size := binary.Varint([]byte(key[1:]))
		return event.Text(k, []byte(key[1+size+1:]), int(length))
	case keyNumber:
		bits, _ := binary.Uvarint([]byte(key[1:]))
		return event.Number(k, bits)
	}
	return event.Missing(ErrNoValue)
}
