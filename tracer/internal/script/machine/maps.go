package machine

import (
	"slices"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
)

// Map is a map of a running program.
type Map struct {
	*ir.Map
	Lost    uint64 // updates dropped because the map was full
	entries map[string]*Entry
	scratch []byte
}

// Entry is one key of a map with its value.
type Entry struct {
	Key   Value
	Value Value      // unless the map has aggregations
	Agg   *Aggregate // of a map with aggregations
}

// NewMap returns an empty map.
func NewMap(m *ir.Map) *Map { return &Map{Map: m, entries: map[string]*Entry{}} }

func (m *Map) encode(key *Value) []byte {
	m.scratch = m.scratch[:0]
	if !m.Scalar() {
		m.scratch = AppendKey(m.scratch, &m.Key, key)
	}
	return m.scratch
}

// Find returns the entry of a key, or nil.
func (m *Map) Find(key *Value) *Entry { return m.entries[string(m.encode(key))] }

// Make returns the entry of a key, and adds it if it is missing. It returns nil and counts a loss if the map is full.
func (m *Map) Make(key *Value) *Entry {
	b := m.encode(key)
	if e := m.entries[string(b)]; e != nil {
		return e
	}
	if len(m.entries) >= m.MaxKeys {
		m.Lost++
		return nil
	}
	e := &Entry{}
	if !m.Scalar() {
		e.Key = *key
	}
	if m.Value.Base == ir.Agg {
		e.Agg = &Aggregate{}
	} else {
		e.Value = Zero(&m.Value)
	}
	m.entries[string(b)] = e
	return e
}

// Delete removes a key and reports whether it was there.
func (m *Map) Delete(key *Value) bool {
	b := m.encode(key)
	_, ok := m.entries[string(b)]
	delete(m.entries, string(b))
	return ok
}

// Len returns the number of keys.
func (m *Map) Len() int { return len(m.entries) }

// Clear removes all keys.
func (m *Map) Clear() { clear(m.entries) }

// SetZero sets all values to zero and keeps the keys.
func (m *Map) SetZero() {
	for _, e := range m.entries {
		if e.Agg != nil {
			*e.Agg = Aggregate{}
		} else {
			e.Value = Zero(&m.Value)
		}
	}
}

// ByKey returns the entries in the order of their keys.
func (m *Map) ByKey() []*Entry {
	list := make([]*Entry, 0, len(m.entries))
	for _, e := range m.entries {
		list = append(list, e)
	}
	if !m.Scalar() {
		slices.SortFunc(list, func(a, b *Entry) int { return CompareValues(&m.Key, &a.Key, &b.Key) })
	}
	return list
}

// Sorted returns the entries as they are printed: numbers by value, and histograms by their number of values, with the largest
// last; others by key. Entries with equal values are in the order of their keys. With top, only the last of them are returned.
func (m *Map) Sorted(top int) []*Entry {
	list := m.ByKey()
	if byValue := m.order(); byValue != nil {
		slices.SortStableFunc(list, byValue)
	}
	if top > 0 && len(list) > top {
		list = list[len(list)-top:]
	}
	return list
}

// order returns the order of values, nil if the map is printed by key.
func (m *Map) order() func(a, b *Entry) int {
	t := m.Value
	switch {
	case t.Base == ir.Int:
		return func(a, b *Entry) int { return CompareValues(&t, &a.Value, &b.Value) }
	case t.Base != ir.Agg || t.Agg == ir.TSeries:
		return nil
	case t.Agg == ir.Hist || t.Agg == ir.LHist:
		unsigned := ir.Uint64Type
		return func(a, b *Entry) int {
			return CompareValues(&unsigned, &Value{Bits: a.Agg.Count}, &Value{Bits: b.Agg.Count})
		}
	}
	number := ir.Type{Base: ir.Int, Bits: 64, Signed: t.Signed}
	return func(a, b *Entry) int {
		return CompareValues(&number, &Value{Bits: a.Agg.Number(&t)}, &Value{Bits: b.Agg.Number(&t)})
	}
}
