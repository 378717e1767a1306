package tracer

import (
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

// groupKeys knows what the names of LatencyOptions.By mean for the pairs of the kernel, whose groups are those of
// all markers together.
type groupKeys struct {
	by []string
	// of has for each name the first marker with such a field, which decides the field's kind; markerless if there
	// is none.
	of    []*Marker
	known map[string]*Key // by the kernel's key
	order map[*Key]int
}

// markerless has no fields, so names mean what every hit has.
var markerless = &Marker{}

func newGroupKeys(by []string) groupKeys {
	g := groupKeys{by: by, known: map[string]*Key{}, order: map[*Key]int{}}
	for range by {
		g.of = append(g.of, markerless)
	}
	return g
}

// see takes note of a marker.
func (g *groupKeys) see(m *Marker) {
	for i, name := range g.by {
		if g.of[i] == markerless && fieldIndex(m, name) >= 0 {
			g.of[i] = m
		}
	}
}

// key plans the site's part of a group's key. A begin has fields, whose bits are own, and values of every hit; an end
// has fields.
func (g *groupKeys) key(p *probe, end bool) (k prog.Key, own int64) {
	k = make(prog.Key, len(g.by))
	for i, name := range g.by {
		at := fieldIndex(p.marker, name)
		switch {
		case at < 0 && !end && g.of[i] == markerless:
			k[i] = p.builtin(builtin[name])
		case at >= 0:
			if !end {
				own |= 1 << i
			}
			f, _ := keyField(g.of[i], name)
			if alike(p.marker.Fields[at].Kind, f.Kind) {
				k[i] = p.keyPart(name)
			}
		}
	}
	return k, own
}

// decode returns a group without its histogram.
func (g *groupKeys) decode(raw prog.RawKey) KeyLatency {
	key := g.known[string(raw.Parts())]
	if key == nil {
		key = &Key{}
		for i, name := range g.by {
			key.Values = append(key.Values, keyValue(raw, i, g.of[i], name))
		}
		g.known[string(raw.Parts())] = key
		g.order[key] = len(g.order)
	}
	all := KeyLatency{Key: key}
	for i, name := range g.by {
		f, _ := keyField(g.of[i], name)
		all.Fields = append(all.Fields, f)
	}
	return all
}
