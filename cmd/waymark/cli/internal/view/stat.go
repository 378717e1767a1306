package view

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// Sample is the state of the counters at one time.
type Sample struct {
	At       time.Time
	Elapsed  time.Duration // since attaching
	Interval time.Duration // since the last sample
	Rows     []StatRow
}

// StatRow is what was counted of a marker, or with --by of one of its keys.
type StatRow struct {
	RowID
	Fields []event.Field // the fields of the key
	Other  bool          // hits with keys beyond the limit
	folded int           // number of rows folded into this one: --top
	Count  uint64
	Delta  uint64 // since the last sample
}

// RowID tells rows apart from sample to sample.
type RowID struct {
	Marker *tracer.Marker
	Key    *tracer.Key // nil without --by, and of others
}

// hits returns the sum of all counts.
func (s *Sample) hits() uint64 {
	var n uint64
	for _, r := range s.Rows {
		n += r.Count
	}
	return n
}

// Sampler makes samples. The zero Sampler is ready.
type Sampler struct {
	elapsed time.Duration    // at the last sample
	counts  map[RowID]uint64 // of the last sample
}

// Sample returns the sample of what was counted so far. Markers of leftOut are not counted, and have no rows.
func (s *Sampler) Sample(elapsed time.Duration, counts []tracer.MarkerCount, leftOut map[*tracer.Marker]bool) *Sample {
	if s.counts == nil {
		s.counts = map[RowID]uint64{}
	}
	now := &Sample{At: time.Now(), Elapsed: elapsed, Interval: elapsed - s.elapsed}
	s.elapsed = elapsed
	add := func(r StatRow, count uint64) {
		r.Count, r.Delta = count, count-s.counts[r.RowID]
		s.counts[r.RowID] = count
		now.Rows = append(now.Rows, r)
	}
	for _, c := range counts {
		if leftOut[c.Marker] {
			continue
		}
		if c.Fields == nil {
			add(StatRow{RowID: RowID{c.Marker, nil}}, c.Count)
			continue
		}
		for _, k := range c.Keys {
			add(StatRow{RowID: RowID{c.Marker, k.Key}, Fields: c.Fields}, k.Count)
		}
		if c.Others > 0 {
			add(StatRow{RowID: RowID{c.Marker, nil}, Fields: c.Fields, Other: true}, c.Others)
		}
	}
	return now
}

// StatTable is which rows are shown, and in which columns.
type StatTable struct {
	By  []string
	Top int // 0 for all
}

// choose returns the rows to show: with --by or --top those with the most hits first, as n
// says, and what is beyond --top as one row.
func (t *StatTable) choose(rows []StatRow, n func(StatRow) uint64) []StatRow {
	if len(t.By) == 0 && t.Top == 0 {
		return rows
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b StatRow) int { return cmp.Or(cmp.Compare(n(b), n(a)), a.compare(&b)) })
	if t.Top == 0 || len(rows) <= t.Top {
		return rows
	}
	rest := StatRow{folded: len(rows) - t.Top}
	for _, r := range rows[t.Top:] {
		rest.Count += r.Count
		rest.Delta += r.Delta
	}
	return append(rows[:t.Top:t.Top], rest)
}

// compare orders rows with as many hits by their keys, so that they stay where they are.
func (r *StatRow) compare(to *StatRow) int {
	if r.Marker != to.Marker {
		return 0
	}
	return compareKeys(r.Fields, r.Key, to.Key)
}

// compareKeys orders keys by their values. A nil key has no place.
func compareKeys(fields []event.Field, x, y *tracer.Key) int {
	if x == nil || y == nil {
		return 0
	}
	for i := range fields {
		a, b := &x.Values[i], &y.Values[i]
		order := cmp.Compare(a.Bits(), b.Bits())
		if fields[i].Kind.Signed() {
			order = cmp.Compare(int64(a.Bits()), int64(b.Bits()))
		}
		if order = cmp.Or(order, bytes.Compare(a.Bytes(), b.Bytes())); order != 0 {
			return order
		}
	}
	return 0
}

// heading returns the columns' names.
func (t *StatTable) heading() []string {
	columns := []string{"MARKER"}
	for _, name := range t.By {
		columns = append(columns, strings.ToUpper(term.Label(name)))
	}
	return append(columns, "COUNT", "RATE")
}

// right says which columns are aligned right.
func (t *StatTable) right() []bool {
	right := make([]bool, len(t.By)+3)
	right[len(right)-2], right[len(right)-1] = true, true
	return right
}

// cells returns the names and the key of each row.
func (t *StatTable) cells(rows []StatRow) [][]string {
	names := rowNames(rows)
	cells := make([][]string, len(rows))
	for i := range rows {
		r := &rows[i]
		cells[i] = append(cells[i], names[i])
		for j := range t.By {
			cells[i] = append(cells[i], r.cell(j))
		}
	}
	return cells
}

// cell returns the j-th value of a row's key.
func (r *StatRow) cell(j int) string {
	switch {
	case r.folded > 0:
		return ""
	case r.Other && j == 0:
		return "(other)"
	case r.Key == nil:
		return ""
	case r.Fields[j].Kind == event.Invalid:
		return "-" // the marker has no such field
	}
	return term.Label(string(r.Fields[j].AppendText(nil, &r.Key.Values[j])))
}

// layout returns a heading and a line for each row.
func (t *StatTable) layout(rows []StatRow, rate func(StatRow) float64) *term.Table {
	all := term.Table{Right: t.right()}
	all.Add(t.heading()...)
	for i, cells := range t.cells(rows) {
		all.Add(append(cells, fmt.Sprint(rows[i].Count), rateText(rate(rows[i])))...)
	}
	return &all
}

// rowNames returns the names of the rows' markers, with their file where one name is in several.
func rowNames(rows []StatRow) []string {
	named := map[string]*tracer.Marker{}
	several := map[string]bool{}
	for _, r := range rows {
		if r.Marker == nil {
			continue
		}
		name := r.Marker.FullName()
		if other := named[name]; other != nil && other != r.Marker {
			several[name] = true
		}
		named[name] = r.Marker
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		if r.Marker == nil {
			names[i] = fmt.Sprintf("(%d more)", r.folded)
			continue
		}
		names[i] = term.Label(r.Marker.FullName())
		if several[r.Marker.FullName()] {
			names[i] += " (" + term.Label(filepath.Base(r.Marker.File.Path)) + ")"
		}
	}
	return names
}
